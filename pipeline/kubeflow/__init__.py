"""The pipeline on Kubeflow Pipelines 2: settings, the compiled specification, and what runs a stage."""

"""The pipeline on Kubeflow Pipelines 2: its settings, its compiled specification, and the command that runs a stage."""

"""The stages of the pipeline: a file each, or a folder where the work takes more files.

Stages do not import each other; they meet through artifacts. Five modules are not stages: `stage` declares them,
`settings` holds the settings of several, `beam_runner` names Beam's runner, and `artifact_files` and `on_workers` serve
their executors.
"""

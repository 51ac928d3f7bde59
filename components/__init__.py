"""The stages of the pipeline: a file each, or a folder where the work takes more files.

Stages do not import each other, and meet only through artifacts. All share six modules, which are no stages: `stage`
declares them, `settings` holds the settings of several, `beam_runner` names Beam's runner, and `artifact_files`,
`on_workers` and `unfinished_work` serve their executors.
"""

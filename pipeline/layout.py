"""Names of what a run or an experiment writes under its output folder."""

from typing import Final

CONFIG_FILE: Final = "config.yaml"
ARTIFACTS: Final = "artifacts"
METADATA_FILE: Final = "metadata.sqlite"
EVALUATION: Final = "evaluation"
DATA: Final = "data"
TUNING: Final = "tuning"
TENSORBOARD: Final = "tensorboard"
TRAINING: Final = "training"
SERVING: Final = "serving"
CHECKPOINTS: Final = "checkpoints"
CELLS: Final = "cells"
EXPERIMENT_FILE: Final = "experiment.json"

"""Names of the files and folders that a run or an experiment writes under its output folder."""

from typing import Final

from schemas.evaluation import EVALUATION_FILES, VERDICT_FILE
from schemas.provenance import PROVENANCE_FILE

CONFIG_FILE: Final = "config.yaml"
ARTIFACTS: Final = "artifacts"
METADATA_FILE: Final = "metadata.sqlite"
EVALUATION: Final = "evaluation"
DATA: Final = "data"
WIKIPEDIA: Final = "wikipedia"
LEXICON: Final = "lexicon"
TUNING: Final = "tuning"
TENSORBOARD: Final = "tensorboard"
TRAINING: Final = "training"
SERVING: Final = "serving"
INDEX: Final = "index"
MILVUS: Final = "milvus"
CHECKPOINTS: Final = "checkpoints"
TEXT_VECTORS: Final = "text_vectors"
TRANSLATIONS: Final = "translations"
CELLS: Final = "cells"
FIGURES: Final = "figures"
EXPERIMENT_FILE: Final = "experiment.json"
REPORT_FILE: Final = "report.md"
CELLS_ARCHIVE: Final = "cells.tar.xz"
LOCK_FILE: Final = ".lock"
RECORD_FILE: Final = ".clir.json"

FILES: Final = (
    CONFIG_FILE, METADATA_FILE, EXPERIMENT_FILE, REPORT_FILE, CELLS_ARCHIVE, PROVENANCE_FILE, LOCK_FILE, RECORD_FILE,
)  # fmt: skip
FOLDERS: Final = (
    ARTIFACTS, EVALUATION, DATA, WIKIPEDIA, LEXICON, TUNING, TRAINING, SERVING, INDEX, MILVUS, CELLS, FIGURES,
)  # fmt: skip
"""Our names at the top of an output folder."""

CELL_FILE: Final = "cell.json"
CELL_DIGEST_FILE: Final = "inputs.sha256"
CELL_LOG_FILE: Final = "log.txt"
CELL_RESULTS: Final = (
    CONFIG_FILE, PROVENANCE_FILE, *EVALUATION_FILES, VERDICT_FILE, "training.json", "stability.json",
)  # fmt: skip
"""The files of every finished cell of an experiment."""

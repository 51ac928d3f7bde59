"""Names of the files that a training and a search leave for the stages after them."""

from typing import Final

HISTORY_FILE: Final = "training.json"
"""In the artifact of a training's run: its history and speed."""
VECTORS_FILE: Final = "embeddings.json"
"""Beside it, where there were pre-trained vectors: what became of them."""
STABILITY_FILE: Final = "stability.json"
"""In the report of a training: what the theory makes of it, see `schemas.stability`."""
TRIALS_FILE: Final = "trials.json"
"""In the artifact of a search's results: the search and all its trials, see `models.tuning.results`."""

"""What the Tuner leaves beside TFX's own file."""

from typing import Final

TRIALS_FILE: Final = "trials.json"
"""In the artifact of the results: the search and all its trials, see `models.trial_search`."""

"""Names of the files of an evaluation."""

from typing import Final

METRICS_FILE: Final = "metrics.json"
RUN_FILE: Final = "run.trec"
QRELS_FILE: Final = "qrels.trec"
VERDICT_FILE: Final = "verdict.json"
"""What the gate decided of the model."""

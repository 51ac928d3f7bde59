"""Names of the files of an evaluation."""

from typing import Final

METRICS_FILE: Final = "metrics.json"
RUN_FILE: Final = "run.trec"
QRELS_FILE: Final = "qrels.trec"

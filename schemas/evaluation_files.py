"""Names of the files of an evaluation."""

from typing import Final

METRICS_FILE: Final = "metrics.json"
PER_QUERY_FILE: Final = "per_query.tsv"
RUN_FILE: Final = "run.trec"
QRELS_FILE: Final = "qrels.trec"
EVALUATION_FILES: Final = (METRICS_FILE, PER_QUERY_FILE, RUN_FILE, QRELS_FILE)
"""What an evaluation writes."""

VERDICT_FILE: Final = "verdict.json"
"""What the gate decided of the model."""

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

SEARCH_FILE: Final = "search.json"
SEARCH_PER_QUERY_FILE: Final = "search_per_query.tsv"
SEARCH_RUN_FILE: Final = "search_run.trec"
SEARCH_FILES: Final = (SEARCH_FILE, SEARCH_PER_QUERY_FILE, SEARCH_RUN_FILE)
"""What an evaluation of the search in the whole collection writes."""

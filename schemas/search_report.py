"""The names of the files of an evaluated search in the whole collection, and the content of `search.json`."""

from typing import Final, Literal

from schemas.json_record import JsonRecord

SEARCH_FILE: Final = "search.json"
SEARCH_PER_QUERY_FILE: Final = "search_per_query.tsv"
SEARCH_RUN_FILE: Final = "search_run.trec"
SEARCH_FILES: Final = (SEARCH_FILE, SEARCH_PER_QUERY_FILE, SEARCH_RUN_FILE)

DENSE: Final = "dense"
"""The name of the channel of vectors."""
BM25: Final = "bm25"
"""The name of the baseline."""


class SampledMetrics(JsonRecord):
    """The metrics of the same queries' test lists, as far as the search has them, too.

    A test list holds a query's relevant documents and some others, not the whole collection.
    """

    metrics: dict[str, float]
    channels: dict[str, dict[str, float]]
    baselines: dict[str, dict[str, float]]
    """Empty where the evaluation has no such baseline."""


class SearchComparison(JsonRecord):
    """The comparison of the model with a channel or a baseline in one metric."""

    other: str
    """The name of the channel or baseline."""
    kind: Literal["channel", "baseline"]
    metric: str
    difference: float
    """The difference of the means over queries; above 0 where the model is better."""
    p_value: float
    """Two-sided p-value of `models.evaluation.significance`, after Holm's correction over the report's comparisons."""
    is_bound: bool
    """Whether the test reached its resolution, so that the p-value is only an upper bound."""

    @property
    def p_text(self) -> str:
        """The p-value for a person."""
        return f"p {'<=' if self.is_bound else '='} {self.p_value:.4f}"


class Approximation(JsonRecord):
    """The documents that a search loses by not scoring every document."""

    overlap_10: float
    """Mean share of the ten best documents that are among the first ten of the search; 1 where it scores all."""
    queries: int
    """The number of queries measured; 0 where search scores every document."""


class SearchReport(JsonRecord):
    """The metrics of the test queries in a ranking of the whole collection (see `models.evaluation.search_metrics`)."""

    queries: int
    queries_without_relevant_document: int
    documents: int
    """The number of documents in the collection."""
    depth: int
    """The number of documents of each ranking that the metrics read."""
    definitions: dict[str, str]
    """The definitions of the metrics."""
    metrics: dict[str, float]
    """The model's means over the queries."""
    channels: dict[str, dict[str, float]]
    """The means of each channel on its own, by name; empty for a model with a single channel."""
    baselines: dict[str, dict[str, float]]
    """The means of BM25 without translation."""
    sampled: SampledMetrics
    comparisons: tuple[SearchComparison, ...]
    approximation: Approximation
    engine: str = ""
    """The address of the engine that was searched; empty for the index on disk."""
    feedback: float = 0.0
    """Gain of the model's second pass (see `models.lists.feedback`), which single channels lack; 0: none."""

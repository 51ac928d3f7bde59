"""The report of an evaluated search, `search.json`."""

from typing import Final, Literal

from schemas.json_record import JsonRecord

DENSE: Final = "dense"
"""The channel of the vectors."""
BM25: Final = "bm25"
"""The baseline."""


class SampledMetrics(JsonRecord):
    """The metrics of the same queries' test lists, those that the search has, too.

    They are lists of a query's relevant documents and some others, and not of the collection.
    """

    metrics: dict[str, float]
    channels: dict[str, dict[str, float]]
    baselines: dict[str, dict[str, float]]
    """Empty where the evaluation has no such baseline."""
    feedback: float
    """Gain of the second pass in the metrics here (see `models.retrieval.document_ranker`), no part of search; 0 where
    there was none."""


class SearchComparison(JsonRecord):
    """The model beside a channel or a baseline, in one metric."""

    other: str
    """Its name."""
    kind: Literal["channel", "baseline"]
    metric: str
    difference: float
    """Of the means over queries; above 0 where the model's lies above the other's."""
    p_value: float
    """Of `models.evaluation.significance`, two-sided, after Holm's correction over all comparisons of the report."""
    is_bound: bool
    """Whether the test is at its resolution, so that the p-value may be smaller."""

    @property
    def p_text(self) -> str:
        """The p-value for a person."""
        return f"p {'<=' if self.is_bound else '='} {self.p_value:.4f}"


class Approximation(JsonRecord):
    """What is lost where not every document is scored."""

    overlap_10: float
    """Mean share of the ten best documents, by the scores of all, that are among the ten best that were found; 1 where
    every document is scored."""
    queries: int
    """Of which it was measured; 0 where every document is scored."""


class SearchReport(JsonRecord):
    """The metrics of the test queries in a ranking of the whole collection (see `models.evaluation.search_metrics`)."""

    queries: int
    queries_without_relevant_document: int
    documents: int
    """Of the collection."""
    depth: int
    """Documents of a ranking that count."""
    definitions: dict[str, str]
    """Of the metrics."""
    metrics: dict[str, float]
    """The model's, means over the queries."""
    channels: dict[str, dict[str, float]]
    """Those of each channel alone; empty where there is one. The vectors' is called dense."""
    baselines: dict[str, dict[str, float]]
    """Those of BM25 without translation, which finds the documents that share a word with the query."""
    sampled: SampledMetrics
    comparisons: tuple[SearchComparison, ...]
    approximation: Approximation

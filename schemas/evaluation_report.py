"""The report of an evaluation, `metrics.json`."""

from typing import Final

from schemas.json_record import JsonRecord

RANDOM_ORDER: Final = "random"
"""The name of the floor that is no run's."""


class EvaluationReport(JsonRecord):
    """The metrics of a model on a split, by their keys, beside what they can be compared with."""

    split: str
    queries: int
    queries_without_relevant_document: int
    paper_names: dict[str, str]
    """Of the metrics that the paper has."""
    metrics: dict[str, float]
    """Means over the queries."""
    reachable: dict[str, float]
    """Those of a perfect order."""
    floors: dict[str, dict[str, float]]
    """Those of random order, and of the baselines, by their names."""

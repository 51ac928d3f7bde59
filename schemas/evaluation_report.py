"""The report of an evaluation, `metrics.json`."""

from typing import Final

from pydantic import AliasChoices, Field

from schemas.json_record import JsonRecord

RANDOM_ORDER: Final = "random"
"""The name of the baseline that no system ranks."""

_BASELINES: Final = AliasChoices("baselines", "floors")
"""With the key of earlier versions."""

NEARLY_ALL: Final = 0.9
"""Where more than this share of the queries are on seen documents, little is measured on others."""


class PartReport(JsonRecord):
    """The metrics on some of the queries, as the whole report has them."""

    queries: int
    metrics: dict[str, float]
    """Empty, as the others, where there are no queries."""
    reachable: dict[str, float]
    baselines: dict[str, dict[str, float]] = Field(validation_alias=_BASELINES)
    channels: dict[str, dict[str, float]] = {}


class EvaluationReport(JsonRecord):
    """The metrics of a model on a split, by their keys, beside what they can be compared with."""

    split: str
    queries: int
    queries_without_relevant_document: int
    feedback: float = 0.0
    """Gain of the second pass over each list (see `models.retrieval.document_ranker`); 0 where there was none."""
    paper_names: dict[str, str]
    """Of the metrics that the paper has."""
    metrics: dict[str, float]
    """Means over the queries."""
    reachable: dict[str, float]
    """Those of a perfect order."""
    baselines: dict[str, dict[str, float]] = Field(validation_alias=_BASELINES)
    """Those of random order, and of other systems on the same lists, by their names."""
    channels: dict[str, dict[str, float]] = {}
    """Those of each of the model's channels alone, by their names; empty where there is one."""
    seen: PartReport | None = None
    """On the queries with an MR document that is relevant to some train query; None where the train split is unknown,
    and in files of earlier versions."""
    cold: PartReport | None = None
    """On the other queries, likewise."""

    @property
    def nearly_all_seen(self) -> bool:
        """Whether nearly all queries are on documents that training has seen as relevant."""
        return self.seen is not None and self.seen.queries > NEARLY_ALL * self.queries

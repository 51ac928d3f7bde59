"""The files of an evaluation: their names and their content."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import AliasChoices, Field

from schemas.json_record import JsonRecord

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
    """Gain of the model's second pass over each list (see `models.retrieval.document_ranker`); 0: none."""
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


_QUERY_ID = "query_id"


@dataclass(frozen=True)
class QueryMetrics:
    """Every metric of every query.

    Attributes:
      query_ids: in the order of the lists, which is that of their ids.
      values: of each metric, by its key, its value for each of the queries.

    Example:
      >>> QueryMetrics(["q1", "q2"], {"map": [0.5, 1.0]}).to_tsv()
      'query_id\\tmap\\nq1\\t0.5\\nq2\\t1.0\\n'
    """

    query_ids: Sequence[str]
    values: Mapping[str, Sequence[float]]

    def to_tsv(self) -> str:
        """The text of the file: a line of names, then a line a query. Numbers read back the same."""
        rows = zip(self.query_ids, *([repr(value) for value in values] for values in self.values.values()), strict=True)
        return "".join("\t".join(row) + "\n" for row in [(_QUERY_ID, *self.values), *rows])

    @classmethod
    def from_tsv(cls, text: str) -> "QueryMetrics":
        """The metrics of a file's text.

        Raises:
          ValueError: it is not of this form.
        """
        (first, *names), *rows = (line.split("\t") for line in text.removesuffix("\n").split("\n"))
        if first != _QUERY_ID or not names:
            raise ValueError(f"the first line must name {_QUERY_ID} and metrics; got {[first, *names]}")
        for number, row in enumerate(rows, 2):
            if len(row) != 1 + len(names):
                raise ValueError(f"line {number} must hold {1 + len(names)} fields; got {len(row)}")
        columns = zip(*(map(float, row[1:]) for row in rows), strict=True) if rows else [()] * len(names)
        return cls([row[0] for row in rows], {name: list(values) for name, values in zip(names, columns, strict=True)})


class Comparison(JsonRecord):
    """A model beside the last pushed one, on the same lists."""

    version: str
    """The last pushed model's."""
    metric: str
    """The metric that is compared."""
    value: float
    """The model's mean."""
    last_value: float
    """The last pushed model's mean."""
    p_value: float
    """Of `models.evaluation.significance`, one-sided: the model is worse."""
    significance: float
    """The model is significantly worse where `p_value` lies below this."""

    @property
    def is_worse(self) -> bool:
        """Whether the model is significantly worse."""
        return self.p_value < self.significance


class Verdict(JsonRecord):
    """The blessing of a model, with its reason in words."""

    blessed: bool
    reason: str
    comparison: Comparison | None
    """With the last pushed model; None where there was none to compare with."""

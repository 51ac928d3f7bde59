"""The names and the content of an evaluation's files, and of the gate's verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from schemas.json_record import JsonRecord

METRICS_FILE: Final = "metrics.json"
PER_QUERY_FILE: Final = "per_query.tsv"
RUN_ENDING: Final = ".trec"
RUN_FILE: Final = f"run{RUN_ENDING}"
QRELS_FILE: Final = "qrels.trec"
BASELINES_FILE: Final = "per_query_baselines.tsv"
CHANNELS_FILE: Final = "per_query_channels.tsv"
EVALUATION_FILES: Final = (METRICS_FILE, PER_QUERY_FILE, BASELINES_FILE, CHANNELS_FILE, RUN_FILE, QRELS_FILE)
VERDICT_FILE: Final = "verdict.json"
PARAMETERS_FILE: Final = "parameters.json"
"""The parameters of baselines, beside their run files."""

MODEL_TAG: Final = "smooth_clir"
"""The tag of the model's own runs."""
RANDOM_ORDER: Final = "random"
"""The name of the baseline of random order."""

NEARLY_ALL: Final = 0.9
"""Above this share of queries on seen documents, few queries measure the ranking of unseen ones."""


class PartReport(JsonRecord):
    """The metrics on a part of the queries; see `EvaluationReport`. The dictionaries are empty without queries."""

    queries: int
    metrics: dict[str, float]
    standard_errors: dict[str, float] = {}
    reachable: dict[str, float]
    baselines: dict[str, dict[str, float]]
    channels: dict[str, dict[str, float]] = {}


class LanguageReport(PartReport):
    """The metrics on the queries with an MR document in a language, and the language's shares of all lists."""

    relevant_share: float
    """The language's share of the relevant documents of all queries."""
    first_share: float
    """The language's share of the first documents of all queries, of each as many as are relevant; equal to
    `relevant_share` in a perfect order. Below it, the model prefers other languages."""


class EvaluationReport(JsonRecord):
    """The metrics of a model on a split, by their keys, beside those of other systems; in `metrics.json`."""

    split: str
    queries: int
    queries_without_relevant_document: int
    queries_of_training: int | None = None
    """The queries with the text of a train query; None where the train split is unknown."""
    feedback: float = 0.0
    """Gain of the model's second pass over each list (see `models.lists.feedback`); 0: none."""
    feedback_documents: int = 2
    """Number of documents that the second pass takes as relevant."""
    paper_names: dict[str, str]
    """The paper's names of its metrics."""
    metrics: dict[str, float]
    """The model's means over the queries."""
    standard_errors: dict[str, float] = {}
    """The standard errors of these means; empty with fewer than two queries, and in files of older versions."""
    reachable: dict[str, float]
    """The means of a perfect order."""
    baselines: dict[str, dict[str, float]]
    """The means of random order and of other systems on the same lists, by their names."""
    parameters: dict[str, dict[str, Any]] = {}
    """The parameters chosen on the eval split for each other system that has any."""
    channels: dict[str, dict[str, float]] = {}
    """The means of each channel on its own, and of the first pass where there is a second, by name; empty for a model
    with a single channel."""
    seen: PartReport | None = None
    """The queries with an MR document that is relevant to some train query, or has the text of such a document; None
    where the train split is unknown."""
    cold: PartReport | None = None
    """The other queries; None where the train split is unknown."""
    domains: dict[str, PartReport] = {}
    """The queries of each domain, by its name; empty where the collection names no domains."""
    languages: dict[str, LanguageReport] = {}
    """Each language of the documents, by its code; empty where there is only one."""
    query_languages: dict[str, PartReport] = {}
    """The queries in each language, by its code; empty where there is only one."""
    warnings: tuple[str, ...] = ()
    """Reasons to doubt the metrics, a sentence each."""

    @property
    def nearly_all_seen(self) -> bool:
        """Whether nearly all queries are on documents that training has seen as relevant."""
        return self.seen is not None and self.seen.queries > NEARLY_ALL * self.queries


_QUERY_ID = "query_id"


def system_key(name: str, metric: str) -> str:
    """The key of a baseline's metric in `per_query_baselines.tsv`, and of a channel's in `per_query_channels.tsv`.

    Example:
      >>> system_key("bm25", "map")
      'bm25/map'
    """
    return f"{name}/{metric}"


@dataclass(frozen=True)
class QueryMetrics:
    """Every metric of every query: the content of `per_query.tsv`, and of the files of baselines and channels.

    Attributes:
      query_ids: in the order of the lists, which is the order of the ids.
      values: each metric's key to its value for each query; of baselines and channels, the keys of `system_key`.

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
        """Reads the text of a file.

        Raises:
          ValueError: the text does not have this form.
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
    """The comparison of a model with the last pushed one, on the same lists."""

    version: str
    """The last pushed model's version."""
    metric: str
    """The compared metric."""
    value: float
    """The model's mean."""
    last_value: float
    """The last pushed model's mean."""
    p_value: float
    """One-sided p-value of `models.evaluation.significance`: the model is worse."""
    significance: float
    """The significance level: the model is worse if `p_value` is below it."""

    @property
    def is_worse(self) -> bool:
        """Whether the model is significantly worse."""
        return self.p_value < self.significance


class Verdict(JsonRecord):
    """The gate's decision about a model, with its reason in words: the content of `verdict.json`."""

    blessed: bool
    reason: str
    comparison: Comparison | None
    """The comparison with the last pushed model; None where no model was pushed."""

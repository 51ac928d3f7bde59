"""The ranking metrics: their definitions, their values for ranked lists, and their expectation under random order.

`METRICS` is the one table of them, which settings, evaluation, baselines and reports follow. TensorFlow Ranking
computes the values as trec_eval defines them, for lists in the order of `models.retrieval.ranking`; it has no ordered
pairs, which are ours. A metric is a mean over queries: a query without a relevant document scores 0 and counts; in
ordered pairs a query without a pair scores 0.5 and counts. With K grades, MR is the highest grade K - 1; relevant are
MR documents alone, or all from grade 1 on.

Importing this file does not import TensorFlow, since the settings import it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, log2
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from schemas.relevance import NOT_RELEVANT, PADDING_LABEL
from schemas.settings import OneOf

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PLACES_AT_ONCE: Final = 2**22
"""Places of padded lists whose metrics are computed at once, to bound the memory of long lists."""


class Formula(NamedTuple):
    """The computation of a metric from the grades of a ranked list."""

    tf_ranking: Callable[[Any, int | None], Any]
    """Makes TF-Ranking's metric, or an object with its `compute`, from the module `metrics_impl` and the cutoff."""
    expectation: Callable[[Sequence[int], int | None], float]
    """Computes the exact expectation over all orders of a list from its grades and the cutoff."""


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
      key: its name in settings and files.
      paper_name: its name in the paper; None for a metric that the paper does not have.
      definition: its definition for readers of a report.
      cutoff: the number of documents that count, from the top; None for all.
      of_mr_alone: whether only MR documents are relevant, instead of all from grade 1 on.
      formula: its computation.
      left_out: the documents that do not count, as if the list did not hold them; None where all count.

    Example:
      >>> METRICS["p_mr_1"].expected([2, 1, 0, 0], top_grade=2)  # one MR document for one of four places
      0.25
    """

    key: str
    paper_name: str | None
    definition: str
    cutoff: int | None
    of_mr_alone: bool
    formula: Formula
    left_out: Literal["MR", "SR"] | None = None

    @property
    def name(self) -> str:
        """The name for readers: the paper's name, else the key."""
        return self.paper_name or self.key

    @property
    def ir_measures(self) -> str | None:
        """Its name in the library ir_measures; None for one that it lacks, or whose name depends on the MR grade.

        Example:
          >>> METRICS["ndcg_5"].ir_measures, METRICS["map"].ir_measures, METRICS["p_mr_1"].ir_measures
          ('nDCG@5', 'AP', None)
        """
        names = {PRECISION: "P", RECALL: "R", NDCG: "nDCG", AVERAGE_PRECISION: "AP", RECIPROCAL_RANK: "RR"}
        if self.of_mr_alone or self.left_out or self.formula not in names:
            return None
        return names[self.formula] + (f"@{self.cutoff}" if self.cutoff else "")

    def expected(self, grades: Sequence[int], top_grade: int) -> float:
        """The exact expectation for a list in random order, which every ranking should exceed.

        Args:
          grades: the grades of the list's documents, in any order.
          top_grade: the MR grade.
        """
        if self.left_out:
            grades = [grade for grade in grades if not self._leaves_out(grade, top_grade)]
        counted = [int(grade == top_grade) for grade in grades] if self.of_mr_alone else grades
        return self.formula.expectation(counted, self.cutoff)

    def labels(self, grades: "npt.NDArray[np.float32]", top_grade: int) -> "npt.NDArray[np.float32]":
        """The grades as the formula takes them.

        Args:
          grades: float32 [lists, list_size], padded with PADDING_LABEL.
          top_grade: the MR grade.

        Returns:
          float32 [lists, list_size]: 1 and 0 where only MR documents are relevant, and PADDING_LABEL where a document
          does not count. Up to the cutoff, the places that a short list lacks count as irrelevant documents: P@5
          divides by 5.
        """
        import numpy as np

        labels: npt.NDArray[np.float32] = grades.copy()
        if self.cutoff:
            labels[:, : self.cutoff] = np.maximum(labels[:, : self.cutoff], NOT_RELEVANT)
        if self.left_out:
            labels[self._leaves_out(labels, top_grade)] = PADDING_LABEL
        if self.of_mr_alone:
            labels[:] = np.where(labels < NOT_RELEVANT, labels, labels == top_grade)
        return labels

    def _leaves_out(self, grades: Any, top_grade: int) -> Any:
        """Whether a grade, or each of an array, does not count."""
        is_mr = grades == top_grade
        return is_mr if self.left_out == "MR" else (grades > NOT_RELEVANT) & (grades < top_grade)


# With n documents of which r are relevant, any place holds a relevant one with probability r/n, and
#     E[AP] = 1/n * sum_k (1 + (k-1) (r-1)/(n-1)) / k,   P(first relevant at k) = C(n-k, r-1) / C(n, r).


def _relevant(grades: Sequence[int]) -> int:
    return sum(grade >= 1 for grade in grades)


def _expected_precision(grades: Sequence[int], cutoff: int | None) -> float:
    size = len(grades)
    places = min(cutoff or size, size)
    return _relevant(grades) / size * places / (cutoff or size)


def _expected_recall(grades: Sequence[int], cutoff: int | None) -> float:
    size = len(grades)
    return min(cutoff or size, size) / size if _relevant(grades) else 0.0


def _expected_ndcg(grades: Sequence[int], cutoff: int | None) -> float:
    size = len(grades)
    discounts = [1 / log2(1 + rank) for rank in range(1, min(cutoff or size, size) + 1)]
    ideal = sum(float(grade) * d for grade, d in zip(sorted(grades, reverse=True), discounts, strict=False))
    return sum(grades) / size * sum(discounts) / ideal if ideal else 0.0


def _expected_average_precision(grades: Sequence[int], cutoff: int | None) -> float:
    if cutoff is not None:
        raise ValueError(f"the cutoff of average precision must be None, as its expectation has it; got {cutoff}")
    return _average_precision(len(grades), _relevant(grades))


@cache
def _average_precision(size: int, relevant: int) -> float:
    if not relevant:
        return 0.0
    others = (relevant - 1) / (size - 1) if size > 1 else 0.0
    return sum((1 + (k - 1) * others) / k for k in range(1, size + 1)) / size


def _expected_reciprocal_rank(grades: Sequence[int], cutoff: int | None) -> float:
    return _reciprocal_rank(len(grades), _relevant(grades), cutoff)


@cache
def _reciprocal_rank(size: int, relevant: int, cutoff: int | None) -> float:
    if not relevant:
        return 0.0
    total, last = comb(size, relevant), size - relevant + 1
    return sum(comb(size - k, relevant - 1) / total / k for k in range(1, min(cutoff or last, last) + 1))


def _expected_ordered_pairs(grades: Sequence[int], cutoff: int | None) -> float:
    if cutoff is not None:
        raise ValueError(f"the cutoff of ordered pairs must be None, as they are those of whole lists; got {cutoff}")
    return 0.5  # with pairs or without


def _ordered_pairs(metrics_impl: Any, cutoff: int | None) -> Any:
    # Imports NumPy, which the settings need not import.
    from models.evaluation.ordered_pairs import OrderedPairs

    return OrderedPairs()


PRECISION = Formula(lambda tfr, cutoff: tfr.PrecisionMetric("precision", topn=cutoff), _expected_precision)
"""Share of relevant documents among the first; divides by the cutoff even where a list is shorter."""
RECALL = Formula(lambda tfr, cutoff: tfr.RecallMetric("recall", topn=cutoff), _expected_recall)
"""Share of the relevant documents that are among the first."""
NDCG = Formula(lambda tfr, cutoff: tfr.NDCGMetric("ndcg", topn=cutoff, gain_fn=lambda grade: grade), _expected_ndcg)
"""Gain is the grade (linear), discount 1/log2(1 + rank), ideal order that of the list."""
AVERAGE_PRECISION = Formula(
    lambda tfr, cutoff: tfr.MeanAveragePrecisionMetric("map", topn=cutoff), _expected_average_precision
)
"""Mean over the relevant documents of the precision at their ranks."""
RECIPROCAL_RANK = Formula(lambda tfr, cutoff: tfr.MRRMetric("mrr", topn=cutoff), _expected_reciprocal_rank)
"""One over the rank of the first relevant document."""
ORDERED_PAIRS = Formula(_ordered_pairs, _expected_ordered_pairs)
"""Share of the pairs of documents with different grades in the right order; see `models.evaluation.ordered_pairs`."""

METRICS: dict[str, Metric] = {
    metric.key: metric
    for metric in (
        Metric("p_mr_1", "P_mr@1", "share of queries with the MR document at rank 1.", 1, True, PRECISION),
        Metric(
            "recall_mr_5", "P_mr@5", "share of MR documents among the first five, that is recall at 5.", 5, True, RECALL
        ),
        Metric(
            "p_r_5",
            "P_r@5",
            "precision of MR and SR documents at 5; divides by 5 even where a list is shorter.",
            cutoff=5,
            of_mr_alone=False,
            formula=PRECISION,
        ),
        Metric(
            "ndcg_5",
            "NDCG@5",
            "linear gain (the grade), discount 1/log2(1 + rank), cut off at 5; the ideal order is that of the list.",
            cutoff=5,
            of_mr_alone=False,
            formula=NDCG,
        ),
        Metric(
            "map",
            "MAP",
            "mean average precision over the whole list; MR and SR documents are relevant.",
            cutoff=None,
            of_mr_alone=False,
            formula=AVERAGE_PRECISION,
        ),
        Metric(
            "mrr_mr", "MRR_mr", "mean reciprocal rank of the first MR document; no cutoff.", None, True, RECIPROCAL_RANK
        ),
        Metric(
            "mrr_r",
            "MRR_r",
            "mean reciprocal rank of the first MR or SR document; no cutoff.",
            None,
            False,
            RECIPROCAL_RANK,
        ),
        Metric(
            "p_r_10",
            None,
            "precision of MR and SR documents at 10; divides by 10 even where a list is shorter.",
            cutoff=10,
            of_mr_alone=False,
            formula=PRECISION,
        ),
        Metric(
            "ordered_pairs",
            None,
            "share of the pairs of documents with different grades that are in the right order; 0.5 without a pair.",
            cutoff=None,
            of_mr_alone=False,
            formula=ORDERED_PAIRS,
        ),
        Metric(
            "ordered_pairs_mr",
            None,
            "the same of the pairs of an MR and an NR document.",
            cutoff=None,
            of_mr_alone=True,
            formula=ORDERED_PAIRS,
            left_out="SR",
        ),
        Metric(
            "ordered_pairs_sr",
            None,
            "the same without MR documents: the pairs of an SR and an NR document, and of SR documents of two grades.",
            cutoff=None,
            of_mr_alone=False,
            formula=ORDERED_PAIRS,
            left_out="MR",
        ),
    )
}
"""All metrics by their keys: the paper's in its order, then those of Polynomial Semantic Indexing (Bai et al. 2009)."""


class OneOfMetrics(OneOf):
    """Takes the key of a metric, or its name in ir_measures; for a setting's `pydantic.AfterValidator`.

    Example:
      >>> OneOfMetrics(METRICS)("nDCG@5")
      'ndcg_5'
    """

    def __call__(self, text: str) -> str:
        """The key."""
        keys = {metric.ir_measures: key for key, metric in METRICS.items()}
        return super().__call__(keys.get(text, text))


def per_query_metrics(
    ranked: "Sequence[npt.NDArray[np.int64]]", top_grade: int, keys: Collection[str] | None = None
) -> "dict[str, npt.NDArray[np.float64]]":
    """The value of every metric, or of some, for every query.

    Args:
      ranked: the grades of each query's documents, best-ranked first.
      top_grade: the MR grade.
      keys: the metrics; None for all.

    Returns:
      key -> float [queries].
    """
    import numpy as np
    import tensorflow as tf

    from models.tf_ranking import metrics_impl

    metrics = {key: metric for key, metric in METRICS.items() if keys is None or key in keys}
    size = max([metric.cutoff or 0 for metric in metrics.values()] + [len(grades) for grades in ranked])
    rows = max(1, _PLACES_AT_ONCE // size)
    parts: dict[str, list[npt.NDArray[np.float64]]] = {key: [] for key in metrics}
    for start in range(0, max(len(ranked), 1), rows):
        some = ranked[start : start + rows]
        grades = np.full((len(some), size), PADDING_LABEL, np.float32)
        for row, list_grades in zip(grades, some, strict=True):
            row[: len(list_grades)] = list_grades
        order = tf.constant(np.broadcast_to(np.arange(size, 0, -1, dtype=np.float32), grades.shape))
        for key, metric in metrics.items():
            labels = tf.constant(metric.labels(grades, top_grade))
            values, _ = metric.formula.tf_ranking(metrics_impl, metric.cutoff).compute(labels, order)
            parts[key].append(np.asarray(values, np.float64).reshape(-1))
    return {key: np.concatenate(values) for key, values in parts.items()}


def mean_metrics(
    ranked: "Sequence[npt.NDArray[np.int64]]", top_grade: int, keys: Collection[str] | None = None
) -> dict[str, float]:
    """The mean over the queries of every metric, or of some; 0 without queries. See `per_query_metrics`."""
    if not ranked:
        return dict.fromkeys(METRICS if keys is None else keys, 0.0)
    return {key: float(values.mean()) for key, values in per_query_metrics(ranked, top_grade, keys).items()}


def expected_metrics(lists: "Sequence[npt.NDArray[np.int64]]", top_grade: int) -> "dict[str, npt.NDArray[np.float64]]":
    """The expectation of every metric under random order, for every query.

    Args:
      lists: the grades of each query's documents, in any order.
      top_grade: the MR grade.

    Returns:
      key -> float [queries].
    """
    import numpy as np

    grades = [one.tolist() for one in lists]
    return {key: np.array([metric.expected(one, top_grade) for one in grades]) for key, metric in METRICS.items()}

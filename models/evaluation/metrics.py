"""The ranking metrics: their definitions, and their values for the scores of lists.

`METRICS` is the one table of them, which settings, evaluation, baselines and reports follow. TensorFlow Ranking
computes the values as trec_eval defines them; it has no ordered pairs, which are ours. A metric is a mean over queries:
a query without a relevant document scores 0 and counts; in ordered pairs a query without a pair scores 0.5 and counts.
With K grades, MR is the highest grade K - 1; relevant are MR documents alone, or all from grade 1 on.

Documents with equal scores have no order: the value of a list is the mean over all their orders (McSherry and Najork
2008, Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores). trec_eval orders
them by their ids instead, and would let the name of a copy decide. Random order is the case of one score for all.

Importing this file does not import TensorFlow, since the settings import it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from math import log2
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from schemas.relevance import NOT_RELEVANT, PADDING_LABEL
from schemas.settings import OneOf

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CELLS_AT_ONCE: Final = 2**22
"""Number of documents, with padding, whose metrics are computed at once, to bound the memory of long lists."""


class Formula(NamedTuple):
    """The computation of a metric from the grades of a ranked list."""

    tf_ranking: Callable[[Any, int | None], Any]
    """Makes TF-Ranking's metric, or an object with its `compute`, from the module `metrics_impl` and the cutoff."""
    expectation: Callable[[Sequence[Sequence[int]], int | None], float]
    """Computes the exact mean over all orders of equal scores from the grades of each score's documents, the highest
    score first, and the cutoff."""


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes:
      key: its name in settings and files.
      paper_name: its name in the paper; None for a metric that the paper does not have.
      definition: its definition for readers of a report.
      cutoff: the number of documents that count, from the top; None for all.
      mr_only: whether only MR documents are relevant, instead of all from grade 1 on.
      formula: its computation.
      left_out: the documents that are removed from the list; None where all count.

    Example:
      >>> METRICS["p_mr_1"].expected([[2, 1, 0, 0]], top_grade=2)  # an MR document in one of four ranks
      0.25
    """

    key: str
    paper_name: str | None
    definition: str
    cutoff: int | None
    mr_only: bool
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
        if self.mr_only or self.left_out or self.formula not in names:
            return None
        return names[self.formula] + (f"@{self.cutoff}" if self.cutoff else "")

    def expected(self, tied: Sequence[Sequence[int]], top_grade: int) -> float:
        """The exact mean over all orders of documents with equal scores.

        Args:
          tied: the grades of the documents of each score, in any order, the highest score first.
          top_grade: the MR grade.
        """
        if self.left_out:
            tied = [[grade for grade in grades if not self._leaves_out(grade, top_grade)] for grades in tied]
        if self.mr_only:
            tied = [[int(grade == top_grade) for grade in grades] for grades in tied]
        return self.formula.expectation([grades for grades in tied if grades], self.cutoff)

    def labels(self, grades: "npt.NDArray[np.float32]", top_grade: int) -> "npt.NDArray[np.float32]":
        """The grades as the formula takes them.

        Args:
          grades: float32 [lists, list_size], padded with PADDING_LABEL.
          top_grade: the MR grade.

        Returns:
          float32 [lists, list_size]: 1 and 0 where only MR documents are relevant, and PADDING_LABEL where a document
          does not count. Up to the cutoff, the ranks that a short list lacks count as irrelevant documents: P@5
          divides by 5.
        """
        import numpy as np

        labels: npt.NDArray[np.float32] = grades.copy()
        if self.cutoff:
            labels[:, : self.cutoff] = np.maximum(labels[:, : self.cutoff], NOT_RELEVANT)
        if self.left_out:
            labels[self._leaves_out(labels, top_grade)] = PADDING_LABEL
        if self.mr_only:
            labels[:] = np.where(labels < NOT_RELEVANT, labels, labels == top_grade)
        return labels

    def _leaves_out(self, grades: Any, top_grade: int) -> Any:
        """Whether a grade, or each of an array, does not count."""
        is_mr = grades == top_grade
        return is_mr if self.left_out == "MR" else (grades > NOT_RELEVANT) & (grades < top_grade)


def _ranks(tied: Sequence[Sequence[int]], cutoff: int | None) -> Iterator[tuple[Sequence[int], range]]:
    """Yields the grades of each score's documents, and those of their ranks that the cutoff lets count."""
    first = 1
    for grades in tied:
        end = first + len(grades)
        yield grades, range(first, end if cutoff is None else max(first, min(end, cutoff + 1)))
        first = end


def _relevant(grades: Iterable[int]) -> int:
    return sum(grade >= 1 for grade in grades)


def _expected_relevant(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    return sum(_relevant(grades) / len(grades) * len(ranks) for grades, ranks in _ranks(tied, cutoff))


def _expected_precision(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    return _expected_relevant(tied, cutoff) / (cutoff or sum(map(len, tied)))


def _expected_recall(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    relevant = sum(map(_relevant, tied))
    return _expected_relevant(tied, cutoff) / relevant if relevant else 0.0


def _expected_ndcg(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    def gain(tied: Sequence[Sequence[int]]) -> float:
        return sum(
            sum(grades) / len(grades) * sum(1 / log2(1 + rank) for rank in ranks)
            for grades, ranks in _ranks(tied, cutoff)
        )

    ideal = gain([[grade] for grade in sorted(chain(*tied), reverse=True)])
    return gain(tied) / ideal if ideal else 0.0


def _expected_average_precision(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    if cutoff is not None:
        raise ValueError(f"the cutoff of average precision must be None, as its expectation has it; got {cutoff}")
    before, total = 0, 0.0
    for grades, ranks in _ranks(tied, None):
        relevant = _relevant(grades)
        total += _precision_at_relevant(len(grades), relevant, ranks.start, before)
        before += relevant
    return total / before if before else 0.0


@cache
def _precision_at_relevant(size: int, relevant: int, first: int, before: int) -> float:
    """The sum of the precision at the relevant documents among documents with equal scores.

    Each rank k holds a relevant document with probability relevant / size; the expected number of others above it is

        before + (k - first) (relevant - 1) / (size - 1)

    Args:
      size: number of these documents.
      relevant: number of the relevant ones.
      first: the first of their ranks.
      before: number of relevant documents with a higher score.
    """
    relevant_share = (relevant - 1) / (size - 1) if size > 1 else 0.0
    return relevant / size * sum((before + 1 + row * relevant_share) / (first + row) for row in range(size))


def _expected_reciprocal_rank(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    for grades, ranks in _ranks(tied, cutoff):
        if relevant := _relevant(grades):
            return _reciprocal_rank(len(grades), relevant, ranks)
    return 0.0


@cache
def _reciprocal_rank(size: int, relevant: int, ranks: range) -> float:
    """The expected reciprocal rank of the first relevant document. It has a rank with probability relevant / (documents
    from there on), if none is above it."""
    none_above, total = 1.0, 0.0
    for row, rank in enumerate(ranks):
        share = min(relevant / (size - row), 1.0)
        total += none_above * share / rank
        none_above *= 1 - share
    return total


def _expected_ordered_pairs(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    if cutoff is not None:
        raise ValueError(f"the cutoff of ordered pairs must be None, as they are those of whole lists; got {cutoff}")
    above: Counter[int] = Counter()
    ordered = pairs = 0.0
    for counts in map(Counter, tied):
        for grade, count in counts.items():
            equal = count * sum(counts[other_grade] for other_grade in counts if other_grade < grade)
            higher = count * sum(above[other_grade] for other_grade in above if other_grade > grade)
            lower = count * sum(above[other_grade] for other_grade in above if other_grade < grade)
            ordered += higher + equal / 2
            pairs += higher + lower + equal
        above += counts
    return ordered / pairs if pairs else 0.5


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
            mr_only=False,
            formula=PRECISION,
        ),
        Metric(
            "ndcg_5",
            "NDCG@5",
            "linear gain (the grade), discount 1/log2(1 + rank), cut off at 5; the ideal order is that of the list.",
            cutoff=5,
            mr_only=False,
            formula=NDCG,
        ),
        Metric(
            "map",
            "MAP",
            "mean average precision over the whole list; MR and SR documents are relevant.",
            cutoff=None,
            mr_only=False,
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
            mr_only=False,
            formula=PRECISION,
        ),
        Metric(
            "ordered_pairs",
            None,
            "share of the pairs of documents with different grades that are in the right order; 0.5 without a pair.",
            cutoff=None,
            mr_only=False,
            formula=ORDERED_PAIRS,
        ),
        Metric(
            "ordered_pairs_mr",
            None,
            "the same of the pairs of an MR and an NR document.",
            cutoff=None,
            mr_only=True,
            formula=ORDERED_PAIRS,
            left_out="SR",
        ),
        Metric(
            "ordered_pairs_sr",
            None,
            "the same without MR documents: the pairs of an SR and an NR document, and of SR documents of two grades.",
            cutoff=None,
            mr_only=False,
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
    grades: "Sequence[npt.NDArray[np.int64]]",
    scores: "Sequence[npt.NDArray[Any]]",
    top_grade: int,
    keys: Collection[str] | None = None,
) -> "dict[str, npt.NDArray[np.float64]]":
    """The values of all metrics, or of those in `keys`, for each query.

    Args:
      grades: the grades of each query's documents.
      scores: their scores, which count as float32; equal ones have no order.
      top_grade: the MR grade.
      keys: the metrics; None for all.

    Returns:
      key -> float [queries].
    """
    import numpy as np
    import tensorflow as tf

    from models.tf_ranking import metrics_impl

    metrics = {key: metric for key, metric in METRICS.items() if keys is None or key in keys}
    size = max([metric.cutoff or 0 for metric in metrics.values()] + [len(list_grades) for list_grades in grades])
    rows = max(1, _CELLS_AT_ONCE // size)
    parts: dict[str, list[npt.NDArray[np.float64]]] = {key: [] for key in metrics}
    for start in range(0, max(len(grades), 1), rows):
        ranked, tied = _ranked(grades[start : start + rows], scores[start : start + rows], size)
        order = tf.constant(np.broadcast_to(np.arange(size, 0, -1, dtype=np.float32), ranked.shape))
        for key, metric in metrics.items():
            labels = tf.constant(metric.labels(ranked, top_grade))
            computed, _ = metric.formula.tf_ranking(metrics_impl, metric.cutoff).compute(labels, order)
            values = np.array(computed, np.float64).reshape(-1)
            for row, grades_of_scores in tied.items():
                values[row] = metric.expected(grades_of_scores, top_grade)
            parts[key].append(values)
    return {key: np.concatenate(values) for key, values in parts.items()}


def _ranked(
    grades: "Sequence[npt.NDArray[np.int64]]", scores: "Sequence[npt.NDArray[Any]]", size: int
) -> "tuple[npt.NDArray[np.float32], dict[int, list[list[int]]]]":
    """The grades of lists in the order of their scores, padded; and for each row where documents of two grades have the
    same score, the grades of each score."""
    import numpy as np

    padded = np.full((2, len(grades), size), PADDING_LABEL, np.float32)
    padded[1] = -np.inf
    for row, columns in enumerate(zip(grades, scores, strict=True)):
        padded[:, row, : len(columns[0])] = columns
    order = np.argsort(-padded[1], axis=1, kind="stable")
    ranked, ranked_scores = np.take_along_axis(padded, order[np.newaxis], axis=2)
    is_equal = ranked_scores[:, 1:] == ranked_scores[:, :-1]
    tied = {}
    for row in np.flatnonzero((is_equal & (ranked[:, 1:] != ranked[:, :-1])).any(axis=1)).tolist():
        number = len(grades[row])
        starts = np.flatnonzero(~is_equal[row, : number - 1]) + 1
        tied[row] = [part.astype(int).tolist() for part in np.split(ranked[row, :number], starts)]
    return ranked, tied


def means(values: "Mapping[str, npt.NDArray[np.float64]]") -> dict[str, float]:
    """The mean over the queries of each metric; 0 without queries."""
    return {key: float(query_values.mean()) if len(query_values) else 0.0 for key, query_values in values.items()}

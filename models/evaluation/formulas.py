"""The formulas of the ranking metrics: by TensorFlow Ranking, and as the exact mean over the orders of equal scores.

TensorFlow Ranking computes the values as trec_eval defines them; it has no ordered pairs, which are ours. The mean over
all orders of documents with equal scores is that of McSherry and Najork 2008, Computing Information Retrieval
Performance Measures Efficiently in the Presence of Tied Scores. Importing this file does not import TensorFlow.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from math import log2
from typing import Any, Final, NamedTuple


class Formula(NamedTuple):
    """The computation of a metric from the grades of a ranked list."""

    tf_ranking: Callable[[Any, int | None], Any]
    """Makes TF-Ranking's metric, or an object with its `compute`, from the module `metrics_impl` and the cutoff."""
    expectation: Callable[[Sequence[Sequence[int]], int | None], float]
    """Computes the exact mean over all orders of equal scores from the grades of the documents with each score, the
    highest score first, and the cutoff."""


def _ranks(tied: Sequence[Sequence[int]], cutoff: int | None) -> Iterator[tuple[Sequence[int], range]]:
    """Yields the grades of the documents with each score, and their ranks within the cutoff."""
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
    before, total = 0, 0.0
    for grades, ranks in _ranks(tied, cutoff):
        relevant = _relevant(grades)
        total += _precision_at_relevant(len(grades), relevant, ranks, before)
        before += relevant
    return total / before if before else 0.0


@cache
def _precision_at_relevant(size: int, relevant: int, ranks: range, before: int) -> float:
    """The sum of the precision at the relevant documents among documents with equal scores.

    Each rank k holds a relevant document with probability relevant / size; the expected number of relevant ones above
    is

        before + (k - first) (relevant - 1) / (size - 1)

    Args:
      size: number of documents with equal scores.
      relevant: number of relevant documents among them.
      ranks: their ranks within the cutoff.
      before: number of relevant documents with a higher score.
    """
    relevant_share = (relevant - 1) / (size - 1) if size > 1 else 0.0
    return relevant / size * sum((before + 1 + row * relevant_share) / rank for row, rank in enumerate(ranks))


def _expected_reciprocal_rank(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    for grades, ranks in _ranks(tied, cutoff):
        if relevant := _relevant(grades):
            return _reciprocal_rank(len(grades), relevant, ranks)
    return 0.0


@cache
def _reciprocal_rank(size: int, relevant: int, ranks: range) -> float:
    """The expected reciprocal rank of the first relevant document. If no relevant document is above a rank, the rank's
    is relevant with probability relevant / (documents from this rank on)."""
    none_above, total = 1.0, 0.0
    for row, rank in enumerate(ranks):
        share = min(relevant / (size - row), 1.0)
        total += none_above * share / rank
        none_above *= 1 - share
    return total


def _expected_ordered_pairs(tied: Sequence[Sequence[int]], cutoff: int | None) -> float:
    if cutoff is not None:
        raise ValueError(f"the cutoff of ordered pairs must be None; got {cutoff}")
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
    # Imports NumPy, which settings do without.
    from models.evaluation.ordered_pairs import OrderedPairs

    return OrderedPairs()


PRECISION: Final = Formula(lambda tfr, cutoff: tfr.PrecisionMetric("precision", topn=cutoff), _expected_precision)
"""Share of relevant documents among the first; divides by the cutoff even if a list is shorter."""
RECALL: Final = Formula(lambda tfr, cutoff: tfr.RecallMetric("recall", topn=cutoff), _expected_recall)
"""Share of the relevant documents that are among the first."""
NDCG: Final = Formula(
    lambda tfr, cutoff: tfr.NDCGMetric("ndcg", topn=cutoff, gain_fn=lambda grade: grade), _expected_ndcg
)
"""Gain is the grade (linear), discount 1/log2(1 + rank), ideal order that of the list."""
AVERAGE_PRECISION: Final = Formula(
    lambda tfr, cutoff: tfr.MeanAveragePrecisionMetric("map", topn=cutoff), _expected_average_precision
)
"""Mean over the relevant documents of the precision at their ranks."""
RECIPROCAL_RANK: Final = Formula(lambda tfr, cutoff: tfr.MRRMetric("mrr", topn=cutoff), _expected_reciprocal_rank)
"""One over the rank of the first relevant document."""
ORDERED_PAIRS: Final = Formula(_ordered_pairs, _expected_ordered_pairs)
"""Share of the pairs of documents with different grades in the right order; see `models.evaluation.ordered_pairs`."""

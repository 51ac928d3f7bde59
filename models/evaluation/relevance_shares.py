"""Scores that a person can read: the share of relevant documents at a score, and the signs of no good answer."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.relevance import NOT_RELEVANT

ERROR_RATE: Final = 0.05
"""The share of queries with an answer that may be marked as having none."""
MIN_QUERIES: Final = 40
"""With fewer eval queries nothing is fitted: half of `ERROR_RATE`, for each of two signs, is less than one query."""
MAX_STEPS: Final = 32
"""Largest number of distinct shares; each takes two knots."""


class RelevanceShares(NamedTuple):
    """The share of relevant documents by score, and the signs of a query without a good answer.

    They refer to the queries of the eval split and to the whole collection that their lists were sampled from.
    """

    score: tuple[float, ...]
    """Scores of the first pass, ascending: [knots]."""
    share: tuple[float, ...]
    """The share of relevant documents among those with each score, ascending, in [0, 1]: [knots]."""
    no_answer_below: float
    """A query whose best score is lower has no good answer."""
    least_known_share: float
    """A query has no good answer if the model knows a smaller share of its terms; 0 without words that match."""
    error_rate: float
    """The largest share of queries with an answer that have one of these two signs."""
    queries: int
    """Number of eval queries, all with an answer, that all of this was fitted on."""

    def of(self, score: float) -> float:
        """Returns the share of relevant documents among those with a score: linear between knots, constant beyond.

        Example:
          >>> RelevanceShares((0.0, 1.0), (0.0, 0.5), 0.2, 0.0, 0.05, 100).of(0.5)
          0.25
        """
        return float(np.interp(score, self.score, self.share))

    def why_no_good_answer(self, best: float, known_share: float) -> str | None:
        """Returns the signs that a query has no good answer, for a person; None where it has none of them.

        Args:
          best: the best score of its documents.
          known_share: the share of its terms that the model knows.
        """
        signs = []
        if best < self.no_answer_below:
            signs.append(f"the best score, {best:.4f}, is below {self.no_answer_below:.4f}")
        if known_share < self.least_known_share:
            shares = f"{100 * known_share:.1f} % of the query's words, less than {100 * self.least_known_share:.1f} %"
            signs.append(f"the model knows {shares}")
        if not signs:
            return None
        return f"{', and '.join(signs)} (so are at most {100 * self.error_rate:g} % of queries that have an answer)"


def fit_relevance_shares(
    scores: Sequence[npt.NDArray[np.float32]],
    grades: Sequence[npt.NDArray[np.int64]],
    drawn: Sequence[npt.NDArray[np.bool_]],
    documents: int,
    top_grade: int,
    known_shares: npt.NDArray[np.float32] | None = None,
) -> RelevanceShares | None:
    """Fits the shares and the signs of no good answer on the eval split; None with too few queries with an answer.

        share(s) = sum of w over relevant documents with score s / sum of w over all documents with score s

    made isotonic by `IsotonicRegression`, which pools neighbouring scores until the shares ascend, and then by
    `MAX_STEPS`, which pools those with the closest shares. A document is relevant if its grade is above 0. A list
    holds all judged documents of its query, w = 1, and draws a few of the others at random, so each of these stands
    for

        w = (documents - judged documents of the list) / drawn documents of the list

    documents of the collection. Undrawn documents may outscore every drawn one. To account for them, one irrelevant
    document of weight mean(w) - 1 is added at the highest score. Without it a few hundred drawn documents would prove
    that no document of a million is wrong.

    A query has an answer if its list has an MR document. For n such queries, each limit is the k-th lowest value of
    its sign, k = floor(rate (n + 1)). Fewer than k of the n lie below, and so does another query that is drawn as
    they were, with a chance of at most rate. The rate is `ERROR_RATE`, or half of it for each of two signs. The best
    score of a list is at most that of the whole collection, so a search marks no more of them.

    Args:
      scores: of each list's documents by the exported ranker: [lists], each float [list_size].
      grades: of the same documents: [lists], each int [list_size].
      drawn: whether each document was drawn at random from those that are not judged: [lists], each bool [list_size].
      documents: number of documents of the collection.
      top_grade: the MR grade.
      known_shares: the share of each query's terms that the ranker knows: float [lists]; None without words that match.
    """
    answered = np.flatnonzero([bool((list_grades == top_grade).any()) for list_grades in grades])
    if len(answered) < MIN_QUERIES:
        return None
    weights = [_weights(is_drawn, documents) for is_drawn in drawn]
    all_scores, all_weights = np.concatenate(scores).astype(np.float64), np.concatenate(weights)
    relevant = (np.concatenate(grades) > NOT_RELEVANT).astype(np.float64)
    drawn_weights = all_weights[np.concatenate(drawn)]
    unseen = float(drawn_weights.mean()) - 1 if drawn_weights.size else 0.0
    if unseen > 0:
        all_scores, relevant = np.append(all_scores, all_scores.max()), np.append(relevant, 0)
        all_weights = np.append(all_weights, unseen)
    steps = _pooled([*_isotonic_steps(all_scores, relevant, all_weights)])
    knots = [(score, step.share) for step in steps for score in sorted({step.low, step.high})]
    score, share = zip(*knots, strict=True)
    rate = ERROR_RATE if known_shares is None else ERROR_RATE / 2
    return RelevanceShares(
        score=score,
        share=share,
        no_answer_below=_limit([scores[row].max() for row in answered.tolist()], rate),
        least_known_share=0.0 if known_shares is None else _limit(known_shares[answered], rate),
        error_rate=ERROR_RATE,
        queries=len(answered),
    )


def _limit(values: Sequence[float] | npt.NDArray[np.float32], rate: float) -> float:
    """Returns the k-th lowest of n values, k = floor(rate (n + 1))."""
    return float(np.sort(np.asarray(values))[int(rate * (len(values) + 1)) - 1])


class _Step(NamedTuple):
    """Neighbouring scores with one share of relevant documents."""

    low: float
    high: float
    relevant: float
    """Weight of the relevant documents."""
    weight: float
    """Weight of all documents."""

    @property
    def share(self) -> float:
        return min(1.0, self.relevant / self.weight)


def _weights(drawn: npt.NDArray[np.bool_], documents: int) -> npt.NDArray[np.float64]:
    """Returns how many documents of the collection each document of a list stands for; at least itself."""
    count = int(drawn.sum())
    judged = len(drawn) - count
    return np.where(drawn, max(1.0, (documents - judged) / max(1, count)), 1.0)


def _isotonic_steps(
    scores: npt.NDArray[np.float64], relevant: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> Iterator[_Step]:
    """Yields the steps of the isotonic regression of relevance, in ascending order."""
    # It takes a second to import, and only a training needs it.
    from sklearn.isotonic import IsotonicRegression

    order = np.argsort(scores, kind="stable")
    scores, relevant, weights = scores[order], relevant[order], weights[order]
    fitted = IsotonicRegression().fit(scores, relevant, weights).predict(scores)
    starts = np.flatnonzero(np.diff(fitted, prepend=-1.0))
    for start, end in zip(starts, [*starts[1:], len(scores)], strict=True):
        w = weights[start:end]
        yield _Step(scores[start], scores[end - 1], float(relevant[start:end] @ w), float(w.sum()))


def _pooled(steps: list[_Step]) -> list[_Step]:
    """Pools the two neighbours with the closest shares until there are few enough; each share stays a mean."""
    while len(steps) > MAX_STEPS:
        row = int(np.argmin(np.diff([step.share for step in steps])))
        lower, higher = steps[row : row + 2]
        pooled = _Step(lower.low, higher.high, lower.relevant + higher.relevant, lower.weight + higher.weight)
        steps[row : row + 2] = [pooled]
    return steps

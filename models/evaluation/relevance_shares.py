"""Meanings of scores for people: the share of relevant documents at a score, and signs of a query without an answer."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.relevance import NOT_RELEVANT

ERROR_RATE: Final = 0.05
"""The share of queries with an answer that may be marked as without an answer."""
MIN_QUERIES: Final = 40
"""With fewer eval queries nothing is fitted: half of `ERROR_RATE`, for each of two signs, is less than a query."""
MAX_STEPS: Final = 32
"""Largest number of distinct shares; each takes two knots."""


class RelevanceShares(NamedTuple):
    """The share of relevant documents by score, and the signs of a query without a good answer.

    Both refer to the eval queries, and to the whole collection that their lists were sampled from.
    """

    score: tuple[float, ...]
    """Scores of the first pass, ascending: [knots]."""
    share: tuple[float, ...]
    """The share of relevant documents among those with each score, ascending, in [0, 1]: [knots]."""
    no_answer_below: float
    """A query whose best score is lower has no good answer."""
    least_known_share: float
    """A query has no good answer if the model knows a smaller share of its terms; 0 without matching words."""
    error_rate: float
    """The largest share of queries with an answer that have either sign."""
    queries: int
    """Number of eval queries that these values were fitted on, all with an answer."""

    def at(self, score: float) -> float:
        """Returns the share of relevant documents among those with a score: linear between knots, constant beyond.

        Example:
          >>> RelevanceShares((0.0, 1.0), (0.0, 0.5), 0.2, 0.0, 0.05, 100).at(0.5)
          0.25
        """
        return float(np.interp(score, self.score, self.share))

    def why_no_good_answer(self, best: float, known_share: float) -> str | None:
        """Returns the signs that a query has no good answer, in words; None without signs.

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
        return f"{', and '.join(signs)} (true of at most {100 * self.error_rate:g} % of queries that have an answer)"


def fit_relevance_shares(
    scores: Sequence[npt.NDArray[np.float32]],
    grades: Sequence[npt.NDArray[np.int64]],
    drawn: Sequence[npt.NDArray[np.bool_]],
    documents: int,
    top_grade: int,
    known_shares: npt.NDArray[np.float32] | None = None,
) -> RelevanceShares | None:
    """Fits the shares and the limits of the signs on the eval split; None if too few queries have an answer.

        share(s) = sum of w over relevant documents with score s / sum of w over all documents with score s

    `IsotonicRegression` pools neighbouring scores until the shares ascend; then the closest shares are pooled until at
    most `MAX_STEPS` are left. A document is relevant if its grade is above 0. A list has all judged documents of its
    query, with w = 1, and a random sample of the others, each of which stands for

        w = (documents - judged documents of the list) / drawn documents of the list

    documents of the collection. Undrawn documents may outscore every drawn one. To account for them, an irrelevant
    document of weight mean(w) - 1 is added at the highest score; otherwise a few hundred drawn documents would show
    that the best scores of a million documents are all relevant.

    A query has an answer if its list has an MR document. For n such queries, each sign's limit is its k-th lowest
    value, k = floor(rate (n + 1)): fewer than k of the n queries are below it, and a new query of the same kind is
    below with a probability of at most rate. The rate is `ERROR_RATE`, or half of it for each of two signs. The best
    score in the whole collection is at least that of a list, so that a search marks no more queries.

    Args:
      scores: the exported ranker's scores of each list's documents: [lists], each float [list_size].
      grades: the grades of the same documents: [lists], each int [list_size].
      drawn: whether each document was drawn at random from the unjudged ones: [lists], each bool [list_size].
      documents: number of documents of the collection.
      top_grade: the MR grade.
      known_shares: the share of each query's terms that the ranker knows: float [lists]; None without matching words.
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
    # The import takes a second, and only a training needs it.
    from sklearn.isotonic import IsotonicRegression

    order = np.argsort(scores, kind="stable")
    scores, relevant, weights = scores[order], relevant[order], weights[order]
    fitted = IsotonicRegression().fit(scores, relevant, weights).predict(scores)
    starts = np.flatnonzero(np.diff(fitted, prepend=-1.0))
    for start, end in zip(starts, [*starts[1:], len(scores)], strict=True):
        w = weights[start:end]
        yield _Step(scores[start], scores[end - 1], float(relevant[start:end] @ w), float(w.sum()))


def _pooled(steps: list[_Step]) -> list[_Step]:
    """Pools the two neighbours with the closest shares until at most `MAX_STEPS` are left; each share stays a mean."""
    while len(steps) > MAX_STEPS:
        row = int(np.argmin(np.diff([step.share for step in steps])))
        lower, higher = steps[row : row + 2]
        pooled = _Step(lower.low, higher.high, lower.relevant + higher.relevant, lower.weight + higher.weight)
        steps[row : row + 2] = [pooled]
    return steps

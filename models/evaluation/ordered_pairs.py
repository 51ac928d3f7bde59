"""The share of a list's pairs of documents that a ranking puts in the right order."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from schemas.relevance import NOT_RELEVANT

CHANCE: Final = 0.5
"""The expected share under random order, and the value of a list without a pair."""


class OrderedPairs:
    """Share of the pairs of documents with different grades in which the higher grade ranks first.

        value = |{(i, j): grade_i > grade_j, rank_i < rank_j}| / |{(i, j): grade_i > grade_j}|

    It is 1 minus the ranking loss of Bai et al. 2009 (Polynomial Semantic Indexing, section 4) per list: they count the
    pairs of all queries together, where we weigh all queries equally. A list without a pair has the value of random
    order, 0.5. A pair with equal scores counts one half, see `models.evaluation.metrics`.

    `compute` has the signature of TF-Ranking's metrics, which lack this measure.

    Example:
      >>> values, _ = OrderedPairs().compute([[0, 2, 1, -1]], [[4, 3, 2, 1]])  # of MR-SR, MR-NR and SR-NR the first
      >>> values.tolist()
      [0.3333333333333333]
    """

    def compute(self, labels: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], Any]:
        """Computes the values.

        Args:
          labels: the grades, [lists, list_size], best-ranked first; negative ones are left out.
          scores: not read, as the labels are in ranked order.

        Returns:
          float [lists], and None instead of TF-Ranking's weights.
        """
        grades = np.asarray(labels)
        ordered, pairs = np.zeros(len(grades), np.int64), np.zeros(len(grades), np.int64)
        # Sums along the list instead of over all pairs: lists may be long, but have few grades.
        for grade in np.unique(grades[grades > NOT_RELEVANT]):
            higher, lower = grades == grade, (grades >= NOT_RELEVANT) & (grades < grade)
            higher_before = np.cumsum(higher, axis=1, dtype=np.int32)
            ordered += np.sum(higher_before, axis=1, where=lower, dtype=np.int64)
            pairs += np.count_nonzero(higher, axis=1) * np.count_nonzero(lower, axis=1)
        return np.where(pairs > 0, ordered / np.maximum(pairs, 1), CHANCE), None

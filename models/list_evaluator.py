"""Scores and metrics of a ranker on the lists of a split, while it trains."""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.lists import RankingLists
from models.metrics import mean_metrics, ranked_grades
from models.ranker import Ranker
from models.score_gradient import largest_score_gradient

SCORE_BINS: Final = np.linspace(-1.0, 1.0, 41)
"""Edges of the bins in which scores are counted; the last bin holds its right edge."""

_BATCH = 64


class EvalFigures(NamedTuple):
    """What an evaluation found."""

    metrics: dict[str, float]
    """The mean of each of the seven metrics (see `models.metrics`)."""
    score_counts: dict[str, list[int]]
    """Grade to the number of its scores in each bin of `SCORE_BINS`: the paper's Figure 3."""
    largest_score_gradient: float
    """See `models.score_gradient`."""


class ListEvaluator:
    """Scores the lists of a split with a ranker, compiled once for many epochs.

    Args:
      ranker: what scores.
      lists: the lists.
      top_grade: the MR grade.
    """

    def __init__(self, ranker: Ranker, lists: RankingLists, top_grade: int) -> None:
        self.top_grade = top_grade
        self._splits = lists.documents.row_splits.numpy()
        self._query_ids = lists.query_ids
        documents = lists.documents.flat_values.numpy()
        self._doc_ids = [ids.tolist() for ids in self._per_list(np.asarray(lists.doc_ids, object)[documents])]
        self._grades = self._per_list(lists.grades.flat_values.numpy().astype(np.int64))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def score(rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            features, _ = lists.batch(rows)
            mask = features["document_index"] >= 0
            query, documents = ranker.encode(features)
            scores = tf.boolean_mask(ranker.similarity(query, documents), mask)
            return scores, largest_score_gradient(ranker.similarity, query, documents, mask)

        self._score = score

    def _per_list(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        return np.split(values, self._splits[1:-1])

    def scores(self) -> tuple[list[npt.NDArray[np.float32]], float]:
        """float32 [list_size] for each list, in the lists' order, and the largest gradient of a score."""
        rows = np.arange(len(self._query_ids), dtype=np.int32)
        parts = [self._score(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
        scores = np.concatenate([part.numpy() for part, _ in parts])
        return self._per_list(scores), max(float(largest) for _, largest in parts)

    def evaluate(self) -> EvalFigures:
        """Scores every list and computes the figures.

        Raises:
          DataError: a score is NaN or infinite.
        """
        scores, largest_score_gradient = self.scores()
        ranked = ranked_grades(self._query_ids, self._doc_ids, scores, self._grades)
        all_scores, all_grades = np.clip(np.concatenate(scores), -1, 1), np.concatenate(self._grades)
        counts = {
            str(grade): np.histogram(all_scores[all_grades == grade], SCORE_BINS)[0].tolist()
            for grade in range(self.top_grade + 1)
        }
        return EvalFigures(mean_metrics(ranked, self.top_grade), counts, largest_score_gradient)

"""Scores and metrics of a ranker on the lists of a split, while it trains."""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.lists import RankingLists
from models.metrics import mean_metrics, ranked_grades
from models.ranker import Ranker

_BATCH = 64


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
        def score(rows: tf.Tensor) -> tf.Tensor:
            features, _ = lists.batch(rows)
            return tf.boolean_mask(ranker(features, training=False), features["document_index"] >= 0)

        self._score = score

    def _per_list(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        return np.split(values, self._splits[1:-1])

    def scores(self) -> list[npt.NDArray[np.float32]]:
        """float32 [list_size] for each list, in the lists' order."""
        starts = range(0, len(self._query_ids), _BATCH)
        rows = np.arange(len(self._query_ids), dtype=np.int32)
        return self._per_list(np.concatenate([self._score(rows[i : i + _BATCH]).numpy() for i in starts]))

    def metrics(self) -> dict[str, float]:
        """The mean of each of the seven metrics (see `models.metrics`).

        Raises:
          DataError: a score is NaN or infinite.
        """
        return mean_metrics(ranked_grades(self._query_ids, self._doc_ids, self.scores(), self._grades), self.top_grade)

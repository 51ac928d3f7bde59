"""Scores and metrics of a ranker on the lists of a split, while it trains."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.layers.smooth_cosine import SmoothCosine
from models.lists import RankingLists
from models.metrics import mean_metrics, ranked_grades
from models.ranker import Ranker
from models.score_gradient import largest_score_gradient
from schemas import features as f

_BATCH = 64
_ROUNDING = 1e-5
"""How far beyond 1 a cosine may come out in float32."""


def score_bins(limit: float) -> npt.NDArray[np.float64]:
    """Edges of the 40 bins of [-limit, limit] in which scores are counted; the last bin holds its right edge."""
    return np.linspace(-limit, limit, 41)


class EvalFigures(NamedTuple):
    """What an evaluation found."""

    metrics: dict[str, float]
    """The mean of each of the seven metrics (see `models.metrics`)."""
    scores: dict[str, Any]
    """The paper's Figure 3: `limit`, the largest magnitude of a score but at least 1, and `counts`, from each grade to
    the number of its scores in each of `score_bins(limit)`."""
    largest_score_gradient: float
    """See `models.score_gradient`."""
    largest_plain_cosine_gradient: float
    """What it would be for the plain cosine of the same vectors."""


class ListEvaluator:
    """Scores the lists of a split with a ranker, compiled once for many epochs.

    Args:
      ranker: what scores.
      lists: the lists.
      top_grade: the MR grade.
    """

    def __init__(self, ranker: Ranker, lists: RankingLists, top_grade: int) -> None:
        self.top_grade = top_grade
        self._lists = lists

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def score(rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            features, _ = lists.batch(rows)
            mask = features[f.DOCUMENT_INDEX] >= 0
            query, documents = ranker.encode(features)
            scores = tf.boolean_mask(ranker.similarity(query, documents), mask)
            gradients = [
                largest_score_gradient(similarity, query, documents, mask)
                for similarity in (ranker.similarity, SmoothCosine(epsilon=0.0))
            ]
            return scores, tf.stack(gradients)

        self._score = score

    def scores(self) -> tuple[list[npt.NDArray[np.float32]], npt.NDArray[np.float32]]:
        """float32 [list_size] for each list, in the lists' order, and the largest gradients: ours, plain cosine's."""
        rows = np.arange(len(self._lists), dtype=np.int32)
        parts = [self._score(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
        scores = np.concatenate([part.numpy() for part, _ in parts])
        return self._lists.split(scores), np.max([largest for _, largest in parts], axis=0)

    def evaluate(self) -> EvalFigures:
        """Scores every list and computes the figures.

        Raises:
          DataError: a score is NaN or infinite.
        """
        scores, gradients = self.scores()
        ranked = ranked_grades(self._lists.query_ids, self._lists.doc_ids, scores, self._lists.grades)
        all_scores, all_grades = np.concatenate(scores), np.concatenate(self._lists.grades)
        largest = float(np.abs(all_scores).max(initial=0.0))
        limit = largest if largest > 1 + _ROUNDING else 1.0
        all_scores = np.clip(all_scores, -limit, limit)
        counts = {
            str(grade): np.histogram(all_scores[all_grades == grade], score_bins(limit))[0].tolist()
            for grade in range(self.top_grade + 1)
        }
        metrics = mean_metrics(ranked, self.top_grade)
        return EvalFigures(metrics, {"limit": limit, "counts": counts}, *map(float, gradients))

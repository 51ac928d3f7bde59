"""Scores and metrics of a ranker on the lists of a split, during training."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.choices import SCORES
from models.evaluation.fit_number import EvalMetrics
from models.evaluation.list_metrics import list_metrics, means
from models.evaluation.metrics import with_metrics
from models.graphs import graph_function
from models.lists.ranking_lists import RankingLists
from models.rankers.ranker import Ranker
from schemas import features as f
from schemas.training_history import ScoreCounts

_BATCH = 64
CHANNEL_METRICS: Final = EvalMetrics._fields
"""The metrics of single channels, which reveal a channel that learns nothing."""


def score_bins(limit: float) -> npt.NDArray[np.float64]:
    """Returns the edges of 40 bins of scores in [-limit, limit]; the last bin includes its right edge."""
    return np.linspace(-limit, limit, 41)


class EvalFigures(NamedTuple):
    """The figures of an evaluation."""

    metrics: dict[str, float]
    """The mean of each metric (see `models.evaluation.metrics`)."""
    channels: dict[str, dict[str, float]]
    """The means of `CHANNEL_METRICS` of each channel on its own, by name; empty for a single channel."""
    scores: ScoreCounts
    """Counts of scores; the limit is the largest magnitude of a score, at least 1 and at most the ranker's bound."""
    watched: dict[str, float]
    """The largest of each figure of `Ranker.score_and_watch`."""


class ListEvaluator:
    """Scores the lists of a split with a ranker, compiled once for many epochs; has the length of the lists.

    Args:
      ranker: the ranker.
      lists: the lists.
      top_grade: the MR grade.
      metrics: keys of metrics in addition to `METRICS`.
    """

    def __init__(self, ranker: Ranker, lists: RankingLists, top_grade: int, metrics: Sequence[str] = ()) -> None:
        self._ranker, self._lists, self._top_grade = ranker, lists, top_grade
        self._metrics = with_metrics(*metrics)

        @graph_function(input_signature=[tf.TensorSpec([None], tf.int32)])
        def score(rows: tf.Tensor) -> tuple[dict[str, tf.Tensor], dict[str, tf.Tensor]]:
            features, _ = lists.batch(rows)
            scores, watched = ranker.score_and_watch(features)
            is_document = features[f.DOCUMENT_INDEX] >= 0
            return {name: tf.boolean_mask(values, is_document) for name, values in scores.items()}, watched

        self._score = score

    def __len__(self) -> int:
        return len(self._lists)

    def scores(self) -> list[npt.NDArray[np.float32]]:
        """Returns float32 [list_size] for each list, in order."""
        return self._scores_and_figures()[0][SCORES]

    def _scores_and_figures(self) -> tuple[dict[str, list[npt.NDArray[np.float32]]], dict[str, float]]:
        """Returns all scores by the names of `Ranker.score_and_watch`, and the largest of each watched figure."""
        rows = np.arange(len(self), dtype=np.int32)
        parts = [self._score(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
        names, figure_names = parts[0]
        scores = {name: np.concatenate([batch[name].numpy() for batch, _ in parts]) for name in names}
        watched = {name: float(max(float(figures[name]) for _, figures in parts)) for name in figure_names}
        return {name: self._lists.split(values) for name, values in scores.items()}, watched

    def evaluate(self) -> EvalFigures:
        """Scores every list and computes the figures.

        Raises:
          DataError: a score is NaN or infinite.
        """
        channels, watched = self._scores_and_figures()
        scores = channels.pop(SCORES)
        metrics = means(list_metrics(self._lists, scores, self._top_grade, self._metrics))
        alone = {
            name: means(list_metrics(self._lists, channel_scores, self._top_grade, CHANNEL_METRICS))
            for name, channel_scores in channels.items()
            if len(channels) > 1
        }
        return EvalFigures(metrics, alone, self._counted(scores), watched)

    def count_scores(self) -> ScoreCounts:
        """Scores every list and counts the scores of each grade."""
        return self._counted(self.scores())

    def _counted(self, scores: Sequence[npt.NDArray[np.float32]]) -> ScoreCounts:
        all_scores, all_grades = np.concatenate(scores), np.concatenate(self._lists.grades)
        largest = max(map(abs, self._ranker.score_range))
        limit = min(largest, max(1.0, float(np.abs(all_scores).max(initial=0.0))))
        all_scores = np.clip(all_scores, -limit, limit)  # float32 may round a score beyond its bound
        counts = {
            str(grade): np.histogram(all_scores[all_grades == grade], score_bins(limit))[0].tolist()
            for grade in range(self._top_grade + 1)
        }
        return ScoreCounts(limit=limit, counts=counts)

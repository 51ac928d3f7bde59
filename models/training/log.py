"""The history of a training for TensorBoard."""

import numpy as np
import tensorflow as tf

from models.training.list_evaluator import score_bins
from schemas.relevance import grade_name
from schemas.training_history import Epoch

_HISTOGRAM = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="histograms"))

# Flushing waits for the disk, which may take longer than an epoch of a small collection.
_FLUSH_MILLISECONDS = 10_000


class TrainingLog:
    """Writes the epochs of a training's history as scalars and histograms.

    Args:
      folder: folder of the events; None writes nothing.
    """

    def __init__(self, folder: str | None) -> None:
        self._writer = (
            tf.summary.create_noop_writer()
            if folder is None
            else tf.summary.create_file_writer(folder, flush_millis=_FLUSH_MILLISECONDS)
        )

    def close(self) -> None:
        """Writes what is left."""
        self._writer.close()

    def write(self, epoch: Epoch) -> None:
        """Writes one epoch."""
        with self._writer.as_default(step=epoch.epoch):
            for name, value in epoch.figures.items():
                tf.summary.scalar(name, value)
            top_grade = max(map(int, epoch.scores.counts), default=0)
            for grade, counts in epoch.scores.counts.items():
                _write_histogram(f"scores/{grade_name(int(grade), top_grade)}", counts, epoch.scores.limit)


def _write_histogram(tag: str, counts: list[int], limit: float) -> None:
    """Writes a histogram from counts; TensorFlow's own function takes the values."""
    bins = score_bins(limit)
    buckets = np.stack([bins[:-1], bins[1:], np.asarray(counts, np.float64)], axis=1)
    tf.summary.write(tag, buckets, metadata=_HISTOGRAM)

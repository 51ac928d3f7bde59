"""The history of a training as TensorBoard shows it."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final

import numpy as np
import tensorflow as tf

from models.list_evaluator import score_bins

SCORES: Final = "scores"
"""Key of a row's score counts; its other values, but the epoch, are scalars."""

_HISTOGRAM = tf.compat.v1.SummaryMetadata(plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="histograms"))

# Flushing waits for the disk: an epoch of a small collection takes less time than that may.
_FLUSH_MILLISECONDS = 10_000


class TrainingLog:
    """Writes rows of a training's history, each an epoch, as scalars and histograms.

    Args:
      folder: where the events go.
    """

    def __init__(self, folder: str) -> None:
        self._writer = tf.summary.create_file_writer(folder, flush_millis=_FLUSH_MILLISECONDS)

    def __enter__(self) -> "TrainingLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def write(self, row: Mapping[str, Any]) -> None:
        """Writes one epoch.

        Args:
          row: `epoch`, scalars by name, and under `SCORES` what `EvalFigures.scores` holds.
        """
        with self._writer.as_default(step=row["epoch"]):
            for key, value in row.items():
                if key == SCORES:
                    for grade, counts in value["counts"].items():
                        _write_histogram(f"{SCORES}/grade_{grade}", counts, value["limit"])
                elif key != "epoch":
                    tf.summary.scalar(key, value)


def _write_histogram(tag: str, counts: list[int], limit: float) -> None:
    """A histogram of counts that are already made; TensorFlow's own takes the values."""
    bins = score_bins(limit)
    buckets = np.stack([bins[:-1], bins[1:], np.asarray(counts, np.float64)], axis=1)
    tf.summary.write(tag, buckets, metadata=_HISTOGRAM)

"""TFDV's statistics of examples, in one process."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import tensorflow as tf
import tensorflow_data_validation as tfdv
from tensorflow_data_validation.statistics import stats_impl
from tensorflow_metadata.proto.v0 import statistics_pb2
from tfx_bsl.coders.example_coder import ExamplesToRecordBatchDecoder

_EXAMPLES: Final = 64
"""Read at a time."""


def statistics_of(files: Iterable[str], options: tfdv.StatsOptions) -> statistics_pb2.DatasetFeatureStatisticsList:
    """The statistics that `tfdv.GenerateStatistics` gives.

    The most frequent values of a feature, and how many it has, are estimates where it has more than 16,000: as in
    Beam's workers with `use_sketch_based_topk_uniques`.

    Args:
      files: gzipped TFRecords of examples.
      options: which features, and what of them.
    """
    generators = stats_impl.get_generators(options, in_memory=True)

    # No example first: where there are no others, there are statistics of none.
    accumulated = [generator.create_accumulator() for generator in generators]
    for batch in _batches(files):
        partial = stats_impl.generate_partial_statistics_in_memory(batch, options, generators)
        accumulated = [
            generator.merge_accumulators([before, one])
            for generator, before, one in zip(generators, accumulated, partial, strict=True)
        ]
    return stats_impl.extract_statistics_output(accumulated, generators)


def _batches(files: Iterable[str]) -> Iterator[Any]:
    """Record batches of Arrow's."""
    decoder = ExamplesToRecordBatchDecoder()
    for examples in tf.data.TFRecordDataset(sorted(files), "GZIP").batch(_EXAMPLES):
        yield decoder.DecodeBatch(examples.numpy().tolist())

"""The stage StatisticsGen: TFX's on the workers of a Beam runner, and a plain loop in one process."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import tensorflow as tf
import tensorflow_data_validation as tfdv
from tensorflow_data_validation.statistics import stats_impl
from tensorflow_metadata.proto.v0 import statistics_pb2
from tfx import types
from tfx.components.statistics_gen import component, executor
from tfx.dsl.components.base import executor_spec
from tfx.dsl.io import fileio
from tfx.types import artifact_utils, channel, standard_component_specs
from tfx.utils import io_utils
from tfx_bsl.coders.example_coder import ExamplesToRecordBatchDecoder

from components.on_workers import has_workers
from schemas import file_system

_FILE: Final = "FeatureStats.pb"  # the name that TFX's own gives it
_EXAMPLES: Final = 64
"""The number of examples that are read at a time."""


class Executor(executor.Executor):
    """Computes what TFX's executor computes, with the same generators, without Beam's seconds for every split."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        if has_workers(self):
            super().Do(input_dict, output_dict, exec_properties)
            return
        keys = standard_component_specs
        examples = artifact_utils.get_single_instance(input_dict[keys.EXAMPLES_KEY])
        statistics = artifact_utils.get_single_instance(output_dict[keys.STATISTICS_KEY])
        statistics.split_names = examples.split_names
        options = tfdv.StatsOptions.from_json(exec_properties[keys.STATS_OPTIONS_JSON_KEY])
        for split in artifact_utils.decode_split_names(examples.split_names):
            files = fileio.glob(io_utils.all_files_pattern(artifact_utils.get_split_uri([examples], split)))
            folder = artifact_utils.get_split_uri([statistics], split)
            fileio.makedirs(folder)
            with file_system.open_file(os.path.join(folder, _FILE), "wb") as file:
                file.write(_statistics(files, options).SerializeToString())


class StatisticsGen(component.StatisticsGen):
    """Computes statistics of every split, as TFX's does; it has only the arguments that our executor knows.

    Args:
      examples: Examples.
      features: names of the features that get statistics.

    Outputs:
      statistics: ExampleStatistics.
    """

    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: channel.BaseChannel, features: Sequence[str]) -> None:
        options = tfdv.StatsOptions(feature_allowlist=list(features), use_sketch_based_topk_uniques=True)
        super().__init__(examples=examples, stats_options=options)


def _statistics(files: Iterable[str], options: tfdv.StatsOptions) -> statistics_pb2.DatasetFeatureStatisticsList:
    """Computes in one process what `tfdv.GenerateStatistics` computes.

    The most frequent values of a feature, and their number, are estimates where a feature has more than 16,000 values:
    as in Beam's workers with `use_sketch_based_topk_uniques`.
    """
    generators = stats_impl.get_generators(options, in_memory=True)
    # Starts from empty accumulators, so that a split without examples has statistics, too.
    accumulated = [generator.create_accumulator() for generator in generators]
    for batch in _batches(files):
        partial = stats_impl.generate_partial_statistics_in_memory(batch, options, generators)
        accumulated = [
            generator.merge_accumulators([before, new])
            for generator, before, new in zip(generators, accumulated, partial, strict=True)
        ]
    return stats_impl.extract_statistics_output(accumulated, generators)


def _batches(files: Iterable[str]) -> Iterator[Any]:
    """Arrow record batches of the examples."""
    decoder = ExamplesToRecordBatchDecoder()
    for examples in tf.data.TFRecordDataset(sorted(files), "GZIP").batch(_EXAMPLES):
        yield decoder.DecodeBatch(examples.numpy().tolist())

"""The StatisticsGen component: TFX's own, with our executor."""

from collections.abc import Sequence

import tensorflow_data_validation as tfdv
from tfx.components.statistics_gen import component
from tfx.dsl.components.base import executor_spec
from tfx.types import channel

from components.statistics_gen.executor import Executor


class StatisticsGen(component.StatisticsGen):
    """Computes statistics of every split, as TFX's does; it takes those of its arguments that our executor knows.

    Args:
      examples: Examples.
      features: names of the features that statistics are of.

    Outputs:
      statistics: ExampleStatistics.
    """

    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: channel.BaseChannel, features: Sequence[str]) -> None:
        options = tfdv.StatsOptions(feature_allowlist=list(features), use_sketch_based_topk_uniques=True)
        super().__init__(examples=examples, stats_options=options)

"""The StatisticsGen component: TFX's own, with our executor."""

from tfx.components.statistics_gen import component
from tfx.dsl.components.base import executor_spec

from components.statistics_gen.executor import Executor


class StatisticsGen(component.StatisticsGen):
    """Computes statistics of every split; arguments and outputs are those of TFX's."""

    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

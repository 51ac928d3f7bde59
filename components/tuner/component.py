"""The Tuner component's contract: TFX's own, with our executor."""

from tfx.components.tuner import component
from tfx.dsl.components.base import executor_spec

from components.tuner.executor import Executor


class Tuner(component.Tuner):
    """TFX's Tuner, except that its results hold the trials that failed, too."""

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

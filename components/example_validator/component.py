"""The strict ExampleValidator component's contract: TFX's own, with our executor."""

from tfx.components.example_validator import component
from tfx.dsl.components.base import executor_spec

from components.example_validator.executor import Executor


class ExampleValidator(component.ExampleValidator):
    """TFX's ExampleValidator, except that an anomaly stops the run, in words."""

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

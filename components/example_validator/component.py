"""The strict ExampleValidator component's contract: TFX's own with our executor, and a digest of its code."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts, standard_component_specs

from components.example_validator.executor import CODE_KEY, Executor


class ExampleValidatorSpec(standard_component_specs.ExampleValidatorSpec):
    """TFX's specification, and a digest: TFX's cache key does not know the executor's code."""

    PARAMETERS = {
        **standard_component_specs.ExampleValidatorSpec.PARAMETERS,
        CODE_KEY: component_spec.ExecutionParameter(type=str),
    }


class ExampleValidator(base_component.BaseComponent):
    """TFX's ExampleValidator, except that an anomaly stops the run, in words.

    Args:
      statistics: ExampleStatistics of every split.
      schema: the Schema that they must fit.
      code: digest of the code that does the work.

    Outputs:
      anomalies: ExampleAnomalies; none, or the stage has failed.
    """

    SPEC_CLASS = ExampleValidatorSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, statistics: channel.BaseChannel, schema: channel.BaseChannel, code: str) -> None:
        key = standard_component_specs.ANOMALIES_KEY
        anomalies = channel.OutputChannel(standard_artifacts.ExampleAnomalies, self, key)
        super().__init__(ExampleValidatorSpec(statistics=statistics, schema=schema, code=code, **{key: anomalies}))

"""The TrainedBaseline component's contract."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.trained_baseline.executor import EXAMPLES_KEY, MODEL_KEY, RUN_KEY, TAG_KEY, Executor
from schemas.artifacts import RankingRun


class TrainedBaselineSpec(component_spec.ComponentSpec):
    """Parameters, inputs and outputs of TrainedBaseline."""

    PARAMETERS = {TAG_KEY: component_spec.ExecutionParameter(type=str)}
    INPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        MODEL_KEY: component_spec.ChannelParameter(type=standard_artifacts.Model),
    }
    OUTPUTS = {RUN_KEY: component_spec.ChannelParameter(type=RankingRun)}


class TrainedBaseline(base_component.BaseComponent):
    """Ranks the test lists by a model that is not the run's own.

    Args:
      examples: listwise Examples with a test split, as texts.
      model: an exported Model.
      tag: what the evaluation calls it.

    Outputs:
      run: RankingRun.
    """

    SPEC_CLASS = TrainedBaselineSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, examples: channel.BaseChannel, model: channel.BaseChannel, tag: str) -> None:
        super().__init__(
            TrainedBaselineSpec(
                **{
                    EXAMPLES_KEY: examples,
                    MODEL_KEY: model,
                    TAG_KEY: tag,
                    RUN_KEY: channel.OutputChannel(RankingRun, self, RUN_KEY),
                }
            )
        )

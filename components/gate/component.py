"""The Gate component's contract."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.gate.executor import (
    BLESSING_KEY,
    EVALUATION_KEY,
    EXAMPLES_KEY,
    MODEL_KEY,
    SERVING_KEY,
    SETTINGS_KEY,
    TOP_GRADE_KEY,
    USED_NEGATIVES_KEY,
    Executor,
)


class GateSpec(component_spec.ComponentSpec):
    """Parameters, inputs and outputs of Gate."""

    PARAMETERS = {
        TOP_GRADE_KEY: component_spec.ExecutionParameter(type=int),
        USED_NEGATIVES_KEY: component_spec.ExecutionParameter(type=int, optional=True),
        SETTINGS_KEY: component_spec.ExecutionParameter(type=str),
        SERVING_KEY: component_spec.ExecutionParameter(type=str),
    }
    INPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        MODEL_KEY: component_spec.ChannelParameter(type=standard_artifacts.Model),
        EVALUATION_KEY: component_spec.ChannelParameter(type=standard_artifacts.ModelEvaluation),
    }
    OUTPUTS = {BLESSING_KEY: component_spec.ChannelParameter(type=standard_artifacts.ModelBlessing)}


class Gate(base_component.BaseComponent):
    """Blesses a model, or not, by its metrics, and by those of the last pushed model on the same lists.

    It must run on every run, whatever the cache holds: the last pushed model may be another by then.

    Args:
      examples: listwise Examples with a test split, as texts.
      model: the exported Model.
      evaluation: its ModelEvaluation.
      top_grade: the MR grade.
      used_negatives: how many NR documents of a list count; None for all.
      settings: `EvaluationSettings` as JSON.
      serving: folder of the pushed versions.

    Outputs:
      blessing: ModelBlessing, with the reason in `verdict.json`.
    """

    SPEC_CLASS = GateSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        examples: channel.BaseChannel,
        model: channel.BaseChannel,
        evaluation: channel.BaseChannel,
        top_grade: int,
        used_negatives: int | None,
        settings: str,
        serving: str,
    ) -> None:
        super().__init__(
            GateSpec(
                **{
                    EXAMPLES_KEY: examples,
                    MODEL_KEY: model,
                    EVALUATION_KEY: evaluation,
                    TOP_GRADE_KEY: top_grade,
                    USED_NEGATIVES_KEY: used_negatives,
                    SETTINGS_KEY: settings,
                    SERVING_KEY: serving,
                    BLESSING_KEY: channel.OutputChannel(standard_artifacts.ModelBlessing, self, BLESSING_KEY),
                }
            )
        )

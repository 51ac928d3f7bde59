"""The atomic Pusher component's contract: TFX's own, with our executor, and what card and warm-up are made of."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.proto import pusher_pb2
from tfx.types import channel, component_spec, standard_artifacts, standard_component_specs

from components.pusher.executor import (
    DATA_REPORT_KEY,
    EVALUATION_KEY,
    EXAMPLES_KEY,
    MODEL_RUN_KEY,
    SETTINGS_KEY,
    Executor,
)
from schemas.artifacts import IngestionReport


class PusherSpec(standard_component_specs.PusherSpec):
    """Parameters, inputs and output of Pusher."""

    PARAMETERS = {
        **standard_component_specs.PusherSpec.PARAMETERS,
        SETTINGS_KEY: component_spec.ExecutionParameter(type=str),
    }
    INPUTS = {
        **standard_component_specs.PusherSpec.INPUTS,
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        DATA_REPORT_KEY: component_spec.ChannelParameter(type=IngestionReport),
        MODEL_RUN_KEY: component_spec.ChannelParameter(type=standard_artifacts.ModelRun),
        EVALUATION_KEY: component_spec.ChannelParameter(type=standard_artifacts.ModelEvaluation),
    }


class Pusher(base_component.BaseComponent):
    """TFX's Pusher, except that a half-copied version is never visible, and that a version has card and warm-up.

    Args:
      model: the exported Model.
      model_blessing: Gate's.
      examples: listwise Examples with an eval split, as texts.
      data_report: WikiClirExampleGen's.
      model_run: the Trainer's.
      evaluation: the Evaluator's.
      settings: the run's configuration as JSON, its paths reduced to names.
      serving: folder of the versions.

    Outputs:
      pushed_model: PushedModel.
    """

    SPEC_CLASS = PusherSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        model: channel.BaseChannel,
        model_blessing: channel.BaseChannel,
        examples: channel.BaseChannel,
        data_report: channel.BaseChannel,
        model_run: channel.BaseChannel,
        evaluation: channel.BaseChannel,
        settings: str,
        serving: str,
    ) -> None:
        pushed = standard_component_specs.PUSHED_MODEL_KEY
        super().__init__(
            PusherSpec(
                **{
                    standard_component_specs.MODEL_KEY: model,
                    standard_component_specs.MODEL_BLESSING_KEY: model_blessing,
                    EXAMPLES_KEY: examples,
                    DATA_REPORT_KEY: data_report,
                    MODEL_RUN_KEY: model_run,
                    EVALUATION_KEY: evaluation,
                    SETTINGS_KEY: settings,
                    standard_component_specs.PUSH_DESTINATION_KEY: pusher_pb2.PushDestination(
                        filesystem=pusher_pb2.PushDestination.Filesystem(base_directory=serving)
                    ),
                    pushed: channel.OutputChannel(standard_artifacts.PushedModel, self, pushed),
                }
            )
        )

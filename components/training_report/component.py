"""The TrainingReport component's contract."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.training_report.executor import (
    LOSS_KEY,
    MODEL_KEY,
    MODEL_RUN_KEY,
    REPORT_KEY,
    TRAINING_KEY,
    TUNER_RESULTS_KEY,
    Executor,
)
from schemas.artifacts import TrainingReport as TrainingReportArtifact


class TrainingReportSpec(component_spec.ComponentSpec):
    """Parameters, inputs and output of TrainingReport."""

    PARAMETERS = {
        MODEL_KEY: component_spec.ExecutionParameter(type=str),
        LOSS_KEY: component_spec.ExecutionParameter(type=str),
        TRAINING_KEY: component_spec.ExecutionParameter(type=str),
    }
    INPUTS = {
        MODEL_RUN_KEY: component_spec.ChannelParameter(type=standard_artifacts.ModelRun),
        TUNER_RESULTS_KEY: component_spec.ChannelParameter(type=standard_artifacts.TunerResults, optional=True),
    }
    OUTPUTS = {REPORT_KEY: component_spec.ChannelParameter(type=TrainingReportArtifact)}


class TrainingReport(base_component.BaseComponent):
    """Tells what a training came to: its history, its stability, and the search before it.

    A stage of its own, so that every orchestrator has it, and a change of its words, or of the theory, trains nothing.

    Args:
      model_run: the Trainer's.
      model, loss, training: the sections of the settings, as JSON.
      tuner_results: the Tuner's, if there was a search; its best trial's values stand for those of the settings.

    Outputs:
      report: TrainingReport.
    """

    SPEC_CLASS = TrainingReportSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        model_run: channel.BaseChannel,
        model: str,
        loss: str,
        training: str,
        tuner_results: channel.BaseChannel | None = None,
    ) -> None:
        super().__init__(
            TrainingReportSpec(
                **{
                    MODEL_RUN_KEY: model_run,
                    TUNER_RESULTS_KEY: tuner_results,
                    MODEL_KEY: model,
                    LOSS_KEY: loss,
                    TRAINING_KEY: training,
                    REPORT_KEY: channel.OutputChannel(TrainingReportArtifact, self, REPORT_KEY),
                }
            )
        )

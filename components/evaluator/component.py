"""The Evaluator component's contract."""

from collections.abc import Mapping

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.evaluator.executor import (
    BASELINE_KEYS,
    EVALUATION_KEY,
    EXAMPLES_KEY,
    FEEDBACK_KEY,
    MODEL_KEY,
    TOP_GRADE_KEY,
    USED_NEGATIVES_KEY,
    Executor,
)
from schemas.artifacts import RankingRun


class EvaluatorSpec(component_spec.ComponentSpec):
    """Parameters, inputs and outputs of Evaluator."""

    PARAMETERS = {
        TOP_GRADE_KEY: component_spec.ExecutionParameter(type=int),
        USED_NEGATIVES_KEY: component_spec.ExecutionParameter(type=int, optional=True),
        FEEDBACK_KEY: component_spec.ExecutionParameter(type=float, optional=True),
    }
    INPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        MODEL_KEY: component_spec.ChannelParameter(type=standard_artifacts.Model),
        **{key: component_spec.ChannelParameter(type=RankingRun, optional=True) for key in BASELINE_KEYS.values()},
    }
    OUTPUTS = {EVALUATION_KEY: component_spec.ChannelParameter(type=standard_artifacts.ModelEvaluation)}


class Evaluator(base_component.BaseComponent):
    """Computes the paper's metrics of a model on the test split, beside the baselines.

    Args:
      examples: listwise Examples with a test split, as texts, and a train split, whose judgments tell which documents
        were seen.
      model: the exported Model; its own `score` signature does the scoring.
      baselines: name (see `BASELINE_KEYS`) to a RankingRun of the same lists, to stand beside the model, where it is
        named by the tag in its run file.
      top_grade: the MR grade.
      used_negatives: how many NR documents of a list count; None for all.
      feedback: gain of the model's second pass over each list, see `models.retrieval.document_ranker`; 0 for none.

    Outputs:
      evaluation: ModelEvaluation: metrics.json, per_query.tsv, run.trec and qrels.trec.
    """

    SPEC_CLASS = EvaluatorSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        examples: channel.BaseChannel,
        model: channel.BaseChannel,
        baselines: Mapping[str, channel.BaseChannel],
        top_grade: int,
        used_negatives: int | None,
        feedback: float = 0.0,
    ) -> None:
        super().__init__(
            EvaluatorSpec(
                **{
                    EXAMPLES_KEY: examples,
                    MODEL_KEY: model,
                    **{BASELINE_KEYS[name]: run for name, run in baselines.items()},
                    TOP_GRADE_KEY: top_grade,
                    USED_NEGATIVES_KEY: used_negatives,
                    FEEDBACK_KEY: feedback,
                    EVALUATION_KEY: channel.OutputChannel(standard_artifacts.ModelEvaluation, self, EVALUATION_KEY),
                }
            )
        )

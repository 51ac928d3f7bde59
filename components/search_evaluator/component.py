"""The SearchEvaluator component's contract."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.search_evaluator.executor import (
    COLLECTION_KEY,
    EVALUATION_KEY,
    EXAMPLES_KEY,
    INDEX_KEY,
    MAX_TOKENS_KEY,
    MODEL_KEY,
    SEARCH_EVALUATION_KEY,
    TOP_GRADE_KEY,
    Executor,
)
from schemas.artifacts import Collection, CorpusIndex, SearchEvaluation


class SearchEvaluatorSpec(component_spec.ComponentSpec):
    """Parameters, inputs and output of SearchEvaluator."""

    PARAMETERS = {
        TOP_GRADE_KEY: component_spec.ExecutionParameter(type=int),
        MAX_TOKENS_KEY: component_spec.ExecutionParameter(type=int),
    }
    INPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        MODEL_KEY: component_spec.ChannelParameter(type=standard_artifacts.Model),
        INDEX_KEY: component_spec.ChannelParameter(type=CorpusIndex),
        COLLECTION_KEY: component_spec.ChannelParameter(type=Collection),
        EVALUATION_KEY: component_spec.ChannelParameter(type=standard_artifacts.ModelEvaluation),
    }
    OUTPUTS = {SEARCH_EVALUATION_KEY: component_spec.ChannelParameter(type=SearchEvaluation)}


class SearchEvaluator(base_component.BaseComponent):
    """Searches the whole collection for the test queries, and computes metrics of what is found.

    Args:
      examples: listwise Examples with a test split: queries, and the judgments of their documents.
      model: the exported Model; its score is an inner product.
      index: the CorpusIndex that it made.
      collection: the Collection that is indexed, for BM25.
      evaluation: the ModelEvaluation of the same model on the test lists, to stand beside.
      top_grade: the MR grade.
      max_tokens: the model's limit on a text.

    Outputs:
      search_evaluation: SearchEvaluation: search.json, search_per_query.tsv and search_run.trec.
    """

    SPEC_CLASS = SearchEvaluatorSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(
        self,
        examples: channel.BaseChannel,
        model: channel.BaseChannel,
        index: channel.BaseChannel,
        collection: channel.BaseChannel,
        evaluation: channel.BaseChannel,
        top_grade: int,
        max_tokens: int,
    ) -> None:
        super().__init__(
            SearchEvaluatorSpec(
                **{
                    EXAMPLES_KEY: examples,
                    MODEL_KEY: model,
                    INDEX_KEY: index,
                    COLLECTION_KEY: collection,
                    EVALUATION_KEY: evaluation,
                    TOP_GRADE_KEY: top_grade,
                    MAX_TOKENS_KEY: max_tokens,
                    SEARCH_EVALUATION_KEY: channel.OutputChannel(SearchEvaluation, self, SEARCH_EVALUATION_KEY),
                }
            )
        )

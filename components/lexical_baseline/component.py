"""The LexicalBaseline component's contract."""

from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.lexical_baseline.executor import (
    COLLECTION_KEY,
    EXAMPLES_KEY,
    MAX_TOKENS_KEY,
    RUN_KEY,
    Executor,
)
from schemas.artifacts import Collection, RankingRun


class LexicalBaselineSpec(component_spec.ComponentSpec):
    """Parameters, inputs and outputs of LexicalBaseline."""

    PARAMETERS = {
        MAX_TOKENS_KEY: component_spec.ExecutionParameter(type=int),
    }
    INPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        COLLECTION_KEY: component_spec.ChannelParameter(type=Collection),
    }
    OUTPUTS = {RUN_KEY: component_spec.ChannelParameter(type=RankingRun)}


class LexicalBaseline(base_beam_component.BaseBeamComponent):
    """Ranks the test lists by BM25 without translation.

    Args:
      examples: listwise Examples with a test split.
      collection: Collection, the statistics of whose documents BM25 uses.
      max_tokens: the model's limit on a text.

    Outputs:
      run: RankingRun.
    """

    SPEC_CLASS = LexicalBaselineSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, examples: channel.BaseChannel, collection: channel.BaseChannel, max_tokens: int) -> None:
        super().__init__(
            LexicalBaselineSpec(
                **{
                    EXAMPLES_KEY: examples,
                    COLLECTION_KEY: collection,
                    MAX_TOKENS_KEY: max_tokens,
                    RUN_KEY: channel.OutputChannel(RankingRun, self, RUN_KEY),
                }
            )
        )

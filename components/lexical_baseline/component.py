"""The LexicalBaseline component's contract."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.lexical_baseline.executor import (
    CODE_KEY,
    DIGEST_KEY,
    DOCUMENTS_KEY,
    EXAMPLES_KEY,
    MAX_TOKENS_KEY,
    RUN_KEY,
    Executor,
)
from schemas.artifacts import RankingRun


class LexicalBaselineSpec(component_spec.ComponentSpec):
    """Parameters, inputs and outputs of LexicalBaseline."""

    PARAMETERS = {
        DOCUMENTS_KEY: component_spec.ExecutionParameter(type=str),
        DIGEST_KEY: component_spec.ExecutionParameter(type=str),
        MAX_TOKENS_KEY: component_spec.ExecutionParameter(type=int),
        CODE_KEY: component_spec.ExecutionParameter(type=str),
    }
    INPUTS = {EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples)}
    OUTPUTS = {RUN_KEY: component_spec.ChannelParameter(type=RankingRun)}


class LexicalBaseline(base_component.BaseComponent):
    """Ranks the test lists by BM25 without translation.

    Args:
      examples: listwise Examples with a test split.
      documents: path of the collection's documents, whose statistics BM25 uses.
      digest: their SHA-256.
      max_tokens: the model's limit on a text.
      code: digest of the code that does the work.

    Outputs:
      run: RankingRun.
    """

    SPEC_CLASS = LexicalBaselineSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, examples: channel.BaseChannel, documents: str, digest: str, max_tokens: int, code: str) -> None:
        super().__init__(
            LexicalBaselineSpec(
                **{
                    EXAMPLES_KEY: examples,
                    DOCUMENTS_KEY: documents,
                    DIGEST_KEY: digest,
                    MAX_TOKENS_KEY: max_tokens,
                    CODE_KEY: code,
                    RUN_KEY: channel.OutputChannel(RankingRun, self, RUN_KEY),
                }
            )
        )

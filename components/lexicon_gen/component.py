"""The LexiconGen component's contract."""

from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.lexicon_gen.executor import (
    COLLECTION_KEY,
    EXAMPLES_KEY,
    LEXICON_KEY,
    SETTINGS_KEY,
    WIKICLIR_FILES_KEY,
    Executor,
)
from schemas.artifacts import Collection, Lexicon, WikiClirFiles


class LexiconGenSpec(component_spec.ComponentSpec):
    """Parameters, inputs and output of LexiconGen."""

    PARAMETERS = {SETTINGS_KEY: component_spec.ExecutionParameter(type=str)}
    INPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        COLLECTION_KEY: component_spec.ChannelParameter(type=Collection),
        WIKICLIR_FILES_KEY: component_spec.ChannelParameter(type=WikiClirFiles, optional=True),
    }
    OUTPUTS = {LEXICON_KEY: component_spec.ChannelParameter(type=Lexicon)}


class LexiconGen(base_beam_component.BaseBeamComponent):
    """Learns which words of the two languages translate each other, and counts those of the collection.

    Args:
      examples: listwise Examples with a train split, as texts.
      collection: Collection, the statistics of whose documents the channel uses.
      settings: JSON object: kind, query_language, document_language, max_tokens, top_grade, max_bad_share, pairs (the
        paths of further pairs of texts), and sha256 (of these).
      wikiclir_files: WikiClirFiles, from whose titles to learn, too, if they were made of dumps.

    Outputs:
      lexicon: Lexicon.
    """

    SPEC_CLASS = LexiconGenSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self,
        examples: channel.BaseChannel,
        collection: channel.BaseChannel,
        settings: str,
        wikiclir_files: channel.BaseChannel | None = None,
    ) -> None:
        super().__init__(
            LexiconGenSpec(
                **{
                    EXAMPLES_KEY: examples,
                    COLLECTION_KEY: collection,
                    **({WIKICLIR_FILES_KEY: wikiclir_files} if wikiclir_files else {}),
                    SETTINGS_KEY: settings,
                    LEXICON_KEY: channel.OutputChannel(Lexicon, self, LEXICON_KEY),
                }
            )
        )

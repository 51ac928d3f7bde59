"""The WikipediaGen component's contract."""

from typing import Any

from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import channel, component_spec

from components.wikipedia_gen.executor import (
    DIGESTS_KEY,
    FILES_KEY,
    LANGUAGES_KEY,
    SETTINGS_KEY,
    UNFINISHED_KEY,
    WIKICLIR_FILES_KEY,
    Executor,
)
from schemas.artifacts import WikiClirFiles


class WikipediaGenSpec(component_spec.ComponentSpec):
    """Parameters and output of WikipediaGen."""

    PARAMETERS = {
        FILES_KEY: component_spec.ExecutionParameter(type=str),
        DIGESTS_KEY: component_spec.ExecutionParameter(type=str),
        LANGUAGES_KEY: component_spec.ExecutionParameter(type=str),
        SETTINGS_KEY: component_spec.ExecutionParameter(type=str),
        UNFINISHED_KEY: component_spec.ExecutionParameter(type=str),
    }
    INPUTS: dict[str, Any] = {}
    OUTPUTS = {WIKICLIR_FILES_KEY: component_spec.ChannelParameter(type=WikiClirFiles)}


class WikipediaGen(base_beam_component.BaseBeamComponent):
    """Makes queries, documents and judgments of the dumps of two wikis.

    Args:
      files: JSON object, key of an input (see `WikipediaSettings.paths`) to the list of its files.
      digests: JSON object, key to what `schemas.input_digest` makes of its files: other bytes are refused.
      languages: JSON list: the queries', and the documents'.
      settings: JSON object, see `WikipediaSettings`.
      unfinished: folder of the pieces that a killed execution has read; it is removed when one is done.

    Outputs:
      wikiclir_files: WikiClirFiles.
    """

    SPEC_CLASS = WikipediaGenSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, files: str, digests: str, languages: str, settings: str, unfinished: str) -> None:
        super().__init__(
            WikipediaGenSpec(
                **{
                    FILES_KEY: files,
                    DIGESTS_KEY: digests,
                    LANGUAGES_KEY: languages,
                    SETTINGS_KEY: settings,
                    UNFINISHED_KEY: unfinished,
                    WIKICLIR_FILES_KEY: channel.OutputChannel(WikiClirFiles, self, WIKICLIR_FILES_KEY),
                }
            )
        )

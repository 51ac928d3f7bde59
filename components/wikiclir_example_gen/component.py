"""The WikiClirExampleGen component's contract."""

from typing import Any

from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.wikiclir_example_gen.executor import (
    CODE_KEY,
    DIGESTS_KEY,
    EXAMPLES_KEY,
    PATHS_KEY,
    REPORT_KEY,
    SETTINGS_KEY,
    Executor,
)
from schemas.artifacts import IngestionReport


class WikiClirExampleGenSpec(component_spec.ComponentSpec):
    """Parameters and outputs of WikiClirExampleGen."""

    PARAMETERS = {
        PATHS_KEY: component_spec.ExecutionParameter(type=str),
        DIGESTS_KEY: component_spec.ExecutionParameter(type=str),
        SETTINGS_KEY: component_spec.ExecutionParameter(type=str),
        CODE_KEY: component_spec.ExecutionParameter(type=str),
    }
    INPUTS: dict[str, Any] = {}
    OUTPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        REPORT_KEY: component_spec.ChannelParameter(type=IngestionReport),
    }


class WikiClirExampleGen(base_beam_component.BaseBeamComponent):
    """Reads a WikiCLIR collection into listwise examples.

    Args:
      paths: JSON object, role (queries, documents, judgments, perhaps candidates) to path.
      digests: JSON object, role to SHA-256: the same path with other content is another input.
      settings: JSON object: negatives, seed, max_queries, max_bad_share, top_grade.
      code: digest of the code that does the work; another one runs the stage anew.

    Outputs:
      examples: Examples with splits train, eval and test; one `tf.train.Example` a query (see `schemas.features`).
      report: IngestionReport.
    """

    SPEC_CLASS = WikiClirExampleGenSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, paths: str, digests: str, settings: str, code: str) -> None:
        super().__init__(
            WikiClirExampleGenSpec(
                **{
                    PATHS_KEY: paths,
                    DIGESTS_KEY: digests,
                    SETTINGS_KEY: settings,
                    CODE_KEY: code,
                    EXAMPLES_KEY: channel.OutputChannel(standard_artifacts.Examples, self, EXAMPLES_KEY),
                    REPORT_KEY: channel.OutputChannel(IngestionReport, self, REPORT_KEY),
                }
            )
        )

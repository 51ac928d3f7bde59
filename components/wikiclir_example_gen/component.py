"""The WikiClirExampleGen component's contract."""

from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.wikiclir_example_gen.executor import (
    COLLECTION_KEY,
    EXAMPLES_KEY,
    REPORT_KEY,
    SETTINGS_KEY,
    Executor,
)
from schemas.artifacts import Collection, IngestionReport


class WikiClirExampleGenSpec(component_spec.ComponentSpec):
    """Parameters and outputs of WikiClirExampleGen."""

    PARAMETERS = {
        SETTINGS_KEY: component_spec.ExecutionParameter(type=str),
    }
    INPUTS = {COLLECTION_KEY: component_spec.ChannelParameter(type=Collection)}
    OUTPUTS = {
        EXAMPLES_KEY: component_spec.ChannelParameter(type=standard_artifacts.Examples),
        REPORT_KEY: component_spec.ChannelParameter(type=IngestionReport),
    }


class WikiClirExampleGen(base_beam_component.BaseBeamComponent):
    """Makes listwise examples of a collection.

    Args:
      collection: Collection.
      settings: JSON object: top_grade, negatives, most_sampled, seed, split, cold_share, max_queries, max_bad_share,
        shards.

    Outputs:
      examples: Examples with splits train, eval and test; one `tf.train.Example` a query (see `schemas.features`).
      report: IngestionReport.
    """

    SPEC_CLASS = WikiClirExampleGenSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, collection: channel.BaseChannel, settings: str) -> None:
        super().__init__(
            WikiClirExampleGenSpec(
                **{
                    COLLECTION_KEY: collection,
                    SETTINGS_KEY: settings,
                    EXAMPLES_KEY: channel.OutputChannel(standard_artifacts.Examples, self, EXAMPLES_KEY),
                    REPORT_KEY: channel.OutputChannel(IngestionReport, self, REPORT_KEY),
                }
            )
        )

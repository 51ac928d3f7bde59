"""The CorpusIndexer component's contract."""

from typing import Any

from tfx.dsl.components.base import base_beam_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.corpus_indexer.executor import COLLECTION_KEY, INDEX_KEY, MODEL_KEY, Executor
from schemas.artifacts import Collection, CorpusIndex


class CorpusIndexerSpec(component_spec.ComponentSpec):
    """Inputs and output of CorpusIndexer."""

    PARAMETERS: dict[str, Any] = {}
    INPUTS = {
        MODEL_KEY: component_spec.ChannelParameter(type=standard_artifacts.Model),
        COLLECTION_KEY: component_spec.ChannelParameter(type=Collection),
    }
    OUTPUTS = {INDEX_KEY: component_spec.ChannelParameter(type=CorpusIndex)}


class CorpusIndexer(base_beam_component.BaseBeamComponent):
    """Encodes every document of a collection with a model, and makes an index of them.

    Args:
      model: exported; its score is an inner product.
      collection: Collection.

    Outputs:
      index: CorpusIndex.
    """

    SPEC_CLASS = CorpusIndexerSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, model: channel.BaseChannel, collection: channel.BaseChannel) -> None:
        super().__init__(
            CorpusIndexerSpec(
                **{
                    MODEL_KEY: model,
                    COLLECTION_KEY: collection,
                    INDEX_KEY: channel.OutputChannel(CorpusIndex, self, INDEX_KEY),
                }
            )
        )

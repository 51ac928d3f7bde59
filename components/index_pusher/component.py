"""The IndexPusher component's contract."""

from tfx.dsl.components.base import base_component, executor_spec
from tfx.types import channel, component_spec, standard_artifacts

from components.index_pusher.executor import FOLDER_KEY, INDEX_KEY, PUSHED_INDEX_KEY, PUSHED_MODEL_KEY, Executor
from schemas.artifacts import CorpusIndex


class IndexPusherSpec(component_spec.ComponentSpec):
    """Parameters, inputs and output of IndexPusher."""

    PARAMETERS = {FOLDER_KEY: component_spec.ExecutionParameter(type=str)}
    INPUTS = {
        INDEX_KEY: component_spec.ChannelParameter(type=CorpusIndex),
        PUSHED_MODEL_KEY: component_spec.ChannelParameter(type=standard_artifacts.PushedModel),
    }
    OUTPUTS = {PUSHED_INDEX_KEY: component_spec.ChannelParameter(type=CorpusIndex)}


class IndexPusher(base_component.BaseComponent):
    """Makes an index the newest version, where the model that made it was pushed.

    Args:
      index: CorpusIndex.
      pushed_model: what the Pusher says of the model.
      folder: of the versions, local.

    Outputs:
      pushed_index: CorpusIndex; it holds no copy, but tells where the version is.
    """

    SPEC_CLASS = IndexPusherSpec
    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)

    def __init__(self, index: channel.BaseChannel, pushed_model: channel.BaseChannel, folder: str) -> None:
        super().__init__(
            IndexPusherSpec(
                **{
                    INDEX_KEY: index,
                    PUSHED_MODEL_KEY: pushed_model,
                    FOLDER_KEY: folder,
                    PUSHED_INDEX_KEY: channel.OutputChannel(CorpusIndex, self, PUSHED_INDEX_KEY),
                }
            )
        )

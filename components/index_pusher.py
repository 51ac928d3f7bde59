"""The stage IndexPusher: makes an index the newest version."""

from functools import partial

from tfx.types.standard_artifacts import PushedModel

from components.stage import Apply, Input, Output, stage
from schemas.artifacts import CorpusIndex
from schemas.served_versions import DESTINATION_PROPERTY, WAS_PUSHED_PROPERTY
from smooth_clir.retrieval.index_versions import WAIT_SECONDS, push_index
from smooth_clir.retrieval.milvus_settings import MilvusSettings
from smooth_clir.retrieval.milvus_versions import MilvusVersions


@stage
def IndexPusher(
    index: Input[CorpusIndex],
    pushed_model: Input[PushedModel],
    pushed_index: Output[CorpusIndex],
    apply: Apply,
    folder: str,
    milvus: MilvusSettings | None = None,
) -> None:
    """Makes an index the newest version, if the model that made it was pushed.

    Args:
      index: the index of a run.
      pushed_model: the Pusher's output.
      pushed_index: the version's path, as a property, without a copy of the index.
      apply: shares the index's segments among workers.
      folder: the local folder of the versions.
      milvus: a Milvus server that also gets the version.
    """
    is_pushed = pushed_model.get_int_custom_property(WAS_PUSHED_PROPERTY)
    pushed_index.set_int_custom_property(WAS_PUSHED_PROPERTY, is_pushed)
    if is_pushed:
        model = pushed_model.get_string_custom_property(DESTINATION_PROPERTY)
        publish = partial(MilvusVersions(milvus).publish, apply=apply) if milvus else None
        version = push_index(index.uri, folder, model, WAIT_SECONDS, publish)
        pushed_index.set_string_custom_property(DESTINATION_PROPERTY, version)

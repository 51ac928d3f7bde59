"""The executor of IndexPusher: artifacts in and out, the work is in `push_index`."""

from typing import Any, Final

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils

from components.index_pusher.index_versions import push_index
from schemas.served_versions import DESTINATION_PROPERTY, WAS_PUSHED_PROPERTY

INDEX_KEY: Final = "index"
PUSHED_MODEL_KEY: Final = "pushed_model"
PUSHED_INDEX_KEY: Final = "pushed_index"
FOLDER_KEY: Final = "folder"


class Executor(base_executor.BaseExecutor):
    """Pushes an index whose model was pushed."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Pushes the index; the artifact tells where it is."""
        model = artifact_utils.get_single_instance(input_dict[PUSHED_MODEL_KEY])
        pushed = artifact_utils.get_single_instance(output_dict[PUSHED_INDEX_KEY])
        is_pushed = model.get_int_custom_property(WAS_PUSHED_PROPERTY)
        pushed.set_int_custom_property(WAS_PUSHED_PROPERTY, is_pushed)
        if is_pushed:
            index = artifact_utils.get_single_uri(input_dict[INDEX_KEY])
            pushed.set_string_custom_property(DESTINATION_PROPERTY, push_index(index, exec_properties[FOLDER_KEY]))

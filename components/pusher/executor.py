"""TFX's Pusher, made atomic: TFX copies into the live version folder, where a server may see half a model."""

import os
from typing import Any

from google.protobuf import json_format
from tfx import types
from tfx.components.pusher import executor
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils, standard_component_specs

from components.pusher.push_version import push_version
from schemas.served_versions import (
    DESTINATION_PROPERTY,
    NEWEST_PROPERTY,
    PUSHED_PROPERTY,
    VERSION_PROPERTY,
    WAS_PUSHED_PROPERTY,
)


class Executor(executor.Executor):
    """Pushes a blessed model, unless it is the newest version already (see `components.gate`)."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Pushes the model; unlike TFX's, the artifact holds no copy of it, but tells where it is."""
        pushed = artifact_utils.get_single_instance(output_dict[standard_component_specs.PUSHED_MODEL_KEY])
        if not self.CheckBlessing(input_dict):
            pushed.set_int_custom_property(WAS_PUSHED_PROPERTY, 0)
            return
        destination = json_format.Parse(
            exec_properties[standard_component_specs.PUSH_DESTINATION_KEY], pusher_pb2.PushDestination()
        )
        serving = destination.filesystem.base_directory
        blessing = artifact_utils.get_single_instance(input_dict[standard_component_specs.MODEL_BLESSING_KEY])
        version = blessing.get_string_custom_property(NEWEST_PROPERTY)
        if not blessing.get_int_custom_property(PUSHED_PROPERTY):
            version = push_version(self.GetModelPath(input_dict), serving, version or None)
        pushed.set_int_custom_property(WAS_PUSHED_PROPERTY, 1)
        pushed.set_string_custom_property(DESTINATION_PROPERTY, os.path.join(serving, version))
        pushed.set_string_custom_property(VERSION_PROPERTY, version)

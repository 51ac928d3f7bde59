"""TFX's Pusher, made atomic: TFX copies into the live version folder, where a server may see half a model."""

import os
from typing import Any

from google.protobuf import json_format
from tfx import types
from tfx.components.pusher import executor
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils, standard_component_specs
from tfx.utils import io_utils

from models.versions import push_version


class Executor(executor.Executor):
    """Pushes a blessed model as a version that appears whole (see `models.versions`)."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Pushes a blessed model, and keeps a copy of it as TFX's does."""
        self._log_startup(input_dict, output_dict, exec_properties)
        pushed = artifact_utils.get_single_instance(output_dict[standard_component_specs.PUSHED_MODEL_KEY])
        if not self.CheckBlessing(input_dict):
            self._MarkNotPushed(pushed)
            return
        destination = json_format.Parse(
            exec_properties[standard_component_specs.PUSH_DESTINATION_KEY], pusher_pb2.PushDestination()
        )
        serving = destination.filesystem.base_directory
        model = self.GetModelPath(input_dict)
        io_utils.copy_dir(model, pushed.uri)
        version = push_version(model, serving)
        self._MarkPushed(pushed, pushed_destination=os.path.join(serving, version), pushed_version=version)

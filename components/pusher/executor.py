"""TFX's Pusher, made atomic: TFX copies into the live version folder, where a server may see half a model."""

import os
from typing import Any

from google.protobuf import json_format
from tfx import types
from tfx.components.pusher import executor
from tfx.dsl.io import fileio
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils, standard_component_specs

_STAGING = ".incoming"  # no number, so that TF Serving does not take it for a version


class Executor(executor.Executor):
    """Lets TFX push into a staging folder beside the versions, then renames the version into place."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Pushes a blessed model."""
        destination = json_format.Parse(
            exec_properties[standard_component_specs.PUSH_DESTINATION_KEY], pusher_pb2.PushDestination()
        )
        base = destination.filesystem.base_directory
        staging = os.path.join(base, _STAGING)
        if fileio.exists(staging):
            fileio.rmtree(staging)
        destination.filesystem.base_directory = staging
        staged = {
            **exec_properties,
            standard_component_specs.PUSH_DESTINATION_KEY: json_format.MessageToJson(destination),
        }
        super().Do(input_dict, output_dict, staged)
        if not fileio.exists(staging):
            return
        (version,) = fileio.listdir(staging)
        # Higher than every version there is: two pushes within a second, or a clock set back, must not hide this one.
        versions = [int(name) for name in fileio.listdir(base) if name.isdigit()]
        number = max([int(version), *(taken + 1 for taken in versions)])
        path = os.path.join(base, str(number))
        fileio.rename(os.path.join(staging, version), path)
        fileio.rmtree(staging)
        pushed = artifact_utils.get_single_instance(output_dict[standard_component_specs.PUSHED_MODEL_KEY])
        self._MarkPushed(pushed, pushed_destination=path, pushed_version=str(number))

"""The executor of CollectionGen: artifacts in and out, the work is in `write_collection`."""

import json
from typing import Any, Final

from tfx import types
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.collection_gen.write_collection import write_collection
from models.mapping_executor import MappingExecutor

COLLECTION_KEY: Final = "collection"
PATHS_KEY: Final = "paths"
DIGESTS_KEY: Final = "digests"
TOP_GRADE_KEY: Final = "top_grade"


class Executor(MappingExecutor):
    """Reads the input files, each as a whole."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the collection.

        Raises:
          DataError: see `write_collection`.
        """
        folder = artifact_utils.get_single_uri(output_dict[COLLECTION_KEY])
        write_collection(
            json.loads(exec_properties[PATHS_KEY]),
            json.loads(exec_properties[DIGESTS_KEY]),
            exec_properties[TOP_GRADE_KEY],
            folder,
            fileio.open,
            self.work_on(folder),
        )

"""The executor of CollectionGen: artifacts in and out, the work is in `write_collection`."""

import json
import os
from typing import Any, Final

from models.mapping_executor import MappingExecutor
from tfx import types
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.collection_gen.write_collection import write_collection

COLLECTION_KEY: Final = "collection"
PATHS_KEY: Final = "paths"
DIGESTS_KEY: Final = "digests"
TOP_GRADE_KEY: Final = "top_grade"
WIKICLIR_FILES_KEY: Final = "wikiclir_files"


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
        paths = json.loads(exec_properties[PATHS_KEY])
        if made_files := input_dict.get(WIKICLIR_FILES_KEY):
            source = artifact_utils.get_single_uri(made_files)
            paths = {role: sorted(fileio.glob(os.path.join(source, name))) for role, name in paths.items()}
        write_collection(
            paths,
            json.loads(exec_properties[DIGESTS_KEY]),
            exec_properties[TOP_GRADE_KEY],
            folder,
            fileio.open,
            self.work_on(folder),
        )

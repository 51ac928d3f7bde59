"""The executor of WikipediaGen: artifacts in and out, the work is in `read_dumps` and `build_collection`."""

import json
import os
from typing import Any, Final

from tfx import types
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.wikipedia_gen.build import build_collection
from components.wikipedia_gen.check_digests import check_digests
from components.wikipedia_gen.on_this_machine import on_this_machine
from components.wikipedia_gen.read_dumps import read_dumps
from components.wikipedia_gen.settings import WikipediaSettings
from models.mapping_executor import MappingExecutor

WIKICLIR_FILES_KEY: Final = "wikiclir_files"
FILES_KEY: Final = "files"
DIGESTS_KEY: Final = "digests"
LANGUAGES_KEY: Final = "languages"
SETTINGS_KEY: Final = "settings"

_WORK: Final = ".dumps"


class Executor(MappingExecutor):
    """Reads the pieces of the dumps, and joins them."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the files.

        Raises:
          DataError: see `read_dumps` and `check_digests`.
        """
        folder = artifact_utils.get_single_uri(output_dict[WIKICLIR_FILES_KEY])
        settings = WikipediaSettings.model_validate_json(exec_properties[SETTINGS_KEY])
        query_language, document_language = json.loads(exec_properties[LANGUAGES_KEY])
        languages = query_language, document_language
        files = json.loads(exec_properties[FILES_KEY])
        apply = self.work_on(folder)
        if apply is map:
            apply = on_this_machine(path for some in files.values() for path in some)
        work = os.path.join(folder, _WORK)
        fileio.makedirs(work)
        dumps = read_dumps([languages], settings, files, work, open_file, apply)
        check_digests(dumps.files, json.loads(exec_properties[DIGESTS_KEY]))
        build_collection(languages, settings, dumps, folder, open_file)
        fileio.rmtree(work)


def open_file(path: str, mode: str) -> Any:
    """Opens a file, local or remote; a missing one raises FileNotFoundError, wherever it is.

    TensorFlow's files say so only when they are read, and in an exception of their own.
    """
    if "://" not in path:
        return open(path, mode)
    if "r" in mode and not fileio.exists(path):
        raise FileNotFoundError(path)
    return fileio.open(path, mode)

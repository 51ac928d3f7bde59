"""The executor of WikipediaGen: artifacts in and out, the work is in `read_dumps` and `build_collection`."""

import hashlib
import json
import logging
from typing import Any, Final

from tfx import types
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.wikipedia_gen.build import build_collection
from components.wikipedia_gen.check_digests import check_digests
from components.wikipedia_gen.estimate import preflight
from components.wikipedia_gen.on_this_machine import on_this_machine
from components.wikipedia_gen.read_dumps import read_dumps
from components.wikipedia_gen.settings import WikipediaSettings
from models.mapping_executor import MappingExecutor
from models.training.checkpoint import unfinished_work

WIKICLIR_FILES_KEY: Final = "wikiclir_files"
FILES_KEY: Final = "files"
DIGESTS_KEY: Final = "digests"
LANGUAGES_KEY: Final = "languages"
SETTINGS_KEY: Final = "settings"
UNFINISHED_KEY: Final = "unfinished"

log = logging.getLogger("clir.data")


class Executor(MappingExecutor):
    """Reads the pieces of the dumps, and joins them. Where it is killed, the next one goes on from the pieces."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the files.

        Raises:
          DataError: see `preflight`, `read_dumps` and `check_digests`.
        """
        folder = artifact_utils.get_single_uri(output_dict[WIKICLIR_FILES_KEY])
        settings = WikipediaSettings.model_validate_json(exec_properties[SETTINGS_KEY])
        query_language, document_language = json.loads(exec_properties[LANGUAGES_KEY])
        languages = query_language, document_language
        files = json.loads(exec_properties[FILES_KEY])
        apply = self.work_on(folder)
        paths = [path for some in files.values() for path in some]
        if apply is map:
            apply = on_this_machine(paths)
            if not any("://" in path for path in (folder, *paths)):
                preflight([languages], settings, files, folder, log.info)
        unfinished = exec_properties[UNFINISHED_KEY]
        # All that decides what is read: files, settings, and the code, by the node's identity.
        key = hashlib.sha256(json.dumps(exec_properties, sort_keys=True, default=str).encode()).hexdigest()
        work, _ = unfinished_work(unfinished, key)
        fileio.makedirs(work)
        dumps = read_dumps([languages], settings, files, work, open_file, apply)
        check_digests(dumps.files, json.loads(exec_properties[DIGESTS_KEY]))
        build_collection(languages, settings, dumps, folder, open_file)
        fileio.rmtree(unfinished)


def open_file(path: str, mode: str) -> Any:
    """Opens a file, local or remote; a missing one raises FileNotFoundError, wherever it is.

    TensorFlow's files say so only when they are read, and in an exception of their own.
    """
    if "://" not in path:
        return open(path, mode)
    if "r" in mode and not fileio.exists(path):
        raise FileNotFoundError(path)
    return fileio.open(path, mode)

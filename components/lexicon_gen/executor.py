"""The executor of LexiconGen: artifacts in and out, the work is in `write_lexicon`."""

import json
import os
from typing import Any, Final

from models.mapping_executor import MappingExecutor
from tfx import types
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.lexicon_gen.write_lexicon import FurtherPairs, mr_pairs, write_lexicon
from schemas.collection import document_texts
from schemas.wikiclir_files import PAIRS_FILE

EXAMPLES_KEY: Final = "examples"
COLLECTION_KEY: Final = "collection"
LEXICON_KEY: Final = "lexicon"
SETTINGS_KEY: Final = "settings"
WIKICLIR_FILES_KEY: Final = "wikiclir_files"


class Executor(MappingExecutor):
    """Learns a lexicon from the train split."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the lexicon.

        Raises:
          DataError: see `write_lexicon`.
        """
        settings = json.loads(exec_properties[SETTINGS_KEY])
        examples = artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "train")
        train_pairs = []
        if settings["kind"] == "lexicon":
            train_pairs = mr_pairs(fileio.glob(os.path.join(examples, "*")), settings["top_grade"])
        paths = settings["pairs"]
        titles = []
        if made_files := input_dict.get(WIKICLIR_FILES_KEY):
            titles = [os.path.join(artifact_utils.get_single_uri(made_files), PAIRS_FILE)]
        pairs = FurtherPairs(paths, settings["sha256"], settings["max_bad_share"], fileio.open, titles)
        folder = artifact_utils.get_single_uri(output_dict[LEXICON_KEY])
        collection = artifact_utils.get_single_uri(input_dict[COLLECTION_KEY])
        write_lexicon(
            settings["kind"],
            (settings["query_language"], settings["document_language"]),
            settings["max_tokens"],
            train_pairs,
            pairs if paths or titles else None,
            document_texts(collection, fileio.open, self.work_on(folder)),
            folder,
            fileio.open,
        )

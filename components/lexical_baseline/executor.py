"""The executor of LexicalBaseline: artifacts in and out, the work is in `models.retrieval.bm25`."""

import os
from typing import Any, Final

from tfx import types
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from models.lists.ranking_lists import read_lists
from models.mapping_executor import MappingExecutor
from models.retrieval.bm25 import score_by_bm25
from models.retrieval.ranking import ranking_run
from schemas.collection import document_texts
from schemas.evaluation_files import RUN_FILE

EXAMPLES_KEY: Final = "examples"
COLLECTION_KEY: Final = "collection"
RUN_KEY: Final = "run"
MAX_TOKENS_KEY: Final = "max_tokens"

TAG: Final = "bm25"


class Executor(MappingExecutor):
    """Ranks the test split by BM25."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes a TREC run file over the test lists."""
        folder = artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "test")
        lists = read_lists(fileio.glob(os.path.join(folder, "*")))
        collection = artifact_utils.get_single_uri(input_dict[COLLECTION_KEY])
        output = artifact_utils.get_single_uri(output_dict[RUN_KEY])
        texts = document_texts(collection, fileio.open, self.work_on(output))
        scores = score_by_bm25(lists, texts, exec_properties[MAX_TOKENS_KEY])
        with fileio.open(os.path.join(output, RUN_FILE), "w") as run:
            run.write("".join(ranking_run(lists, scores, TAG)))

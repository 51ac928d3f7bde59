"""The executor of LexicalBaseline: artifacts in and out, the work is in `bm25`."""

import os
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.lexical_baseline.bm25 import score_text_lists
from models.metrics import rank
from models.text_lists import read_text_lists
from schemas.trec import run_lines
from schemas.wikiclir import Drop, parse_texts

EXAMPLES_KEY: Final = "examples"
RUN_KEY: Final = "run"
DOCUMENTS_KEY: Final = "documents"
DIGEST_KEY: Final = "digest"
MAX_TOKENS_KEY: Final = "max_tokens"
CODE_KEY: Final = "code"

RUN_FILE: Final = "run.trec"
TAG: Final = "bm25"


class Executor(base_executor.BaseExecutor):
    """Ranks the test split by BM25."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes a TREC run file over the test lists."""
        self._log_startup(input_dict, output_dict, exec_properties)
        folder = artifact_utils.get_split_uri(input_dict[EXAMPLES_KEY], "test")
        lists = read_text_lists(fileio.glob(os.path.join(folder, "*")))
        scores = score_text_lists(lists, _collection(exec_properties[DOCUMENTS_KEY]), exec_properties[MAX_TOKENS_KEY])
        path = os.path.join(artifact_utils.get_single_uri(output_dict[RUN_KEY]), RUN_FILE)
        with fileio.open(path, "w") as run:
            for text_list, list_scores in zip(lists, scores, strict=True):
                order = rank(np.asarray(list_scores, np.float32), text_list.doc_ids)
                doc_ids = [text_list.doc_ids[i].decode() for i in order]
                for line in run_lines(text_list.query_id.decode(), doc_ids, [list_scores[i] for i in order], TAG):
                    run.write(line)


def _collection(path: str) -> Iterator[str]:
    """The text of every document of the collection."""
    with FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
        for item in parse_texts(stream, path):
            if not isinstance(item, Drop):
                yield item.text

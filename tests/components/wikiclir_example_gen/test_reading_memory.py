"""The memory of a worker that reads documents does not grow with the collection."""

import pickle
import tracemalloc

import numpy as np
import pytest

pytestmark = pytest.mark.stages

DOCUMENTS, BYTES = 4_000, 5_000


def test_a_reader_holds_the_texts_that_lists_need_and_of_others_only_ids(tmp_path):
    from components.wikiclir_example_gen.document_ids import id_hashes
    from components.wikiclir_example_gen.reading import Needed, ReadNeededDocuments
    from tests.components.collected import collect

    text = "x" * BYTES
    lines = [f"d{number}\tTitre\t{text}\n".encode() for number in range(DOCUMENTS)]
    contents = {"queries": [b"q\tTitle\ttext\n"], "documents": [b"".join(lines)], "judgments": [b"q\td7\t2\n"]}
    (shard,) = collect(tmp_path / "collection", contents)["documents"].shards
    needed = pickle.dumps(Needed(id_hashes([b"d7"]), np.zeros(1, np.uint32), ["q"]))
    reader = ReadNeededDocuments(str(tmp_path / "collection"))
    tracemalloc.start()
    outputs = [*reader.process(shard, needed)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outputs[0][0] == "q" and outputs[0][1][0] == len(lines[7])
    assert peak < DOCUMENTS * BYTES / 10

"""smooth_clir/ranker.py: a ranker in another process."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.loaded_once import loaded_once

pytestmark = pytest.mark.stages

LOAD = """
import pickle, sys
ranker = pickle.loads(bytes.fromhex(sys.argv[1]))
print(ranker.version, ranker.retries, [hit.doc_id for hit in ranker.search("white cat", 3)])
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.serving.searchable import export_searchable, index_documents

    folder = tmp_path_factory.mktemp("ranker")
    (folder / "index").mkdir()
    export_searchable(folder / "serving" / "1")
    with loaded_once():
        index_documents(folder / "serving" / "1", folder / "index" / "1")
    return folder


def test_a_pickled_ranker_answers_alike_here_and_in_another_process(output: Path) -> None:
    from smooth_clir import Ranker

    ranker = Ranker.load(str(output))
    ranker.retries = 2
    expected = [hit.doc_id for hit in ranker.search("white cat", 3)]  # what is loaded does not travel
    unpickled = pickle.loads(pickle.dumps(ranker))
    assert unpickled.score("white cat", ["un chat"]) == ranker.score("white cat", ["un chat"])
    assert [hit.doc_id for hit in unpickled.search("white cat", 3)] == expected
    command = [sys.executable, "-c", LOAD, pickle.dumps(ranker).hex()]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert process.stdout.splitlines()[-1] == f"1 {ranker.retries} {expected}"

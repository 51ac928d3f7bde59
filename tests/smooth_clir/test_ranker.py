"""smooth_clir/ranker.py: a ranker in another process."""

import json
import logging
import pickle
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas
import pytest

from schemas.errors import ConfigError, DataError
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


def test_a_ranker_adds_replaces_and_removes_documents_of_its_index(output: Path, tmp_path: Path) -> None:
    from smooth_clir import Ranker

    shutil.copytree(output, tmp_path / "run")
    ranker = Ranker.load(str(tmp_path / "run"))
    assert "d9" not in [hit.doc_id for hit in ranker.search("white cat", 6)]
    update = ranker.add([("d9", "Chat", "chat blanc"), ("d2", "Chien", "un chien noir")])
    assert (update.added, update.replaced, update.documents) == (1, 1, 6)
    assert "d9" in [hit.doc_id for hit in ranker.search("white cat", 6)]
    update = ranker.remove(["d9", "none"])
    assert (update.removed, update.unknown) == (1, 1)
    assert "d9" not in [hit.doc_id for hit in ranker.search("white cat", 6)]


def test_a_ranker_searches_by_fields_and_adds_documents_with_theirs(output: Path, tmp_path: Path) -> None:
    from smooth_clir import Ranker
    from smooth_clir.retrieval.index_versions import IndexVersions
    from smooth_clir.retrieval.update_index import IndexUpdater
    from tests.serving.searchable import DOCUMENTS

    shutil.copytree(output, tmp_path / "run")
    updater = IndexUpdater(str(tmp_path / "run" / "serving" / "1"), IndexVersions(tmp_path / "run" / "index"))
    updater.replace_all([document._replace(fields=("fr",)) for document in DOCUMENTS], ["lang"])
    ranker = Ranker.load(str(tmp_path / "run"))
    ranker.add(pandas.DataFrame({"id": ["d8", "d9"], "text": ["chat", "chat blanc"], "Lang": ["es", None]}))
    assert [hit.doc_id for hit in ranker.search("white cat", where="lang=es")] == ["d8"]
    assert "d9" in [hit.doc_id for hit in ranker.search("white cat", where="lang!=es")]
    with pytest.raises(ConfigError, match="'year'"):
        ranker.search("white cat", where="year=1")


@pytest.mark.parametrize(
    "documents",
    [
        {"a": "un chien", "b": "un chat blanc"},
        [("a", "un chien"), ("b", "Chat", "un chat blanc")],
        [{"_id": "a", "text": "un chien"}, {"_id": "b", "text": "un chat blanc", "lang": "fr"}],
        pandas.DataFrame({"docno": ["a", "b"], "text": ["un chien", "un chat blanc"]}),
    ],
    ids=["dictionary", "list", "dictionaries", "DataFrame"],
)
def test_documents_in_memory_are_ranked(output: Path, documents: object) -> None:
    from smooth_clir import Ranker

    results = Ranker.load(str(output)).rank("white cat", documents, top=1)  # type: ignore[arg-type]
    assert [result.doc_id for result in results] == ["b"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"pairs": [("a", "b")], "queries": {}}, "give queries, documents and judgments, or pairs; got queries, pairs"),
        ({}, "got none"),
        ({"pairs": ["a b"]}, r"pairs: item 1 must be \(query, document\); got 'a b'"),
        ({"pairs": [("a", "b")]}, "^pairs must hold two different documents or more; got 1"),
        ({"pairs": [("a", "b"), ("c", "")]}, "(?s)^pairs: 1 of 2 lines are bad.* pairs:2: "),
        ({"pairs": "missing.tsv"}, "missing.tsv"),
        ({"pairs": ("missing.en", "missing.fr")}, "(?s)missing.en.*missing.fr"),
        ({"pairs": [("a", "b"), ("c", "d")], "settings": {"loss.x": 1}}, "^settings: loss.x: "),
        ({"pairs": [("a", "b")], "query_language": "xx"}, "query_language: must be an ISO 639-1 code"),
        ({"pairs": [("a", "b")], "columns": {"qury": ["b"]}}, "got 'qury'; did you mean query?"),
        ({"pairs": [("a", "b")], "scale": [2, 1]}, "scale: must be ascending numbers; got 2, 1"),
        ({"pairs": [("a", "b")], "output": __file__}, "output"),
    ],
)
def test_data_that_no_training_could_use_are_refused(tmp_path: Path, arguments: dict[str, Any], error: str) -> None:
    from smooth_clir import Ranker

    with pytest.raises((ConfigError, DataError), match=error):
        Ranker.train(
            **{"query_language": "en", "document_language": "fr", "output": str(tmp_path / "out"), **arguments}
        )


@pytest.mark.parametrize("are_files", [True, False])
def test_the_account_of_a_conversion_names_files_of_the_user_and_arguments_alone(
    tmp_path: Path, are_files: bool
) -> None:
    from smooth_clir import Ranker

    paths = (tmp_path / "a.en", str(tmp_path / "a.fr"))
    for path in paths:
        Path(path).write_text("a\nb\nc\n")
    pairs: Any = paths if are_files else [("a", "a"), ("b", "b"), ("c", "c")]
    languages = {"query_language": "en", "document_language": "fr"}
    with pytest.raises(ConfigError, match="settings: loss.x: "):  # ends before the training
        Ranker.train(pairs=pairs, output=str(tmp_path / "out"), settings={"loss.x": 1}, **languages)
    account = json.loads((tmp_path / "out" / "conversion.json").read_text())["account"]["inputs"]["pairs"]
    assert (account["path"], account["used"]) == (" and ".join(map(str, paths)) if are_files else "pairs", 3)


@pytest.mark.long
def test_a_ranker_trained_on_pairs_in_memory_finds_their_documents(tmp_path: Path) -> None:
    from smooth_clir import Ranker

    arguments: dict[str, Any] = {
        "pairs": [
            (f"number {word}", f"nombre {word}s")
            for word in "aba bab cdc dcd efe fef ghg hgh iji jij klk lkl".split() * 3
        ],
        "query_language": "en",
        "document_language": "fr",
        "output": str(tmp_path / "out"),
        "settings": {"training.epochs": 1, "channels.encoder": None},
    }
    before = logging.getLogger().level, warnings.showwarning, [*warnings.filters]
    ranker = Ranker.train(**arguments)
    assert (logging.getLogger().level, warnings.showwarning, warnings.filters) == before
    assert ranker.search("number ghg", 1)[0].text == "nombre ghgs"
    assert (tmp_path / "out" / "run" / "evaluation" / "metrics.json").is_file()
    assert Ranker.train(**arguments).version == ranker.version, "a second call comes from the cache"

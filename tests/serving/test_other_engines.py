"""An index in the forms of other engines: all documents are there, and the engine's expression is the model's score."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

from cli.export import export_command
from models.exported.model import LoadedModel
from models.retrieval.corpus_index import CorpusIndex
from schemas.errors import DataError
from schemas.wikiclir import Text
from serving.other_engines.export import ENGINES, export_index
from serving.other_engines.json_lines import JsonLinesWriter
from tests.cli.command import Clir
from tests.serving.searchable import DOCUMENTS, index_documents

pytestmark = pytest.mark.stages

QUERY = "white cat ararat"

Export = Callable[..., Path]


@pytest.fixture(scope="module")
def model(searchable: Path) -> LoadedModel:
    return LoadedModel(str(searchable / "serving" / "1"))


@pytest.fixture
def export(model: LoadedModel, searchable: Path, tmp_path: Path) -> Export:
    def write(engine: str, query: str | None = QUERY) -> Path:
        index = CorpusIndex(str(searchable / "index" / "1"))
        export_index(index, model, engine, str(tmp_path / engine), query)
        return tmp_path / engine

    return write


@pytest.fixture(scope="module")
def scores(model: LoadedModel, searchable: Path) -> dict[str, float]:
    """The score of every document for the query."""
    index = CorpusIndex(str(searchable / "index" / "1"))
    return {one.doc_id.decode(): one.score for one in index.search(model.encode_query(QUERY), len(index))}


def json_lines(folder: Path) -> list[Any]:
    files = sorted(folder.glob("documents-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def product(left: dict[str, float], right: dict[str, float]) -> float:
    return sum(weight * right.get(term, 0.0) for term, weight in left.items())


def test_parquet_files_hold_what_a_search_compares(export: Export, scores: dict[str, float]) -> None:
    folder = export("parquet")
    rows = pq.read_table(folder / "documents-00000.parquet").to_pylist()
    query = json.loads((folder / "query.json").read_text())
    assert [(row["id"], row["title"], row["text"]) for row in rows] == [one[:3] for one in DOCUMENTS]
    found = {
        row["id"]: np.dot(row["vector"], query["vector"])
        + product(dict(zip(row["terms"], row["weights"], strict=True)), query["words"])
        for row in rows
    }
    assert found == pytest.approx(scores, abs=1e-6)


def test_vespa_s_rank_expression_is_the_score(export: Export, scores: dict[str, float]) -> None:
    folder = export("vespa")
    query = json.loads((folder / "query.json").read_text())
    found = {}
    for record in json_lines(folder):
        fields = record["fields"]
        assert record["put"] == f"id:clir:clir::{fields['doc_id']}"
        assert fields["terms"].keys() == fields["words"]["cells"].keys()
        dense = np.dot(fields["vector"]["values"], query["input.query(vector)"])
        found[fields["doc_id"]] = dense + product(fields["words"]["cells"], query["input.query(words)"])
    assert found == pytest.approx(scores, abs=1e-6)
    assert [record["fields"]["text"] for record in json_lines(folder)] == [one.text for one in DOCUMENTS]


def test_vespa_s_application_declares_what_feed_and_query_name(export: Export, model: LoadedModel) -> None:
    folder = export("vespa")
    schema = (folder / "application" / "schemas" / "clir.sd").read_text()
    assert schema.count("{") == schema.count("}")
    fields = set(re.findall(r"field (\w+) type", schema))
    assert {*json_lines(folder)[0]["fields"]} == fields
    query = json.loads((folder / "query.json").read_text())
    dimension = len(model.encode_query(QUERY).vector)
    assert schema.count(f"tensor<float>(x[{dimension}])") == 2
    assert set(re.findall(r"input\.query\((\w+)\)", json.dumps(query))) == set(re.findall(r"query\((\w+)\) t", schema))
    assert set(re.findall(r"\((\w+), ", query["yql"])) <= fields
    (document,) = ElementTree.parse(folder / "application" / "services.xml").iter("document")
    assert document.get("type") == "clir"


def opensearch_score(script: dict[str, Any], words: dict[str, float], document: dict[str, Any]) -> float:
    assert script["source"].startswith("params.offset + _score + ")
    dense = np.dot(script["params"]["vector"], document["vector"]) if "vector" in document else 0.0
    return float(script["params"]["offset"] + product(words, document.get("words", {})) + dense)


def test_opensearch_s_score_is_the_model_s_and_a_constant_that_lets_none_be_negative(
    export: Export, scores: dict[str, float]
) -> None:
    folder = export("opensearch")
    query = json.loads((folder / "query.json").read_text())["query"]["script_score"]
    near, sparse = query["query"]["bool"]["should"]
    assert near["constant_score"]["boost"] == 0
    words = sparse["neural_sparse"]["words"]["query_tokens"]
    lines = json_lines(folder)
    documents = dict(zip([line["index"]["_id"] for line in lines[::2]], lines[1::2], strict=True))
    offset = query["script"]["params"]["offset"]
    found = {name: opensearch_score(query["script"], words, one) for name, one in documents.items()}
    assert {name: score - offset for name, score in found.items()} == pytest.approx(scores, abs=1e-6)
    assert min(found.values()) >= 0
    mapped = json.loads((folder / "index.json").read_text())["mappings"]["properties"]
    assert {key for one in documents.values() for key in one} == mapped.keys()
    assert mapped["vector"]["dimension"] == len(near["constant_score"]["filter"]["knn"]["vector"]["vector"])


@pytest.mark.parametrize("engine", ["vespa", "opensearch"])
def test_a_query_of_unknown_words_asks_for_nothing_of_a_channel_without_a_value(export: Export, engine: str) -> None:
    query = (export(engine, "zzzz") / "query.json").read_text()
    assert "nearestNeighbor" not in query and "knn" not in query


@pytest.mark.parametrize("engine", ENGINES)
def test_without_a_query_there_is_no_example(export: Export, engine: str) -> None:
    assert not (export(engine, None) / "query.json").exists()


@pytest.fixture
def index_of(searchable: Path, tmp_path: Path) -> Iterator[Callable[..., CorpusIndex]]:
    def make(*documents: Text) -> CorpusIndex:
        index_documents(searchable / "serving" / "1", tmp_path / "index" / "1", documents)
        return CorpusIndex(str(tmp_path / "index" / "1"))

    (tmp_path / "index").mkdir()
    yield make


def test_characters_that_vespa_refuses_are_replaced_and_counted(
    index_of: Callable[..., CorpusIndex], model: LoadedModel, tmp_path: Path
) -> None:
    index = index_of(Text("d1", "Chat", "chat \x01 blanc \ufffe", 1), Text("d2", "", "chien \U0001f43a", 2))
    remarks = export_index(index, model, "vespa", str(tmp_path / "out"), None)
    assert remarks == ["documents with characters that Vespa refuses, U+FFFD now: 1"]
    texts = [record["fields"]["text"] for record in json_lines(tmp_path / "out")]
    assert texts == ["chat \ufffd blanc \ufffd", "chien \U0001f43a"]


@pytest.mark.parametrize(
    ("engine", "doc_id", "error"),
    [
        ("vespa", "d\x01", r"an id must hold no control character for Vespa; got 'd\\x01'"),
        ("opensearch", "é" * 257, "an id must have at most 512 bytes for OpenSearch; 'é{40}'… has 514"),
    ],
)
def test_an_id_that_the_engine_refuses_ends_it_and_leaves_nothing(
    index_of: Callable[..., CorpusIndex], model: LoadedModel, tmp_path: Path, engine: str, doc_id: str, error: str
) -> None:
    index = index_of(Text(doc_id, "Chat", "chat", 1))
    with pytest.raises(DataError, match=error):
        export_index(index, model, engine, str(tmp_path / "out"), None)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_file_ends_after_its_bytes_and_keeps_what_belongs_together(tmp_path: Path) -> None:
    with JsonLinesWriter(tmp_path, most_bytes=10) as writer:
        for number in range(5):
            writer.write({"id": number}, {"n": 1})
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [f"documents-{number:05}.jsonl" for number in range(5)]
    assert all(len(path.read_text().splitlines()) == 2 for path in files)


def test_the_command_exports_the_newest_index(clir: Clir, searchable: Path, tmp_path: Path) -> None:
    answer = clir("export", searchable, "--to", "opensearch", "--output", tmp_path / "out", "--query", QUERY)
    assert answer.code == 0, answer.err
    assert answer.out.endswith("out holds 5 documents for opensearch; docs/search.md says how to load them\n")
    assert len(json_lines(tmp_path / "out")) == 10


def test_the_command_refuses_a_blank_query_and_says_where_there_is_no_index(
    clir: Clir, searchable: Path, tmp_path: Path
) -> None:
    arguments = ["export", searchable, "--to", "parquet", "--output", tmp_path / "out"]
    assert clir(*arguments, "--query", " ").code == 2
    assert "must be a local folder" in clir(*arguments[:-1], "gs://bucket/out").err
    answer = clir(*arguments, "--index", tmp_path / "none")
    command = f"make one first: clir index {searchable} --index {tmp_path / 'none'}"
    assert (answer.code, command in answer.err) == (1, True)


def test_a_removed_document_is_not_exported(clir: Clir, searchable: Path, tmp_path: Path) -> None:
    shutil.copytree(searchable, tmp_path / "run")
    (tmp_path / "ids").write_text("d2\nd4\n")
    assert clir("index", tmp_path / "run", "--remove", tmp_path / "ids").code == 0
    for engine in ENGINES:
        answer = clir("export", tmp_path / "run", "--to", engine, "--output", tmp_path / engine)
        assert answer.code == 0, answer.err
    exported = pq.read_table(tmp_path / "parquet" / "documents-00000.parquet")["id"].to_pylist()
    assert exported == ["d1", "d3", "d5"]
    assert [record["fields"]["doc_id"] for record in json_lines(tmp_path / "vespa")] == exported
    assert [line["index"]["_id"] for line in json_lines(tmp_path / "opensearch")[::2]] == exported


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("full", "--output: must be a new or empty folder; .*full holds something. Choose another."),
        ("full/mine", "--output: must be a folder, but .*mine is a file."),
        ("full/mine/below", "--output: must be a folder, but .*mine is a file."),
    ],
)
def test_what_is_in_the_place_of_the_output_is_left_as_it_is(
    clir: Clir, searchable: Path, tmp_path: Path, output: str, error: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    answer = clir("export", searchable, "--to", "parquet", "--output", tmp_path / output)
    assert answer.code == 1 and re.search(error, answer.err), answer.err
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine"]


def test_an_empty_folder_is_filled_even_by_way_of_a_link(clir: Clir, searchable: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    assert clir("export", searchable, "--to", "parquet", "--output", tmp_path / "link").code == 0
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["documents-00000.parquet"]


def test_the_command_offers_every_engine() -> None:
    (option,) = [one for one in export_command.params if one.name == "engine"]
    assert [*option.type.choices] == [*ENGINES]  # type: ignore[attr-defined]

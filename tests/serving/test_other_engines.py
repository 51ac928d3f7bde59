"""An index in the forms of other engines: all documents are there, and the engine's expression is the model's score."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

from models.exported.model import LoadedModel
from schemas.errors import DataError
from schemas.wikiclir import Text
from smooth_clir.cli.export import export_command
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.exports.export import ENGINES, export_index
from smooth_clir.retrieval.exports.json_lines import write_parts
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
        folder = tmp_path / f"{engine}-{query}"
        export_index(CorpusIndex(str(searchable / "index" / "1")), model, engine, str(folder), query)
        return folder

    return write


@pytest.fixture(scope="module")
def scores(model: LoadedModel, searchable: Path) -> dict[str, float]:
    """The score of every document for the query."""
    index = CorpusIndex(str(searchable / "index" / "1"))
    return {hit.doc_id.decode(): hit.score for hit in index.search(model.encode_query(QUERY), len(index))}


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def json_lines(folder: Path) -> list[Any]:
    files = sorted(folder.glob("documents-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def product(left: dict[str, float], right: dict[str, float]) -> float:
    return sum(weight * right.get(term, 0.0) for term, weight in left.items())


def test_parquet_files_hold_what_a_search_compares(export: Export, scores: dict[str, float]) -> None:
    folder = export("parquet")
    rows = pq.read_table(folder / "documents-00000.parquet").to_pylist()
    query = read_json(folder / "query.json")
    assert [(row["id"], row["title"], row["text"]) for row in rows] == [document[:3] for document in DOCUMENTS]
    expressed = {
        row["id"]: np.dot(row["vector"], query["vector"])
        + product(dict(zip(row["terms"], row["weights"], strict=True)), query["words"])
        for row in rows
    }
    assert expressed == pytest.approx(scores, abs=1e-6)


def test_vespa_s_rank_expression_is_the_score_and_its_application_declares_the_fields(
    export: Export, model: LoadedModel, scores: dict[str, float]
) -> None:
    folder = export("vespa")
    query, records = read_json(folder / "query.json"), json_lines(folder)
    expressed = {}
    for record in records:
        fields = record["fields"]
        assert record["put"] == f"id:clir:clir::{fields['doc_id']}"
        assert fields["terms"].keys() == fields["words"]["cells"].keys()
        dense = np.dot(fields["vector"]["values"], query["input.query(vector)"])
        expressed[fields["doc_id"]] = dense + product(fields["words"]["cells"], query["input.query(words)"])
    assert expressed == pytest.approx(scores, abs=1e-6)
    assert [record["fields"]["text"] for record in records] == [document.text for document in DOCUMENTS]
    schema = (folder / "application" / "schemas" / "clir.sd").read_text()
    assert schema.count("{") == schema.count("}")
    declared = set(re.findall(r"field (\w+) type", schema))
    assert {*records[0]["fields"]} == declared
    assert schema.count(f"tensor<float>(x[{len(model.encode_query(QUERY).vector)}])") == 2
    assert set(re.findall(r"input\.query\((\w+)\)", json.dumps(query))) == set(re.findall(r"query\((\w+)\) t", schema))
    assert set(re.findall(r"\((\w+), ", query["yql"])) <= declared
    (document,) = ElementTree.parse(folder / "application" / "services.xml").iter("document")
    assert document.get("type") == "clir"


def test_opensearch_s_score_is_the_model_s_and_a_constant_that_lets_none_be_negative(
    export: Export, scores: dict[str, float]
) -> None:
    folder = export("opensearch")
    query = read_json(folder / "query.json")["query"]["script_score"]
    near, sparse = query["query"]["bool"]["should"]
    assert near["constant_score"]["boost"] == 0
    words = sparse["neural_sparse"]["words"]["query_tokens"]
    script = query["script"]
    assert script["source"].startswith("params.offset + _score + ")
    lines = json_lines(folder)
    documents = dict(zip([line["index"]["_id"] for line in lines[::2]], lines[1::2], strict=True))
    expressed = {
        name: product(words, document.get("words", {}))
        + (np.dot(script["params"]["vector"], document["vector"]) if "vector" in document else 0.0)
        for name, document in documents.items()
    }
    assert expressed == pytest.approx(scores, abs=1e-6)
    assert min(expressed.values()) + script["params"]["offset"] >= 0
    mapped = read_json(folder / "index.json")["mappings"]["properties"]
    assert {key for document in documents.values() for key in document} == mapped.keys()
    assert mapped["vector"]["dimension"] == len(near["constant_score"]["filter"]["knn"]["vector"]["vector"])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_query_of_unknown_words_asks_for_no_vector_and_none_makes_no_example(export: Export, engine: str) -> None:
    query = (export(engine, "zzzz") / "query.json").read_text()
    assert engine == "parquet" or ("nearestNeighbor" not in query and "knn" not in query)
    assert not (export(engine, None) / "query.json").exists()


@pytest.fixture
def make_index(searchable: Path, tmp_path: Path) -> Callable[..., CorpusIndex]:
    def make(*documents: Text) -> CorpusIndex:
        index_documents(searchable / "serving" / "1", tmp_path / "index" / "1", documents)
        return CorpusIndex(str(tmp_path / "index" / "1"))

    (tmp_path / "index").mkdir()
    return make


def test_characters_that_vespa_refuses_are_replaced_and_counted(
    make_index: Callable[..., CorpusIndex], model: LoadedModel, tmp_path: Path
) -> None:
    index = make_index(Text("d1", "Chat", "chat \x01 blanc \ufffe", 1), Text("d2", "", "chien \U0001f43a", 2))
    (remark,) = export_index(index, model, "vespa", str(tmp_path / "out"), None)
    assert remark.endswith(": 1")
    texts = [record["fields"]["text"] for record in json_lines(tmp_path / "out")]
    assert texts == ["chat \ufffd blanc \ufffd", "chien \U0001f43a"]


@pytest.mark.parametrize(
    ("engine", "doc_id", "reported"),
    [("vespa", "d\x01", r"Vespa; got 'd\\x01'"), ("opensearch", "é" * 257, "512 bytes for OpenSearch; .* has 514")],
)
def test_an_id_that_the_engine_refuses_ends_it_and_leaves_nothing(
    make_index: Callable[..., CorpusIndex],
    model: LoadedModel,
    tmp_path: Path,
    engine: str,
    doc_id: str,
    reported: str,
) -> None:
    index = make_index(Text(doc_id, "Chat", "chat", 1))
    with pytest.raises(DataError, match=reported):
        export_index(index, model, engine, str(tmp_path / "out"), None)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_file_ends_after_its_bytes_and_keeps_what_belongs_together(tmp_path: Path) -> None:
    write_parts(tmp_path, (({"id": number}, {"n": 1}) for number in range(5)), max_bytes=10)
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [f"documents-{number:05}.jsonl" for number in range(5)]
    assert all(len(path.read_text().splitlines()) == 2 for path in files)


# clir export


def test_the_command_exports_the_newest_index_without_removed_documents(
    clir: Clir, searchable: Path, tmp_path: Path
) -> None:
    shutil.copytree(searchable, tmp_path / "run")
    (tmp_path / "ids").write_text("d2\nd4\n")
    assert clir("index", tmp_path / "run", "--remove", tmp_path / "ids").code == 0
    (tmp_path / "opensearch").mkdir()  # an empty folder is filled, even by way of a link
    (tmp_path / "link").symlink_to("opensearch")
    for engine in ENGINES:
        output = tmp_path / ("link" if engine == "opensearch" else engine)
        answer = clir("export", tmp_path / "run", "--to", engine, "--output", output, "--query", QUERY)
        assert answer.code == 0, answer.err
        assert f"3 documents for {engine}" in answer.out
    exported = pq.read_table(tmp_path / "parquet" / "documents-00000.parquet")["id"].to_pylist()
    assert exported == ["d1", "d3", "d5"]
    assert [record["fields"]["doc_id"] for record in json_lines(tmp_path / "vespa")] == exported
    assert [line["index"]["_id"] for line in json_lines(tmp_path / "opensearch")[::2]] == exported
    (option,) = [param for param in export_command.params if param.name == "engine"]
    assert [*option.type.choices] == [*ENGINES]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "code", "reported"),
    [
        ("--output {}/out --query \u2003", 2, "--query"),
        ("--output gs://bucket/out", 1, "gs://bucket/out"),
        ("--output {}/out --index {}/none", 1, "--index {}/none"),
        ("--output {}/full", 1, "{}/full is not empty"),
        ("--output {}/full/mine", 1, "{}/full/mine is a file"),
        ("--output {}/full/mine/below", 1, "{}/full/mine is a file"),
    ],
)
def test_the_command_refuses_what_it_cannot_do_and_leaves_what_is_there(
    clir: Clir, searchable: Path, tmp_path: Path, options: str, code: int, reported: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    arguments = options.replace("{}", str(tmp_path)).split(" ")
    answer = clir("export", searchable, "--to", "parquet", *arguments)
    assert (answer.code, reported.replace("{}", str(tmp_path)) in answer.err) == (code, True), answer.err
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine"]

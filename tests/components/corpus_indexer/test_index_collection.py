"""The Beam job that encodes a collection: every document is in one segment, however the shards are divided."""

import glob
from pathlib import Path

import apache_beam as beam
import pytest

from components.collection_gen import write_collection as module
from components.collection_gen.write_collection import write_collection
from components.corpus_indexer import index_collection as job
from components.corpus_indexer.index_collection import index_collection, parts_of, read_records
from schemas.collection import MANIFEST_FILE, Shard, parse_manifest
from schemas.errors import DataError
from schemas.index_manifest import FieldRecord
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.corpus_index import CorpusIndex
from tests.models.loaded_once import loaded_once, model_with_words

pytestmark = pytest.mark.stages

TEXTS = ["chat", "chien blanc", "un chat noir", "lune", "ararat", "un", "blanc"]


def indexed(folder: Path, lines: list[str], fields: tuple[str, ...] = ()) -> CorpusIndex:
    """An index of the lines of a documents file."""
    (folder / "documents").write_text("".join(lines))
    collection = folder / "collection"
    collection.mkdir()
    write_collection({"documents": [str(folder / "documents")]}, {}, 2, str(collection), fields=fields)
    roles = parse_manifest((collection / MANIFEST_FILE).read_text())
    path = model_with_words().path
    with loaded_once(), beam.Pipeline() as pipeline:
        index_collection(pipeline, path, str(collection), roles, str(folder / "index"), str(folder / "records"))
    records = read_records(glob.glob(str(folder / "records*")))
    (folder / "index").mkdir(exist_ok=True)
    assemble_index(str(folder / "index"), "0a", records, len(parts_of(roles["documents"].shards)), fields=fields)
    return CorpusIndex(str(folder / "index"))


def test_every_document_is_indexed_once_and_no_line_that_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BUFFER", 1)  # a shard ends where it is full
    monkeypatch.setattr(module, "_SHARD_BYTES", 60)
    monkeypatch.setattr(job.parts_of, "__defaults__", (2,))
    lines = [f"d{number}\ttitle {number}\t{text}\n" for number, text in enumerate(TEXTS)]
    lines[2:2] = ["no document\n", "d0\tthe same id\tchat\n"]
    index = indexed(tmp_path, lines)
    assert [document[:3] for document in index.documents()] == [
        (f"d{number}", f"title {number}", text) for number, text in enumerate(TEXTS)
    ]
    assert len(index.manifest.segments) > 3
    assert all(segment.documents <= 2 for segment in index.manifest.segments)


def test_fields_of_the_input_files_are_those_of_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job.parts_of, "__defaults__", (2,))
    lines = [
        "Year\tid\ttext\tlang\n",
        "2020\ta\tun chat\t es\n",
        "\tb\tlune\t\n",
        "x\tb\tthe same id\tfr\n",
        "7\tc\tun\tfr\n",
    ]
    index = indexed(tmp_path, lines, ("lang", "year"))
    fields = {document.id: document.fields for document in index.documents()}
    assert fields == {"a": ("es", "2020"), "b": ("", ""), "c": ("fr", "7")}
    kinds = {"lang": FieldRecord(type="text", documents=2), "year": FieldRecord(type="number", documents=2)}
    assert index.fields == kinds
    (tmp_path / "lacking").mkdir()
    with pytest.raises(DataError, match="value of year"):
        indexed(tmp_path / "lacking", ['{"id": "a", "text": "chat", "lang": "es"}\n'], ("lang", "year"))


def test_a_collection_without_a_document_makes_an_empty_index(tmp_path: Path) -> None:
    index = indexed(tmp_path, ["no document\n"])
    assert (len(index), list(index.documents())) == (0, [])


@pytest.mark.parametrize("lines", [0, 1, 3, 7, 9])
def test_the_parts_of_shards_hold_each_line_once(lines: int) -> None:
    parts = parts_of((Shard("a", 1, lines), Shard("b", lines + 1, 4)), max_lines=3)
    assert [part.number for part in parts] == list(range(len(parts)))
    for shard in ("a", "b"):
        held = [
            line for part in parts if part.shard.name == shard for line in range(part.first, part.first + part.lines)
        ]
        assert held == list(range(lines if shard == "a" else 4))
    assert all(1 <= part.lines <= 3 for part in parts)

"""Files that the first look refuses, before anything runs, and what it leaves to the run."""

import bz2
import gzip
import hashlib
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipeline.config_file import load_config
from schemas.errors import ConfigError
from schemas.wikiclir import Reason
from tests.bad_input.collection import DOCUMENTS, QUERIES, npy, write_collection, write_vectors
from tests.cli.command import Clir

BESIDE = {
    "embeddings.document": "channels.towers.embedding_dim=2",
    "channels.encoder.path": "channels.encoder.kind=saved_model",
    "channels.encoder.document_vectors": "channels.encoder.kind=vectors channels.encoder.query_vectors=q.npy",
}
"""The settings that go with a key."""
PICKLE = pickle.dumps((["loup", "chien"], np.ones((2, 2), np.float32)), 2)

CROSSED = [f"{number} vit" for number in range(12)]
"""Queries of pairs that are in the documents' language."""

Spoil = Callable[[Path], object]


def file(name: str, content: str | bytes) -> Spoil:
    """Writes a file."""
    return lambda folder: (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def store(name: str, change: Callable[[bytes], bytes]) -> Spoil:
    """Stores a file in another form."""
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def instead(name: str, make: Spoil) -> Spoil:
    """Puts something else in a file's place."""

    def spoil(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return spoil


def nothing(folder: Path) -> None:
    """Leaves all files as they are."""


def without_its_checksum(content: bytes) -> bytes:
    """A whole gzip file whose content is not what its end says."""
    return gzip.compress(content)[:-8] + bytes(8)


def bomb(folder: Path) -> None:
    """3 MB that unpack to one line of 3 GB."""
    piece = gzip.compress(b"w" * (2 << 20), mtime=0)
    (folder / "wiki.queries").write_bytes(gzip.compress(b"q1\tWolf\t") + 1500 * piece)


class Command:
    """Pickles as a command."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("touch out",)


def vectors(number: int, row: list[float]) -> Spoil:
    """Replaces a row of the documents' vectors."""
    rows = [[1.0, i, 2.0] for i in range(len(DOCUMENTS))]
    return file("d.npy", npy([*rows[: number - 1], row, *rows[number:]]))


# fmt: off
SPOILT = [
    # The collection; `tests/pipeline/test_input_files.py` has more of each role
    ("data.documents=wiki.documents", instead("wiki.documents", lambda path: None), "no file"),
    ("data.documents=wiki.documents", instead("wiki.documents", Path.mkdir), "folder"),
    ("data.documents=wiki.documents", instead("wiki.documents", os.mkfifo), "pipe"),
    ("data.documents=wiki.documents", file("wiki.documents", "d1\tLoup\tvit\n"), "got 1"),
    ("data.documents=wiki.documents", file("wiki.documents", b"\xfd7zXZ\x00\x00\x04\xe6"), ":1: … UTF-8"),
    ("data.documents=wiki.documents", store("wiki.documents", lambda text: text.decode().encode("utf-16")), ":1: "),
    ("data.documents=wiki.documents", store("wiki.documents", lambda text: gzip.compress(text)[:60]), "cannot be read"),
    ("data.documents=wiki.documents", store("wiki.documents", without_its_checksum), ":7: … CRC"),
    ("data.judgments=en2fr.rel", file("en2fr.rel", ""), "empty"),
    ("data.judgments=candidates", nothing, ":1: … q1 | d1 | 2 | train"),
    ("data.queries=wiki.queries", store("wiki.queries", lambda text: text.replace(b"\t", b"|")),
     ":1: … q1|Wolf 1| … --columns text="),
    ("data.queries=wiki.queries", store("wiki.queries", lambda text: b"query_id\ttitre\ttexte\n" + text),
     ":1: … query_id | titre | texte … id, title (optional), text"),
    ("data.judgments=en2fr.rel", store("en2fr.rel", lambda text: b"query_id\tnote\tgrade\n" + text),
     ":1: … query_id | note | grade … query_id, doc_id, grade … --columns grade="),
    ("data.documents=wiki.documents search.index=true search.fields=[lang]", nothing, ":1: … text, lang"),
    ("data.queries=wiki.queries", bomb, ":1: … 200 times"),
    ("data.queries=wiki.documents data.documents=wiki.queries", nothing, "data.documents swapped"),
    # Word vectors
    ("embeddings.document=fr.vec", nothing, "no file"),
    ("embeddings.document=fr.vec", file("fr.vec", "1 3\nloup 1 2 3\n"), "2 numbers … got 3 … to 3"),
    ("embeddings.document=fr.vec", file("fr.vec", "loup 1 2 3\n"), "2 numbers … fr.vec:1: … loup 1 2 3"),
    ("embeddings.document=fr.bz2", file("fr.bz2", bz2.compress(b"loup 1 2\nchien 3 4\n")[:-8]), ":3: "),
    ("embeddings.document=fr.pkl", file("fr.pkl", pickle.dumps({"loup": [1.0, 2.0]}, 2)), "got dict"),
    ("embeddings.document=fr.pkl", file("fr.pkl", pickle.dumps((["loup"], Command()), 2)), "posix.system"),
    ("embeddings.document=fr.pkl", file("fr.pkl", PICKLE[:-20]), "cut off"),
    # Pairs of the lexicon
    ("channels.lexicon.pairs=pairs.tsv", file("pairs.tsv", "wolf ||| loup\n"), ":1: … wolf ||| loup"),
    ("channels.lexicon.pairs=psq.json", file("psq.json", '{"loup": {"wolf": 1},\n "chien" 2}'), ":2: … ':'"),
    ("channels.lexicon.pairs=psq.json", file("psq.json", 100_000 * '{"loup": '), ":1: "),
    ("channels.lexicon.pairs=psq.json.gz", file("psq.json.gz", gzip.compress(b"{" + bytes(1 << 25))), "200 times"),
    ("channels.lexicon.pairs=pairs.tsv", file("pairs.tsv", 10 * "loup\twolf\nmeute\tpacks\n"), "first column"),
    ("channels.lexicon.pairs=psq.json", file("psq.json", json.dumps({"lives": dict.fromkeys(CROSSED, 1)})),
     "first column"),
    # Pre-trained encoders
    ("channels.encoder.path=model", nothing, "no folder"),
    ("channels.encoder.path=model", file("model", b"\x08"), "is a file"),
    ("channels.encoder.path=model", lambda folder: (folder / "model").mkdir(), "saved_model.pb"),
    ("channels.encoder.document_vectors=d.npy", lambda folder: (folder / "d.ids").unlink(), "d.ids"),
    ("channels.encoder.document_vectors=d.npy", file("d.ids", "d1\nd2\n"), "d.ids … holds 2"),
    ("channels.encoder.document_vectors=d.npy", file("d.ids", "d1\nd2\nd3\nd2\nd5\nd6\n"), "'d2' … d.ids:2 … d.ids:4"),
    ("channels.encoder.document_vectors=d.npy", store("d.npy", lambda content: content[:-8]), "whole"),
    ("channels.encoder.document_vectors=d.npy", vectors(3, [0, 0, 0]), "'d3' (row 3) … zero"),
    ("channels.encoder.document_vectors=d.npy", vectors(6, [1, float("nan"), 2]), "'d6' (row 6) … NaN"),
    ("channels.encoder.document_vectors=d.tsv", file("d.tsv", "d1\t1\t2\n"), ".parquet or .npy"),
    ("channels.encoder.document_vectors=gs://b/d.npy", nothing, "bucket"),
]
# fmt: on


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a good collection."""
    write_collection(tmp_path)
    write_vectors(tmp_path, {"q": QUERIES, "d": DOCUMENTS})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("settings", "spoil", "shown"), SPOILT)
def test_a_spoilt_file_is_refused_at_its_setting_with_its_path_and_its_line(
    folder: Path, settings: str, spoil: Spoil, shown: str
) -> None:
    load_config("run.yaml")
    spoil(folder)
    key, _, name = settings.split()[0].partition("=")
    with pytest.raises(ConfigError) as error:
        load_config("run.yaml", f"{settings} {BESIDE.get(key, '')}".split())
    (fault,) = error.value.faults
    assert f": {key}: " in fault and all(text in fault for text in (name, *shown.split(" … "))), fault
    assert not (folder / "out").exists()


def test_swapped_judgments_are_told_at_both_settings(folder: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config("run.yaml", ["data.queries=en2fr.rel", "data.judgments=wiki.queries"])
    assert [fault.split(": ")[1] for fault in error.value.faults] == ["data.judgments", "data.queries"]
    assert "swapped with data.judgments" in error.value.faults[1]


@pytest.mark.parametrize("name", ["wiki.queries", "wiki.documents"])
def test_a_break_below_the_first_lines_is_left_to_the_run(folder: Path, name: str) -> None:
    lines = "".join(f"{name[5]}{i}\tLoup\t{hashlib.sha256(b'%d' % i).hexdigest()}\n" for i in range(6000))
    stored = gzip.compress(lines.encode())
    (folder / name).write_bytes(stored[: 2 * len(stored) // 3])
    load_config("run.yaml")


# What a command is given

RANK = ("rank", "model", "--query", "wolf", "--documents", "wiki.documents")


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (("run", "run.yaml", "--set", "channels.towers.epsilon=-1"), 2, "channels.towers.epsilon"),
        (("run", "run.yaml", "--set", "data.documents=missing"), 2, "missing"),
        (("run", "run.yaml", "--fast"), 2, "--fast"),
        (("rank", "model", "--query", " ", "--documents", "wiki.documents"), 2, "--query"),
        (("rank", "model", "--query", "\udce9t\udce9", "--documents", "wiki.documents"), 2, "'\\udce9t\\udce9'"),
        ((*RANK[:-1], "missing"), 1, "missing"),
        ((*RANK[:-1], "bars"), 1, "2 x wrong number of fields; first at line 1: d1|Loup"),
        (("rank", "none", *RANK[2:]), 1, "none"),
        (("rank", "empty", *RANK[2:]), 1, "empty"),
        (("convert", "--join", "a=run.yaml", "--output", "pool"), 2, "--join"),
        (("convert", "--join", "a=run.yaml", "--join", "b=run.yaml", "--output", "pool"), 2, "wiki.queries"),
    ],
)
def test_a_command_refuses_bad_input_with_a_message_and_its_exit_code(
    folder: Path, clir: Clir, arguments: tuple[str, ...], code: int, shown: str
) -> None:
    (folder / "empty" / "serving" / "1").mkdir(parents=True)
    (folder / "model").mkdir()
    (folder / "model" / "saved_model.pb").touch()
    (folder / "bars").write_text("d1|Loup\nd2|Chien\n")
    done = clir(*arguments)
    assert (done.code, done.out) == (code, "")
    assert shown in done.err and "Traceback" not in done.err
    assert not (folder / "out").exists() and not (folder / "pool").exists()


def test_the_page_names_every_reason_that_makes_a_record_bad() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert [reason.text for reason in Reason if reason.bad and f"| {reason.text} |" not in page] == []

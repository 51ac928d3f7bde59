"""Every reader of files that others wrote gives records, drops or an error of ours, whatever was changed in a file."""

import bz2
import gzip
import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models.encoders.vector_files import read_vectors
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.forms import read_rows
from schemas.index_manifest import Drift, IndexManifest
from schemas.lexicon_pairs import parse_pairs
from schemas.training_history import Epoch, ScoreCounts, TrainingHistory
from schemas.word_vectors import read_word_vectors
from smooth_clir.wikipedia.dumps.chunks import dump_chunks
from smooth_clir.wikipedia.dumps.read_pages import read_pages
from smooth_clir.wikipedia.dumps.site_info import read_site_info
from smooth_clir.wikipedia.dumps.sql_dump import read_rows as read_sql_rows
from smooth_clir.wikipedia.wikitext.article import read_article
from smooth_clir.wikipedia.wikitext.conventions import conventions_for
from smooth_clir.wikipedia.wikitext.markup import TooCostly
from tests.memory_files import in_memory
from tests.schemas.word_tables import polyglot
from tests.wikipedia.dumps.dump_files import dump, multistream, page, sql_dump

pytestmark = pytest.mark.long

Reader = Callable[[bytes, Path], Iterable[Any]]

PIECES: Final = (
    *(
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        "\u2028\u200d\ufdd0é".encode(),
        b"\r",
        b"\n\n",
        b"\t\t",
        b" ",
    ),
    *(b'"', b"'", b"\\", b",", b";", b"{", b"}", b"]", b"[" * 5_000, b'{"a":' * 5_000, b"{{" * 500, b"[[" * 500),
    *(b"<", b">", b"<page>", b"</text>", b"&#0;", b"&lol;", b"<!DOCTYPE a [", b"]]>", b"<!--", b"(", b")", b"),("),
    *(b"9" * 5_000, b"-1", b"1e999", b"NaN", b"null", b"true", b"0x", b"\x1f\x8b", b"BZh9", b"\x93NUMPY"),
)
"""Pieces that broke readers: signs of their syntax, numbers out of range, nesting, ends of lines, invalid UTF-8."""

TEXTS: Final = (("q1", "Wolves", "grey wolves hunt"), ("q2", "", "a volcano, it is said"), ("q3", "東京", "首都"))
JUDGED: Final = (("q1", "d1", "2"), ("q1", "d2", "1"), ("q2", "d3", "0"))


def lines(rows: Iterable[Iterable[str]], separator: str = "\t") -> bytes:
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def objects(rows: Iterable[Iterable[str]], *names: str) -> list[dict[str, str]]:
    return [dict(zip(names, row, strict=True)) for row in rows]


def rows_of(role: str) -> Reader:
    return lambda content, _: read_rows(role, io.BytesIO(content), "file.tsv")


def pairs_of(name: str) -> Reader:
    return lambda content, _: parse_pairs(io.BytesIO(content), name)


def word_vectors(name: str) -> Iterable[Any]:
    return read_word_vectors(name, 2)


def record(kind: Any) -> Reader:
    def read(content: bytes, folder: Path) -> list[Any]:
        (folder / "record.json").write_bytes(content)
        return [kind.read(folder / "record.json", "run it again")]

    return read


def file_reader(name: str, read: Callable[[str], Iterable[Any]]) -> Reader:
    def read_content(content: bytes, _: Path) -> Iterable[Any]:
        with in_memory({name: content}):
            yield from read(name)

    return read_content


def pages(name: str) -> Iterable[Any]:
    for chunk in dump_chunks(name, 1 << 12):
        yield from read_pages(chunk)


def article(content: bytes, _: Path) -> list[Any]:
    return [read_article(content.decode("utf-8", "replace"), "Wolf", conventions_for("en", {}))]


def npy(content: bytes, folder: Path) -> list[Any]:
    (folder / "vectors.npy").write_bytes(content)
    (folder / "vectors.ids").write_text("q1\nq2\nq3\n")
    return [read_vectors(str(folder / "vectors.npy"))]


def npy_file() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.eye(3, dtype=np.float32))
    return stream.getvalue()


PAGES: Final = [
    page(number, f"Title {number}", "The '''wolf''' is a [[mammal]].{{x|y=1}}\n* a") for number in (1, 2, 3)
]
ROWS: Final = sql_dump("t", "`a` int(8) unsigned,\n  `b` varbinary(255),\n  `c` double", (1, "x", 0.5), (2, "y'", None))
WIKITEXT: Final = (
    b"{{Infobox|a=[[b|c]]}}The '''wolf''' is {{convert|40|kg}}.<ref>x</ref>\n"
    b"{|\n| a\n|}\n== Diet ==\n&amp; [[File:a.jpg|b]]"
)

MANIFEST: Final = IndexManifest(
    model="0a", dimension=8, documents=0, segments=(), next_number=0, drift=Drift(documents=0)
)
HISTORY: Final = TrainingHistory(
    train_pairs=4,
    best_epoch=1,
    best_value=0.5,
    history=[Epoch(epoch=1, scores=ScoreCounts(limit=1, counts={"2": [1, 2]}), **{"train/loss": 0.5})],
    pairs_per_second=9.0,
    steps=6,
    theta=None,
)

READERS: Final[dict[str, tuple[Reader, bytes]]] = {
    "queries in TSV": (rows_of("queries"), lines(TEXTS)),
    "documents in CSV": (rows_of("documents"), b'id,title,text\nd1,"a, b","c ""d""\ne"\nd2,f,g\n'),
    "documents in JSON lines": (
        rows_of("documents"),
        b"\n".join(json.dumps(row).encode() for row in objects(TEXTS, "_id", "title", "text")),
    ),
    "documents in a JSON array": (
        rows_of("documents"), json.dumps(objects(TEXTS, "id", "title", "text")).encode(),
    ),
    "queries in gzip": (rows_of("queries"), gzip.compress(lines(TEXTS), mtime=0)),
    "queries in bzip2": (rows_of("queries"), bz2.compress(lines(TEXTS))),
    "judgments of TREC": (rows_of("judgments"), lines(((q, "0", d, g) for q, d, g in JUDGED), " ")),
    "judgments in TSV": (rows_of("judgments"), b"query-id\tcorpus-id\tscore\n" + lines(JUDGED)),
    "candidates": (rows_of("candidates"), lines((*row, "train") for row in JUDGED)),
    "domains": (rows_of("domains"), b"q1\tnews\nq2\thealth\n"),
    "pairs in lines": (pairs_of("pairs.tsv"), b"wolf\tloup\t0.9\ngrey wolf\tloup gris\t1\n"),
    "pairs in a table": (pairs_of("psq.json"), b'{"loup": {"wolf": 0.9}, "a": {"b": 1}}'),
    "word vectors": (file_reader("words.vec", word_vectors), b"2 2\nwolf 0.5 1\n\xc3\xa9t\xc3\xa9 1 2\n"),
    "word vectors in a pickle": (
        file_reader("words.pkl", word_vectors), polyglot({"a": [0.5, -1.0], "b": [1.0, 2.0]}, 2),
    ),
    "vectors": (npy, npy_file()),
    "pages of a dump": (file_reader("p.xml", pages), dump(*PAGES)),
    "pages in bzip2 streams": (file_reader("p-multistream.xml.bz2", pages), multistream(PAGES, 2)[0]),
    "the header of a dump": (file_reader("p.xml", lambda name: [read_site_info(name)]), dump(*PAGES)),
    "rows of a table": (file_reader("t.sql", lambda name: read_sql_rows(name, "t", ["a", "b", "c"])), ROWS),
    "wikitext": (article, WIKITEXT),
    "a manifest of an index": (record(IndexManifest), MANIFEST.to_json().encode()),
    "a training's history": (record(TrainingHistory), HISTORY.to_json().encode()),
}  # fmt: skip


@st.composite
def changes(draw: st.DrawFn) -> Callable[[bytes], bytes]:
    """One to four changes at places between 0 and 1: something is put in, taken out, repeated, or the end is cut."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["insert", "replace", "remove", "repeat", "cut"]),
                st.floats(0, 1),
                st.integers(1, 40),
                st.sampled_from(PIECES) | st.binary(min_size=1, max_size=4),
            ),
            min_size=1,
            max_size=4,
        )
    )

    def change(content: bytes) -> bytes:
        for kind, where, length, piece in drawn:
            start = int(where * len(content))
            end = min(start + length, len(content))
            content = {
                "insert": content[:start] + piece + content[start:],
                "replace": content[:start] + piece + content[end:],
                "remove": content[:start] + content[end:],
                "repeat": content[:end] + content[start:end] * 50 + content[end:],
                "cut": content[:start],
            }[kind]
        return content

    return change


@pytest.mark.parametrize("name", READERS)
def test_the_file_before_its_changes_is_a_good_one(name: str, tmp_path: Path) -> None:
    read, content = READERS[name]
    assert not all(isinstance(record, Drop) for record in read(content, tmp_path))


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=100)
@given(change=changes())
@example(change=lambda content: content)
@example(change=lambda content: b"")
@example(change=lambda content: b"[" * 200_000)
@example(change=lambda content: b'{"a":' * 200_000)
def test_a_changed_file_gives_records_drops_or_an_error_of_ours(
    name: str, change: Callable[[bytes], bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    read, content = READERS[name]
    folder = tmp_path_factory.getbasetemp()
    try:
        for _ in read(change(content), folder):
            pass
    except (DataError, TooCostly) as error:
        assert str(error)

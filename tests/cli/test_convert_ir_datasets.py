"""`clir convert --ir-dataset`: a collection by its id in ir_datasets."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import ir_datasets
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries

from tests.cli.command import Clir

LANGUAGES = ("--query-language", "en", "--document-language", "fr")


class Query(NamedTuple):
    """A query in WikiCLIR's form there: its own text is not what ir_datasets takes for it."""

    query_id: str
    title: str
    first_sent: str

    def default_text(self) -> str:
        return self.title


class Topic(NamedTuple):
    """A query in TREC's form, without a text of its own."""

    query_id: str
    title: str
    description: str

    def default_text(self) -> str:
        return self.title


class Document(NamedTuple):
    """A document with a title."""

    doc_id: str
    title: str
    text: str


class Qrel(NamedTuple):
    """A judgment."""

    query_id: str
    doc_id: str
    relevance: int


class Documents(BaseDocs):  # type: ignore[misc]
    """Documents in a language, or what goes wrong when they are read."""

    def __init__(self, fault: Exception | None = None, language: str = "fr") -> None:
        self.fault, self.language = fault, language

    def docs_lang(self) -> str:
        return self.language

    def docs_iter(self) -> Iterator[Document]:
        if self.fault:
            raise self.fault
        yield from (Document(f"d{number}", f"titre {number}", f"un\ttexte\nno {number}") for number in range(5))


class Queries(BaseQueries):  # type: ignore[misc]
    """English queries."""

    def __init__(self, queries: Sequence[Query | Topic]) -> None:
        self.queries = queries

    def queries_lang(self) -> str:
        return "en"

    def queries_iter(self) -> Iterator[Query | Topic]:
        return iter(self.queries)


class Qrels(BaseQrels):  # type: ignore[misc]
    """Judgments."""

    def __init__(self, qrels: Sequence[Qrel]) -> None:
        self.qrels = qrels

    def qrels_iter(self) -> Iterator[Qrel]:
        return iter(self.qrels)


QUERIES = [Query(f"q{number}", f"title {number}", f"sentence {number}") for number in range(12)]
QRELS = [Qrel(query.query_id, f"d{place % 5}", 2) for place, query in enumerate(QUERIES)]
COLLECTIONS = {
    "tiny/train": Dataset(Documents(), Queries(QUERIES[:9]), Qrels(QRELS[:8])),
    "tiny/test": Dataset(Documents(), Queries(QUERIES[8:]), Qrels(QRELS[8:])),
    "tiny/topics": Dataset(Documents(), Queries([Topic("q1", "a topic", "of TREC")]), Qrels(QRELS[:2])),
    "tiny/unjudged": Dataset(Documents(), Queries(QUERIES)),
    "tiny/german": Dataset(Documents(language="de"), Queries(QUERIES[8:]), Qrels(QRELS[8:])),
    "tiny/gone": Dataset(Documents(RuntimeError("no such host")), Queries(QUERIES), Qrels(QRELS)),
}


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    for name, collection in COLLECTIONS.items():
        if name not in [*ir_datasets.registry]:
            ir_datasets.registry.register(name, collection)


def test_ids_of_splits_become_files_with_the_languages_that_ir_datasets_knows(clir: Clir, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = clir("convert", "--ir-dataset", "train=tiny/train", "--ir-dataset", "test=tiny/test", "--output", out)
    assert (done.code, done.out.splitlines()) == (
        0,
        [
            "en queries, fr documents",
            "queries: 12 read, 12 used",
            "documents: 5 read, 5 used",
            "judgments train: 8 read, 8 used",
            "judgments test: 4 read, 4 used",
            "query lists: 7 train, 1 eval, 4 test; 60 query-document pairs",
            "grades: 0 .. 2",
        ],
    )
    assert (out / "queries.tsv").read_text().splitlines()[0] == "q0\ttitle 0\tsentence 0"
    assert (out / "documents.tsv").read_text().splitlines()[0] == "d0\ttitre 0\tun texte no 0"
    inputs = json.loads((out / "conversion.json").read_text())["account"]["inputs"]
    assert inputs["queries"]["path"] == "ir_datasets:tiny/train,tiny/test#queries"


def test_a_topic_without_a_text_is_what_ir_datasets_takes_for_it_and_lost_judgments_are_counted(
    clir: Clir, tmp_path: Path
) -> None:
    done = clir("convert", "--ir-dataset", "tiny/topics", "--max-bad-share", "0.5", "--output", tmp_path / "out")
    assert done.code == 0
    assert (tmp_path / "out" / "queries.tsv").read_text() == "q1\ta topic\ta topic\n"
    assert "judgments: 2 read, 1 used; left out: 1 unknown query" in done.out
    assert "  ir_datasets:tiny/topics#qrels:1: unknown query: q0 | d0 | 2" in done.out


def test_a_language_may_be_another_than_ir_datasets_says(clir: Clir, tmp_path: Path) -> None:
    done = clir("convert", "--ir-dataset", "tiny/train", "--query-language", "de", "--output", tmp_path / "out")
    assert done.out.splitlines()[0] == "de queries, fr documents"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tiny/trian",), "--ir-dataset: must be an id of ir_datasets; got 'tiny/trian'; did you mean tiny/train?"),
        (("tiny/unjudged",), "--ir-dataset: tiny/unjudged must have queries, documents and qrels; it lacks qrels."),
        (("tset=tiny/test",), "--ir-dataset: the split must be one of train, eval (or dev), test; got 'tset'"),
        (("tiny/gone",), "ir_datasets:tiny/gone#docs: cannot be read: no such host."),
        (
            ("train=tiny/train", "test=tiny/german"),
            "--ir-dataset: all must have the same documents and languages; tiny/train has queries in en and documents "
            "in fr, tiny/german has queries in en and documents in de.",
        ),
        (("tiny/train", "test=tiny/test"), "--ir-dataset: all must name their split, or none; tiny/train names none."),
    ],
)
def test_what_cannot_be_taken_is_said_and_nothing_is_written(
    clir: Clir, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    given = [part for one in arguments for part in ("--ir-dataset", one)]
    done = clir("convert", *given, *LANGUAGES, "--output", tmp_path / "out")
    assert done.code == (1 if "gone" in message else 2)  # data, and what the command line says
    assert message in done.err
    assert not (tmp_path / "out" / "config.yaml").exists()


def test_an_id_and_files_are_refused_together(clir: Clir, tmp_path: Path) -> None:
    done = clir("convert", "folder", "--ir-dataset", "tiny/train", "--output", tmp_path / "out")
    assert (done.code, "give --ir-dataset, or FOLDER" in done.err) == (2, True)


def test_a_look_up_that_gets_no_answer_is_said(clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise OSError("no such host")  # as for CLIRMatrix, of which ir_datasets downloads a list of files

    monkeypatch.setattr(ir_datasets, "load", load)
    done = clir("convert", "--ir-dataset", "tiny/train", "--output", tmp_path / "out")
    assert (done.code, "tiny/train: ir_datasets cannot look it up: no such host." in done.err) == (1, True)


def test_a_join_names_the_option_that_it_refuses(clir: Clir, tmp_path: Path) -> None:
    done = clir("convert", "--join", "a=b", "--join", "c=d", "--ir-dataset", "tiny/train", "--output", tmp_path / "out")
    assert (done.code, "beside it; got --ir-dataset." in done.err) == (2, True)


def test_without_the_package_the_message_says_how_to_install_it(
    clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    done = clir("convert", "--ir-dataset", "tiny/train", "--output", tmp_path / "out")
    assert (done.code, "ir_datasets must be installed: pip install ir-datasets." in done.err) == (2, True)

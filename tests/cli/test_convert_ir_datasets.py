"""`clir convert --ir-dataset`: a collection by its id in ir_datasets."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
    doc_id: str
    title: str
    text: str


class Qrel(NamedTuple):
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
QRELS = [Qrel(query.query_id, f"d{number % 5}", 2) for number, query in enumerate(QUERIES)]
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
    options = ("--query-language", "de", "--max-bad-share", "0.5", "--output", tmp_path / "out")
    done = clir("convert", "--ir-dataset", "tiny/topics", *options)
    assert (done.code, done.out.splitlines()[0]) == (0, "de queries, fr documents")
    assert (tmp_path / "out" / "queries.tsv").read_text() == "q1\ta topic\ta topic\n"
    assert "judgments: 2 read, 1 used; left out: 1 unknown query" in done.out
    assert "ir_datasets:tiny/topics#qrels:1: unknown query: q0 | d0 | 2" in done.out


def no_answer(name: str) -> None:
    raise OSError("no such host")  # as for CLIRMatrix, of which ir_datasets downloads a list of files


@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [
        ("--ir-dataset tiny/trian", 2, "'tiny/trian'; did you mean tiny/train?"),
        ("--ir-dataset tiny/unjudged", 2, "it lacks qrels"),
        ("--ir-dataset tset=tiny/test", 2, "got 'tset'"),
        ("--ir-dataset tiny/gone", 1, "ir_datasets:tiny/gone#docs"),
        ("--ir-dataset train=tiny/train --ir-dataset test=tiny/german", 2, "documents in de"),
        ("--ir-dataset tiny/train --ir-dataset test=tiny/test", 2, "tiny/train names none"),
        ("folder --ir-dataset tiny/train", 2, "FOLDER"),
        ("--join a=b --join c=d --ir-dataset tiny/train", 2, "--join cannot be combined with --ir-dataset"),
    ],
)
def test_a_collection_that_cannot_be_taken_is_named_and_nothing_is_written(
    clir: Clir, tmp_path: Path, arguments: str, code: int, reported: str
) -> None:
    languages = () if "--join" in arguments else LANGUAGES
    done = clir("convert", *arguments.split(), *languages, "--output", tmp_path / "out")
    assert (done.code, reported in done.err) == (code, True)
    assert not (tmp_path / "out" / "config.yaml").exists()


@pytest.mark.parametrize(
    ("target", "name", "value", "code", "reported"),
    [
        (ir_datasets, "load", no_answer, 1, "no such host"),
        (sys.modules, "ir_datasets", None, 2, "pip install ir-datasets"),
    ],
    ids=["a look-up without an answer", "without the package"],
)
def test_ir_datasets_that_cannot_answer_is_reported(
    clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: Any, name: str, value: Any, code: int,
    reported: str,
) -> None:  # fmt: skip
    (monkeypatch.setitem if target is sys.modules else monkeypatch.setattr)(target, name, value)
    done = clir("convert", "--ir-dataset", "tiny/train", "--output", tmp_path / "out")
    assert (done.code, reported in done.err) == (code, True)

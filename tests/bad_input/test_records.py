"""Bad and unusual records in one ingestion, and what a run says of a bad collection and of a full disk."""

import gzip
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from schemas.relevance import MOST_RELEVANT
from schemas.splits import SPLITS
from schemas.wikiclir import Reason
from tests.bad_input.collection import DOCUMENTS, QUERIES, write_collection
from tests.cli.command import Clir
from tests.components.collected import collect
from tests.e2e.process import fresh

pytestmark = pytest.mark.stages

ROLES = {"queries": "wiki.queries", "documents": "wiki.documents", "judgments": "en2fr.rel",
         "candidates": "candidates", "domains": "domains.tsv"}  # fmt: skip

Lines = list[tuple[str, str | bytes]]


def judged(query: str, domain: str = "news") -> Lines:
    """A query with all that it needs."""
    query_id = query.split("\t")[0]
    return [
        ("queries", query),
        ("judgments", f"{query_id}\td1\t2"),
        ("candidates", f"{query_id}\td1\t2\ttrain"),
        ("candidates", f"{query_id}\td2\t0\ttrain"),
        *([("domains", f"{query_id}\t{domain}")] if domain else []),
    ]


# What stands in a file, and the reason why it is left out.
BAD: list[tuple[str, str | bytes, Reason]] = [
    ("queries", "q80\tonly a title", Reason.FIELD_COUNT),
    ("judgments", "q1\td2\t1\ttrain", Reason.FIELD_COUNT),
    ("queries", b"q80\tWolf\tlives in \xff packs", Reason.BAD_UTF8),
    ("documents", "d80\tLoup\tvit \0 en meute", Reason.NUL_BYTE),
    ("queries", f"q80\tWolf\t{'w' * (17 << 20)}", Reason.LINE_TOO_LONG),
    ("documents", "d 80\tLoup\tvit en meute", Reason.BAD_ID),
    ("judgments", "q1\t\t2", Reason.BAD_ID),
    ("queries", "q80\tWolf\t", Reason.EMPTY_TEXT),
    ("documents", "d80\tLoup\t ", Reason.EMPTY_TEXT),
    ("documents", "d1\tChien\tgarde les maisons", Reason.DUPLICATE_ID),
    ("judgments", "q1\td1\t0", Reason.DUPLICATE_PAIR),
    ("judgments", "q1\td3\t3", Reason.BAD_GRADE),
    ("judgments", "q1\td3\t-1", Reason.BAD_GRADE),
    ("judgments", "query_id\tdoc_id\tgrade", Reason.BAD_GRADE),  # a header further down
    ("judgments", "q99\td1\t2", Reason.UNKNOWN_QUERY),
    ("judgments", "q1\td99\t1", Reason.UNKNOWN_DOCUMENT),
    ("judgments", "q94\td3\t1", Reason.NOT_A_CANDIDATE),
    ("candidates", "q72\td1\t2\tdev", Reason.BAD_SPLIT),
    ("domains", "q5\tnews/old", Reason.BAD_DOMAIN),
    ("queries", "q70\tWolf\tlives in packs", Reason.NO_JUDGMENT),
    ("queries", "q71\tWolf\tlives in packs", Reason.NO_MOST_RELEVANT),
    ("candidates", "q71\td1\t1\ttrain", Reason.QUERY_DROPPED),
    ("queries", "q73\tWolf\tlives in packs", Reason.TWO_SPLITS),
    ("candidates", "q73\td1\t2\ttrain", Reason.QUERY_DROPPED),
    ("candidates", "q73\td2\t0\ttest", Reason.QUERY_DROPPED),
    ("queries", "q74\tWolf\tlives in packs", Reason.NO_DOMAIN),
    ("candidates", "q74\td1\t2\ttrain", Reason.QUERY_DROPPED),
    ("queries", "q75\tWolf\tlives in packs", Reason.TWO_DOMAINS),
    ("candidates", "q75\td1\t2\ttrain", Reason.QUERY_DROPPED),
    ("domains", "q75\tnews", Reason.QUERY_DROPPED),
    ("domains", "q75\thealth", Reason.QUERY_DROPPED),
]
UNUSUAL = {
    "q90": 'q90\t"Wolf\tlives "in packs\'',
    "q91": f"q91\tWolf\t{'packs ' * 16_667}",
    "q92": f"q92\tWolf\t{'w' * 100_000}",
    "q93": "\u200eq93\u200b\tWolf\tlives in packs",
}
"""Queries that are only unusual: quotes, 100,000 characters, a word of as many, and marks in an id that nobody sees."""
WIDE = 2000
"""The number of candidates of one more query."""


class Ingested(NamedTuple):
    """One ingestion of all of them."""

    report: dict[str, Any]
    line_numbers: dict[tuple[str, str | bytes], int]
    """The line of each bad record in the file of its role."""


def spoil(folder: Path) -> dict[str, bytes]:
    """The good collection with bad records between unusual ones."""
    write_collection(folder)
    added = [(role, line) for role, line, _ in BAD]
    added += [line for query in UNUSUAL.values() for line in judged(query)] + judged("q94\tWolf\tlives in packs")
    for i in range(WIDE):
        added += [("documents", f"n{i}\tLoup\tvit {i}"), ("candidates", f"q94\tn{i}\t0\ttrain")]
    files = {role: (folder / name).read_bytes() for role, name in ROLES.items()}
    for role, line in added:
        files[role] += encoded(line) + b"\n"
    return files


def encoded(line: str | bytes) -> bytes:
    return line if isinstance(line, bytes) else line.encode()


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """One ingestion of all of them, in files of unusual forms."""
    import apache_beam as beam

    from components.wikiclir_example_gen.ingest import ingest
    from components.wikiclir_example_gen.lists import IngestSettings

    folder = tmp_path_factory.mktemp("ingested")
    files = spoil(folder)
    line_numbers = {(role, line): files[role].split(b"\n").index(encoded(line)) + 1 for role, line, _ in BAD}
    files["queries"] = b"\xef\xbb\xbf" + files["queries"] + b"\n\n"
    files["documents"] = gzip.compress(files["documents"] + b"\r\n")
    files["judgments"] = files["judgments"].replace(b"\n", b"\r\n")
    files["candidates"] = files["candidates"].removesuffix(b"\n")
    roles = collect(folder / "collection", files)
    settings = IngestSettings(negatives=1, seed=1, max_queries=None, top_grade=MOST_RELEVANT)
    splits = {split: str(folder / split / "data") for split in SPLITS}
    with beam.Pipeline(argv=[]) as pipeline:
        ingest(pipeline, settings, str(folder / "collection"), roles, splits, str(folder / "report.json"))
    return Ingested(json.loads((folder / "report.json").read_text()), line_numbers)


def test_each_bad_record_is_left_out_for_its_reason_with_its_line_and_no_other_is(ingested: Ingested) -> None:
    shown = {
        (role, example["line"]): (drop["reason"], example["text"].split(" | ")[0])
        for role, file in ingested.report["files"].items()
        for drop in file["drops"]
        for example in drop["examples"]
    }
    assert shown == {
        (role, ingested.line_numbers[role, line]): (reason.name.lower(), encoded(line).split(b"\t")[0].decode())
        for role, line, reason in BAD
    }


def test_lines_read_are_records_used_and_records_left_out(ingested: Ingested) -> None:
    for role, file in ingested.report["files"].items():
        left_out = [drop["count"] for drop in file["drops"]]
        assert sum(left_out) == sum(bad_role == role for bad_role, _, _ in BAD)
        assert file["read"] == file["used"] + sum(left_out)
    queries = len(QUERIES) + len(UNUSUAL) + 1
    assert ingested.report["files"]["queries"]["used"] == sum(ingested.report["lists"].values()) == queries
    assert ingested.report["files"]["documents"]["used"] == len(DOCUMENTS) + WIDE


# Real commands


def test_a_bad_collection_ends_a_run_with_the_worst_reasons_and_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clir: Clir
) -> None:
    write_collection(tmp_path)
    (tmp_path / "en2fr.rel").write_text((tmp_path / "en2fr.rel").read_text().replace("\td", "\tx"))
    monkeypatch.chdir(tmp_path)
    done = clir("run", "run.yaml")
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    assert "en2fr.rel: 10 of 10 records are bad; " in done.err and "(data.max_bad_share)" in done.err
    assert f"10 x {Reason.UNKNOWN_DOCUMENT.text}" in done.err and "en2fr.rel:1: q1 | x1 | 2" in done.err
    assert not (tmp_path / "out" / "serving").exists()


def test_a_damaged_database_of_earlier_runs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clir: Clir
) -> None:
    write_collection(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".clir.json").write_text(json.dumps({"made_by": "smooth-clir", "kind": "run", "files": {}}))
    (tmp_path / "out" / "metadata.sqlite").write_bytes(b"no database\n" * 1000)
    monkeypatch.chdir(tmp_path)
    done = clir("run", "run.yaml")
    assert (done.code, done.out) == (1, "")
    assert "out/metadata.sqlite" in done.err and "Traceback" not in done.err


def test_a_full_disk_ends_a_run_with_a_message(tmp_path: Path) -> None:
    """Takes some 10 s: only a process of its own can have a limit on the size of files, as on a full disk."""
    write_collection(tmp_path)
    with (tmp_path / "wiki.documents").open("a") as stream:
        stream.write(f"d7\tLoup\t{random.Random(1).randbytes(1 << 20).hex()}\n")
    done = fresh("run", "run.yaml", cwd=tmp_path, max_bytes=1 << 20)
    assert (done.code, done.out) == (1, "")
    assert "no space left" in done.err and "Traceback" not in done.err

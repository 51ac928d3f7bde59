"""`clir label`: the surest answers of an index become pairs, every query is accounted for, and bad use is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.lexicon_pairs import parse_pairs
from smooth_clir.serving.label_queries import among_largest
from tests.cli.command import Answer, Clir
from tests.cli.conftest import DOCUMENTS
from tests.models.loaded_once import model_with_words

pytestmark = pytest.mark.stages

TEXTS = {line.split("\t")[0]: line.split("\t")[2] for line in DOCUMENTS.splitlines()}
QUERIES = "q1\twhite cat\nq2\tdog\nq3\tzzz\nq4\tararat\nq1\tdog again\nq5\t\n"
ANSWERED = ("white cat", "dog", "ararat")


@pytest.fixture
def indexed(output: Path, clir: Clir) -> Path:
    """The output folder with an index of its documents, beside queries."""
    (output.parent / "queries").write_text(QUERIES)
    assert clir("index", output).code == 0
    return output


def label(clir: Clir, output: Path, *arguments: object) -> Answer:
    folder = output.parent
    return clir("label", output, "--queries", folder / "queries", "--output", folder / "pairs.tsv", *arguments)


def pairs_in(path: Path) -> list[Any]:
    with path.open("rb") as stream:
        return [*parse_pairs(stream, str(path))]


def test_the_queries_with_the_largest_margins_become_pairs_with_their_first_documents(
    clir: Clir, indexed: Path
) -> None:
    pairs = indexed.parent / "pairs.tsv"
    best, margins = {}, {}
    for query in ANSWERED:
        results = json.loads(clir("search", indexed, query, "-k", 2, "--json").out)["results"]
        first, second = [*(result["score"] for result in results), 0.0][:2]
        best[query], margins[query] = TEXTS[results[0]["doc_id"]], first - second
    answer = label(clir, indexed, "--share", 1)
    assert answer.code == 0, answer.err
    assert pairs_in(pairs) == [(query, best[query], 1.0) for query in ANSWERED]
    assert "--set channels.lexicon.pairs=" in answer.err
    label(clir, indexed, "--share", 0.34)
    ((query, *_),) = pairs_in(pairs)
    assert margins[query] == max(margins.values())


def test_every_query_is_accounted_for_by_its_reason(clir: Clir, indexed: Path) -> None:
    account = json.loads(label(clir, indexed, "--share", 0.67, "--json").out)
    assert account == {**json.loads((indexed.parent / "pairs.tsv.json").read_text()), "output": account["output"]}
    queries = account["queries"]
    drops = {drop["reason"]: drop["count"] for drop in queries["drops"]}
    assert drops == {"duplicate_id": 1, "empty_text": 1, "unanswered": 1, "small_margin": 1}
    assert queries["read"] == queries["used"] + sum(drops.values()) == 6
    assert (account["documents"], account["model_version"], account["share"]) == (3, "100", 0.67)
    assert account["margins"]["smallest"] < account["least_kept"] <= account["margins"]["largest"]


def test_the_same_command_replaces_its_pairs_also_after_a_kill_and_leaves_any_other_file(
    clir: Clir, indexed: Path
) -> None:
    pairs, account = (indexed.parent / name for name in ("pairs.tsv", "pairs.tsv.json"))
    assert label(clir, indexed, "--share", 1).code == 0
    whole = pairs.read_text()
    assert label(clir, indexed, "--share", 0.34).code == 0
    assert len(pairs.read_text()) < len(whole)
    pairs.write_text(whole)  # as if the second command had ended before it replaced the pairs
    assert label(clir, indexed, "--share", 0.34).code == 0
    pairs.unlink()  # as if the first had, or a person moved the pairs away
    assert label(clir, indexed, "--share", 1).code == 0
    assert pairs.read_text() == whole
    account.write_text("{}")
    assert "pairs.tsv" in label(clir, indexed).err
    pairs.write_text("my own\tpairs\n")
    answer = label(clir, indexed)
    assert (answer.code, "pairs.tsv" in answer.err) == (2, True)
    assert pairs.read_text() == "my own\tpairs\n"


@pytest.mark.parametrize(
    ("queries", "arguments", "code", "reported"),
    [
        ("", (), 2, "--queries: "),
        ("q1\t \n", (), 1, "must hold queries: lines of id, title, text"),
        ("query_id\tfrage\nq1\tdog\n", (), 1, "query_id | frage; expected the names id, title (optional), text"),
        ("q1\tzzz\n", (), 1, "answers none of the queries"),
        (QUERIES, ("--share", 0), 2, "0.0"),
        (QUERIES, ("--share", "nan"), 2, "nan"),
        (QUERIES, ("--index", "nowhere"), 1, "nowhere"),
    ],
)
def test_bad_use_is_refused_and_writes_nothing(
    clir: Clir, indexed: Path, queries: str, arguments: tuple[object, ...], code: int, reported: str
) -> None:
    (indexed.parent / "queries").write_text(queries)
    answer = label(clir, indexed, *arguments)
    assert (answer.code, answer.out, reported in answer.err) == (code, "", True)
    assert not (indexed.parent / "pairs.tsv").exists()


def test_an_index_of_one_document_or_of_another_model_is_refused(clir: Clir, indexed: Path) -> None:
    shutil.copytree(model_with_words("bm25").path, indexed / "serving" / "101")
    answer = label(clir, indexed)
    assert (answer.code, "newest model, 101; got 100" in answer.err) == (1, True)
    shutil.rmtree(indexed / "serving" / "101")
    (indexed.parent / "documents").write_text(DOCUMENTS.splitlines()[0] + "\n")
    clir("index", indexed)
    answer = label(clir, indexed)
    assert (answer.code, "got 1" in answer.err) == (1, True)


@given(st.lists(st.floats(0, 1, width=16), min_size=1, max_size=20), st.floats(0.01, 1))
def test_no_query_that_is_left_out_has_a_larger_margin_than_one_that_is_kept(
    margins: list[float], share: float
) -> None:
    kept = among_largest(margins, share)
    assert sum(kept) == max(1, round(share * len(margins)))
    kept_margins = [margin for margin, is_kept in zip(margins, kept, strict=True) if is_kept]
    left_out = [margin for margin, is_kept in zip(margins, kept, strict=True) if not is_kept]
    assert min(kept_margins) >= max(left_out, default=0)

"""`clir label`: the surest answers of an index become pairs, every query is accounted for, and bad use is refused."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.lexicon_pairs import parse_pairs
from tests.cli.command import Clir
from tests.models.loaded_once import loaded_once
from tests.models.small_lexicon import export_with_words

pytestmark = pytest.mark.stages

DOCUMENTS = "a\tLe chat\tun chat blanc\nb\tLe chien\tchien\nc\tLa lune\tlune sur ararat\n"
TEXTS = {line.split("\t")[0]: line.split("\t")[2] for line in DOCUMENTS.splitlines()}
QUERIES = "q1\twhite cat\nq2\tdog\nq3\tzzz\nq4\tararat\nq1\tdog again\nq5\t\n"


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(export_with_words(tmp_path_factory.mktemp("exported") / "model"))


@pytest.fixture
def output(exported: Path, tmp_path: Path, clir: Clir) -> Path:
    """A run's output folder, with a model, its configuration and an index of its documents."""
    shutil.copytree(exported, tmp_path / "out" / "serving" / "100")
    (tmp_path / "documents").write_text(DOCUMENTS)
    (tmp_path / "queries").write_text(QUERIES)
    (tmp_path / "out" / "config.yaml").write_text(f"data: {{documents: {tmp_path / 'documents'}}}\n")
    assert clir("index", tmp_path / "out").code == 0
    return tmp_path / "out"


def label(clir: Clir, output: Path, *arguments: object, queries: str = "queries", pairs: str = "pairs.tsv"):  # type: ignore[no-untyped-def]
    folder = output.parent
    return clir("label", output, "--queries", folder / queries, "--output", folder / pairs, *arguments)


def pairs_in(path: Path) -> list[object]:
    with path.open("rb") as stream:
        return [*parse_pairs(stream, str(path))]


def test_every_answered_query_becomes_a_pair_with_the_text_that_a_search_puts_first(clir: Clir, output: Path) -> None:
    answer = label(clir, output, "--share", 1)
    assert answer.code == 0, answer.err
    expected = []
    for query in ("white cat", "dog", "ararat"):
        best = clir("search", output, query, "-k", 1).out.split()[2]
        expected.append((query, TEXTS[best], 1.0))
    assert pairs_in(output.parent / "pairs.tsv") == expected
    assert "train again with --set lexicon.pairs=" in answer.err


def test_every_query_is_accounted_for_by_its_reason(clir: Clir, output: Path) -> None:
    answer = label(clir, output, "--share", 0.67, "--json")
    account = json.loads(answer.out)
    assert account == {**json.loads((output.parent / "pairs.tsv.json").read_text()), "output": account["output"]}
    queries = account["queries"]
    drops = {one["reason"]: one["count"] for one in queries["drops"]}
    assert drops == {"duplicate_id": 1, "empty_text": 1, "unanswered": 1, "small_margin": 1}
    assert queries["read"] == queries["used"] + sum(drops.values()) == 6
    assert (account["documents"], account["model_version"], account["share"]) == (3, "100", 0.67)
    assert account["margins"]["smallest"] < account["least_kept"] <= account["margins"]["largest"]


def test_the_queries_with_the_largest_margins_are_kept(clir: Clir, output: Path) -> None:
    margins = {}
    for query in ("white cat", "dog", "ararat"):
        results = json.loads(clir("search", output, query, "-k", 2, "--json").out)["results"]
        first, second = [*(result["score"] for result in results), 0.0][:2]
        margins[query] = first - second
    label(clir, output, "--share", 0.34)
    ((query, *_),) = pairs_in(output.parent / "pairs.tsv")  # type: ignore[misc]
    assert margins[query] == max(margins.values())


def test_the_same_command_replaces_its_pairs_and_leaves_any_other_file(clir: Clir, output: Path) -> None:
    pairs = output.parent / "pairs.tsv"
    assert label(clir, output, "--share", 1).code == 0
    before = pairs.read_text()
    assert label(clir, output, "--share", 0.34).code == 0
    assert len(pairs.read_text()) < len(before)
    pairs.write_text("my own\tpairs\n")
    answer = label(clir, output)
    assert answer.code == 2
    assert "must be a file that clir label wrote, or none; there is another: choose another name." in answer.err
    assert pairs.read_text() == "my own\tpairs\n"


def test_a_kill_between_account_and_pairs_is_mended_by_the_same_command(clir: Clir, output: Path) -> None:
    pairs, account = (output.parent / name for name in ("pairs.tsv", "pairs.tsv.json"))
    assert label(clir, output, "--share", 1).code == 0
    whole = pairs.read_text()
    assert label(clir, output, "--share", 0.34).code == 0
    pairs.write_text(whole)  # as if the second command had ended before it replaced the pairs
    assert label(clir, output, "--share", 0.34).code == 0
    pairs.unlink()  # as if the first had, or a person moved the pairs away
    assert label(clir, output, "--share", 1).code == 0
    assert pairs.read_text() == whole
    account.write_text("{}")
    assert "pairs.tsv must be a file that clir label wrote" in label(clir, output).err


@pytest.mark.parametrize(
    ("queries", "arguments", "code", "said"),
    [
        ("", (), 2, "--queries: "),
        ("q1\t \n", (), 1, "must hold a query that the index answers; it holds none among 1 lines."),
        ("q1\tzzz\n", (), 1, "must hold a query that the index answers"),
        (QUERIES, ("--share", 0), 2, "0.0 is not in the range 0<x<=1"),
        (QUERIES, ("--share", "nan"), 2, "must be a number; got nan."),
        (QUERIES, ("--index", "nowhere"), 1, "there is no index in nowhere; make one first"),
    ],
)
def test_bad_use_is_refused_in_a_sentence_and_writes_nothing(
    clir: Clir, output: Path, queries: str, arguments: tuple[object, ...], code: int, said: str
) -> None:
    (output.parent / "queries").write_text(queries)
    answer = label(clir, output, *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err and "Traceback" not in answer.err
    assert not (output.parent / "pairs.tsv").exists()


def test_an_index_of_one_document_has_no_margin(clir: Clir, output: Path) -> None:
    (output.parent / "documents").write_text(DOCUMENTS.splitlines()[0] + "\n")
    clir("index", output)
    answer = label(clir, output)
    assert answer.code == 1
    assert "the index must hold two documents or more, for their margin; it holds 1." in answer.err


def test_an_index_of_another_model_is_refused(clir: Clir, output: Path) -> None:
    export_with_words(output / "serving" / "101", weight=0.25)
    answer = label(clir, output)
    assert answer.code == 1
    assert "the index must be of the newest model, 101; it is of 100: make it again with clir index" in answer.err


@given(st.lists(st.floats(0, 1, width=16), min_size=1, max_size=20), st.floats(0.01, 1))
def test_no_query_that_is_left_out_has_a_larger_margin_than_one_that_is_kept(
    margins: list[float], share: float
) -> None:
    from serving.label_queries import among_largest

    kept = among_largest(margins, share)
    assert sum(kept) == max(1, round(share * len(margins)))
    of_kept = [margin for margin, is_kept in zip(margins, kept, strict=True) if is_kept]
    others = [margin for margin, is_kept in zip(margins, kept, strict=True) if not is_kept]
    assert min(of_kept) >= max(others, default=0)

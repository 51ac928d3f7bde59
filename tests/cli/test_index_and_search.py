"""`clir index` and `clir search`: a person's documents are found, and nothing is lost by a bad file."""

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from serving.newest_engine import FolderEngines
from tests.cli.command import Answer, Clir
from tests.models.loaded_once import loaded_once
from tests.models.small_lexicon import export_with_words

pytestmark = pytest.mark.stages

DOCUMENTS = "a\tLe chat\tun chat blanc\nb\tLe chien\tchien\nc\tLa lune\tlune sur ararat\n"


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(export_with_words(tmp_path_factory.mktemp("exported") / "model"))


@pytest.fixture
def output(exported: Path, tmp_path: Path) -> Path:
    """A run's output folder, with a model and its configuration."""
    shutil.copytree(exported, tmp_path / "out" / "serving" / "100")
    (tmp_path / "documents").write_text(DOCUMENTS)
    (tmp_path / "out" / "config.yaml").write_text(f"data: {{documents: {tmp_path / 'documents'}}}\n")
    return tmp_path / "out"


def found(answer: Answer) -> list[str]:
    """The ids of a search's results."""
    assert answer.code == 0, answer.err
    return [line.split()[2] for line in answer.out.splitlines()[::2]]  # a document's text stands below its id


def reported(answer: Answer) -> str:
    """The counts of documents in an answer of `clir index`."""
    return answer.out.splitlines()[0].split(" holds ")[1]


def test_the_documents_of_the_run_are_indexed_and_found(clir: Clir, output: Path) -> None:
    answer = clir("index", output)
    assert (answer.code, reported(answer)) == (0, "3 documents: 3 added, 0 replaced, 0 removed, 0 as they were")
    assert found(clir("search", output, "white cat", "-k", 1)) == ["a"]
    assert found(clir("search", output / "serving", "ararat"))[0] == "c"
    assert found(clir("search", output / "serving" / "100", "dog", "-k", 2))[0] == "b"


def test_an_index_may_lie_anywhere_and_files_be_compressed_or_several(clir: Clir, output: Path, tmp_path: Path) -> None:
    others = "".join(f"o{number}\t\tlune\n" for number in range(30))
    (tmp_path / "one.gz").write_bytes(gzip.compress(f"x\t\tun chat\n{others}".encode()))
    (tmp_path / "two.tsv").write_text("y\t\tlune\nx\t\tthe second of an id is left out\n")
    index = tmp_path / "elsewhere" / "index"
    answer = clir(
        "index", output, "--documents", tmp_path / "one.gz", "--documents", tmp_path / "two.tsv", "--index", index
    )
    assert answer.code == 0
    assert " holds 32 documents: 32 added" in answer.out
    assert "left out 1 x duplicate id; first at" in answer.err
    assert found(clir("search", output, "cat", "--index", index, "-k", 1)) == ["x"]
    assert not (output / "index").exists()


def test_documents_are_added_replaced_and_removed(clir: Clir, output: Path, tmp_path: Path) -> None:
    clir("index", output)
    changed = "b\tLe chien\tchat chat\nd\tLoup\tun loup\n"
    answer = clir("index", output, "--add", "-", stdin=changed)
    assert reported(answer) == "4 documents: 1 added, 1 replaced, 0 removed, 0 as they were"
    (tmp_path / "ids").write_text("a\tthe rest of a line does not count\n\nnever there\n")
    answer = clir("index", output, "--remove", tmp_path / "ids", "--json")
    assert json.loads(answer.out) | {"version": "", "drift": None} == {
        "version": "", "drift": None, "documents": 3, "added": 0, "replaced": 0, "removed": 1, "unchanged": 0,
    }  # fmt: skip
    assert found(clir("search", output, "cat", "-k", 1)) == ["b"]
    assert reported(clir("index", output)) == "3 documents: 1 added, 1 replaced, 1 removed, 1 as they were"


def test_nothing_new_writes_nothing(clir: Clir, output: Path) -> None:
    clir("index", output)
    before = sorted(os.listdir(output / "index"))
    assert reported(clir("index", output)).endswith("0 added, 0 replaced, 0 removed, 3 as they were")
    assert sorted(os.listdir(output / "index")) == before


def test_how_far_the_documents_are_from_the_model_s_is_reported(clir: Clir, output: Path, tmp_path: Path) -> None:
    answer = clir("index", output)
    told_drift = answer.out.splitlines()[1]
    # The model's nine documents have 20 terms; the towers and the lexicon know all of the run's three.
    assert told_drift.startswith(
        "drift (the model's in brackets): 3 documents (9), mean length 2.3 terms (2.2), 0.0 % of the terms unknown"
    )
    assert "warning" not in answer.err
    assert clir("index", output).out.splitlines()[1] == told_drift  # where nothing has changed, too
    (tmp_path / "new").write_text("n\t\tzzz qqq xxx yyy\n")
    changed = clir("index", output, "--add", tmp_path / "new", "--json")
    drift = json.loads(changed.out)["drift"]
    assert (drift["model_documents"], drift["mean_length"], drift["unknown_share"]) == (9, 11 / 4, 4 / 11)
    assert "warning: 36.4 % of the terms are unknown to the model" in changed.err
    newest = max((output / "index").iterdir(), key=lambda version: version.name)
    assert json.loads((newest / "manifest.json").read_text())["drift"] == drift


def test_a_check_names_every_file_and_a_damaged_one(clir: Clir, output: Path) -> None:
    clir("index", output)
    clir("index", output, "--add", "-", stdin="d\tLoup\tun loup\n")
    answer = clir("index", output, "--check")
    files = sorted(path for path in (output / "index").glob("*/**/*") if path.is_file())
    assert answer.code == 0
    assert sorted(answer.out.splitlines()) == sorted(f"{path}: sound" for path in files)
    (output / "index" / "2" / "note.txt").write_text("mine")
    damaged = next(path for path in files if path.parts[-4:-2] == ("2", "segments") and path.name == "vectors.npy")
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    answer = clir("index", output, "--check")
    assert answer.code == 1
    assert f"{output / 'index' / '2' / 'note.txt'}: unrecorded\n" in answer.out
    assert f"{damaged}: damaged: must have the SHA-256 " in answer.out
    assert answer.out.count(": damaged") == 1
    way_back = f"Version 1 is sound; to go back to it: rm -r {output / 'index' / '2'}"
    assert f"damaged: {output / 'index' / '2'}. {way_back}" in answer.err
    rows = json.loads(clir("index", output, "--check", "--json").out)
    assert [row["file"] for row in rows if row["state"] == "damaged"] == [str(damaged)]
    answers = [
        clir("search", output, "cat"),
        clir("serve", output, "--port", "0"),
        clir("index", output, "--add", output / "config.yaml"),
    ]
    for answer in answers:
        assert (answer.code, answer.out) == (1, "")
        assert way_back in answer.err
    answer = clir("index", output, "--documents", output.parent / "documents")
    assert f"{output / 'index' / '2'} is damaged, and made again: segments/" in answer.err
    answer = clir("index", output, "--check")  # version 2 stays as the one before
    assert answer.code == 1
    assert f"damaged: {output / 'index' / '2'}. The newest version is sound." in answer.err
    assert found(clir("search", output, "white cat", "-k", 1)) == ["a"]


def test_an_index_whose_manifest_cannot_be_read_is_made_again_as_the_message_says(clir: Clir, output: Path) -> None:
    clir("index", output)
    for content in ("{", '{"format": 9}'):
        newest = max((output / "index").glob("[0-9]*"), key=lambda path: int(path.name))
        (newest / "manifest.json").write_text(content)
        assert "again with `clir index`" in clir("search", output, "cat").err
        assert reported(clir("index", output)) == "3 documents: 3 added, 0 replaced, 0 removed, 0 as they were"
        assert found(clir("search", output, "white cat", "-k", 1)) == ["a"]


def test_several_queries_are_reported_apart_and_an_unknown_one_is_said_to_be(clir: Clir, output: Path) -> None:
    clir("index", output)
    answer = clir("search", output, "cat", "qqq")
    assert answer.out.startswith("query: cat\n  1 ")
    assert answer.out.endswith("\nquery: qqq\n\n")
    assert "no document answers the query 'qqq': the model knows no word of it" in answer.err
    assert "there is no query" in clir("search", output).err
    lines = clir("search", output, "--json", "-k", 1, stdin="white cat\n\nararat\n").out.splitlines()
    assert [json.loads(line)["results"][0]["doc_id"] for line in lines] == ["a", "c"]


def test_a_result_shows_its_title_or_first_words_and_the_words_that_match(
    clir: Clir, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    texts = {"untitled": f"\t{'loup ' * 30}chat blanc", "titled": "Ararat\tlune \x1b[2Jsur ararat"}
    (output.parent / "documents").write_text("".join(f"{name}\t{text}\n" for name, text in texts.items()))
    clir("index", output)
    answer = clir("search", output, "white cat", "ararat", "-k", 1)
    _, head, text, _, _, second_head, second_text, _ = answer.out.splitlines()
    assert head.endswith(f"  untitled  {'loup ' * 12}…")
    assert text.endswith("loup chat blanc")
    assert (second_head.split("  ")[-1], second_text) == ("Ararat", "     lune \N{REPLACEMENT CHARACTER}[2Jsur ararat")
    shown = clir("search", output, "white cat", "-k", 1, on_terminal=True).out.splitlines()[1]
    assert "\x1b[1mchat\x1b[0m \x1b[1mblanc\x1b[0m" in shown
    assert len(click.unstyle(shown)) <= 60 < len(text) <= 100
    monkeypatch.setenv("NO_COLOR", "1")
    assert clir("search", output, "white cat", "-k", 1, on_terminal=True).out.splitlines()[1] == click.unstyle(shown)


def test_json_has_the_snippets_of_the_service(clir: Clir, output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")  # for people alone
    (output.parent / "documents").write_text(f"a\tLe chat\tun chat blanc {'loup ' * 100}\n")
    clir("index", output)
    engines = FolderEngines(str(output / "serving"), str(output / "index"))
    engine = engines.load(engines.newest() or pytest.fail("there is no index"))
    (expected,) = engine.search("white cat", 1, with_snippets=True, with_texts=False).results
    (hit,) = json.loads(clir("search", output, "white cat", "--json", on_terminal=True).out)["results"]
    assert expected.snippet
    assert hit["snippet"] == expected.snippet.model_dump(mode="json")
    assert "text" not in hit


def test_texts_are_shown_after_the_files_of_the_documents_are_gone(clir: Clir, output: Path) -> None:
    clir("index", output)
    (output.parent / "documents").unlink()
    assert clir("search", output, "white cat", "-k", 1).out.splitlines()[1] == "     un chat blanc"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no line does"),
        (b"no tab\n", "no line does"),
        (b"a\tt\tchat\n" * 3 + b"one\n" * 3, "1 of 6 lines hold one"),
        (gzip.compress(DOCUMENTS.encode() * 999)[:-20], "rest of the file cannot be read"),
    ],
)
def test_a_file_that_is_none_changes_nothing(
    clir: Clir, output: Path, tmp_path: Path, content: bytes, reason: str
) -> None:
    clir("index", output)
    (tmp_path / "bad").write_bytes(content)
    answer = clir("index", output, "--documents", tmp_path / "bad")
    assert answer.code == 1
    assert reason in answer.err
    assert "Nothing was changed." in answer.err
    assert found(clir("search", output, "white cat", "-k", 1)) == ["a"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["index", "{out}", "--documents", "{missing}"], 1, "No such file"),
        (["index", "{out}", "--documents", "-", "--add", "-"], 2, "give it without --add and --remove"),
        (["index", "{out}", "--add", "-", "--remove", "-"], 2, "stdin can be read once"),
        (["index", "{out}", "--add", "{documents}"], 1, "must hold an index; make one with `clir index` first"),
        (["index", "{out}", "--check", "--add", "-"], 2, "--check changes nothing; give it without"),
        (["index", "{out}", "--check"], 1, "must hold an index; make one with `clir index` first"),
        (["index", "{out}", "--index", "{tmp}"], 1, "must be a folder for an index alone; it holds"),
        (["index", "{missing}"], 1, "must be a folder with an exported model"),
        (["search", "{out}", "cat"], 1, "there is no index in"),
        (["search", "{out}", " "], 2, "QUERY must hold a word"),
        (["search", "{out}", "cat", "-k", "0"], 2, "'-k'"),
    ],
)
def test_a_slip_is_reported(clir: Clir, output: Path, arguments: list[str], code: int, words: str) -> None:
    tmp = output.parent
    places = {"out": output, "tmp": tmp, "missing": tmp / "missing", "documents": tmp / "documents"}
    answer = clir(*(argument.format(**places) for argument in arguments))
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err


def test_a_run_without_its_configuration_asks_for_documents(clir: Clir, output: Path) -> None:
    (output / "config.yaml").write_text("data: {queries: x}\n")
    assert "names no documents; give --documents" in clir("index", output).err
    (output / "config.yaml").unlink()
    assert "would name a run's documents; give --documents" in clir("index", output).err


def test_an_index_of_another_model_is_refused_and_made_anew(clir: Clir, output: Path, tmp_path: Path) -> None:
    clir("index", output)
    export_with_words(tmp_path / "other" / "model", "bm25")
    shutil.rmtree(output / "serving" / "100")
    shutil.copytree(tmp_path / "other" / "model", output / "serving" / "200")
    answer = clir("search", output, "cat")
    assert answer.code == 1
    assert "must be the index of a model in" in answer.err
    assert "Make it again with `clir index`" in answer.err
    assert "another one did" in clir("index", output, "--add", output.parent / "documents").err
    assert "3 added" in clir("index", output).out
    assert found(clir("search", output, "lune", "-k", 1)) == ["c"]


def test_an_index_of_an_older_model_is_searched_by_it_and_said_to_be(clir: Clir, output: Path, tmp_path: Path) -> None:
    clir("index", output)
    export_with_words(tmp_path / "other" / "model", "bm25")
    shutil.copytree(tmp_path / "other" / "model", output / "serving" / "200")
    answer = clir("search", output, "white cat", "-k", 1)
    assert found(answer) == ["a"]
    assert "the index is of the model 100, which searches it; the newest is 200: clir index" in answer.err
    clir("index", output)
    assert "the newest is" not in clir("search", output, "chat", "-k", 1).err


def test_an_output_that_was_moved_is_searched_as_before(clir: Clir, output: Path, tmp_path: Path) -> None:
    clir("index", output)
    os.rename(output, tmp_path / "renamed")
    shutil.copytree(tmp_path / "renamed", tmp_path / "copied")
    for place in ("renamed", "copied"):
        assert found(clir("search", tmp_path / place, "white cat", "-k", 1)) == ["a"]
        assert "3 as they were" in clir("index", tmp_path / place).out

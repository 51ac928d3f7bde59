"""`clir index` and `clir search`: a person's documents are found, and nothing is lost by a bad file."""

import gzip
import json
import os
import shutil
from pathlib import Path

import click
import pytest

from smooth_clir.retrieval.folder_engines import FolderEngines
from tests.cli.command import Answer, Clir
from tests.cli.conftest import DOCUMENTS
from tests.models.loaded_once import model_with_words

pytestmark = pytest.mark.stages


def ids_in(answer: Answer) -> list[str]:
    """The ids of a search's results."""
    assert answer.code == 0, answer.err
    return [line.split()[2] for line in answer.out.splitlines()[::2]]  # a document's text stands below its id


def counts_in(answer: Answer) -> str:
    """The counts of documents in an answer of `clir index`."""
    return answer.out.splitlines()[0].split(" holds ")[1]


def test_the_documents_of_the_run_are_indexed_and_found_wherever_the_output_lies(
    clir: Clir, output: Path, tmp_path: Path
) -> None:
    answer = clir("index", output)
    assert (answer.code, counts_in(answer)) == (0, "3 documents: 3 added, 0 replaced, 0 removed, 0 unchanged")
    assert ids_in(clir("search", output / "serving", "ararat"))[0] == "c"
    assert ids_in(clir("search", output / "serving" / "100", "dog", "-k", 2))[0] == "b"
    before = sorted(os.listdir(output / "index"))
    assert counts_in(clir("index", output)).endswith("0 added, 0 replaced, 0 removed, 3 unchanged")
    assert sorted(os.listdir(output / "index")) == before
    os.rename(output, tmp_path / "renamed")
    shutil.copytree(tmp_path / "renamed", tmp_path / "copied")
    for name in ("renamed", "copied"):
        assert "3 unchanged" in clir("index", tmp_path / name).out
    (tmp_path / "documents").unlink()
    answer = clir("search", tmp_path / "copied", "white cat", "-k", 1)
    assert (ids_in(answer), answer.out.splitlines()[1]) == (["a"], "     un chat blanc")


def test_an_index_may_lie_anywhere_and_files_be_compressed_or_several(clir: Clir, output: Path, tmp_path: Path) -> None:
    further_lines = "".join(f"o{number}\t\tlune\n" for number in range(30))
    (tmp_path / "one.gz").write_bytes(gzip.compress(f"x\t\tun chat\n{further_lines}".encode()))
    (tmp_path / "two.tsv").write_text("y\t\tlune\nx\t\tthe second of an id is left out\n")
    index = tmp_path / "elsewhere" / "index"
    files = ("--documents", tmp_path / "one.gz", "--documents", tmp_path / "two.tsv")
    answer = clir("index", output, *files, "--index", index)
    assert counts_in(answer).startswith("32 documents: 32 added")
    assert "left out 1 x duplicate id; first at" in answer.err
    assert ids_in(clir("search", output, "cat", "--index", index, "-k", 1)) == ["x"]
    assert not (output / "index").exists()


def test_documents_are_added_replaced_and_removed(clir: Clir, output: Path, tmp_path: Path) -> None:
    clir("index", output)
    answer = clir("index", output, "--add", "-", stdin="b\tLe chien\tchat chat\nd\tLoup\tun loup\n")
    assert counts_in(answer) == "4 documents: 1 added, 1 replaced, 0 removed, 0 unchanged"
    (tmp_path / "ids").write_text("a\tthe rest of a line does not count\n\nnever_there\n")
    answer = clir("index", output, "--remove", tmp_path / "ids", "--json")
    assert json.loads(answer.out) | {"version": "", "drift": None} == {
        "version": "", "drift": None, "documents": 3, "has_passages": False, "added": 0, "replaced": 0,
        "removed": 1, "unchanged": 0, "unknown": 1, "fields": {},
    }  # fmt: skip
    assert "1 of 2 ids to remove are not in the index" in answer.err
    assert "ids to remove" not in clir("index", output, "--remove", "-", stdin="d\n").err
    clir("index", output, "--add", "-", stdin="d\tLoup\tun loup\n")
    assert ids_in(clir("search", output, "cat", "-k", 1)) == ["b"]
    assert counts_in(clir("index", output)) == "3 documents: 1 added, 1 replaced, 1 removed, 1 unchanged"


def test_the_drift_of_the_documents_is_reported(clir: Clir, output: Path, tmp_path: Path) -> None:
    answer = clir("index", output)
    # The model's nine documents have 20 terms; the towers and the lexicon know all of the run's three.
    drift_line = answer.out.splitlines()[1]
    assert all(part in drift_line for part in ("3 documents (9)", "2.3 terms (2.2)", "0.0 %"))
    assert "warning" not in answer.err
    assert clir("index", output).out.splitlines()[1] == drift_line  # where nothing has changed, too
    (tmp_path / "new").write_text("n\t\tzzz qqq xxx yyy\n")
    changed = clir("index", output, "--add", tmp_path / "new", "--json")
    drift = json.loads(changed.out)["drift"]
    assert (drift["model_documents"], drift["mean_length"], drift["unknown_share"]) == (9, 11 / 4, 4 / 11)
    assert "warning: 36.4 %" in changed.err
    newest = max((output / "index").iterdir(), key=lambda version: version.name)
    assert json.loads((newest / "manifest.json").read_text())["drift"] == drift


def test_a_check_names_every_file_and_a_damaged_one_which_no_command_uses(clir: Clir, output: Path) -> None:
    clir("index", output)
    clir("index", output, "--add", "-", stdin="d\tLoup\tun loup\n")
    version = output / "index" / "2"
    files = sorted(path for path in (output / "index").glob("*/**/*") if path.is_file())
    answer = clir("index", output, "--check")
    assert (answer.code, sorted(answer.out.splitlines())) == (0, sorted(f"{path}: sound" for path in files))
    (version / "note.txt").write_text("mine")
    damaged = next(path for path in files if path.parts[-4:-2] == ("2", "segments") and path.name == "vectors.npy")
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    answer = clir("index", output, "--check")
    assert f"{version / 'note.txt'}: unrecorded\n" in answer.out
    assert f"{damaged}: damaged: " in answer.out and answer.out.count(": damaged") == 1
    rows = json.loads(clir("index", output, "--check", "--json").out)
    assert [row["file"] for row in rows if row["state"] == "damaged"] == [str(damaged)]
    uses = (
        ("search", output, "cat"),
        ("serve", output, "--port", "0"),
        ("index", output, "--add", output / "config.yaml"),
    )
    for ended in (answer, *(clir(*arguments) for arguments in uses)):
        assert (ended.code, f"rm -r {version}" in ended.err) == (1, True)
    assert f"{version} is damaged; making it again" in clir("index", output).err
    answer = clir("index", output, "--check")  # version 2 stays as the one before
    assert (answer.code, f"damaged: {version}." in answer.err) == (1, True)
    assert ids_in(clir("search", output, "white cat", "-k", 1)) == ["a"]


def test_several_queries_are_reported_apart_and_an_unknown_one_is_named(clir: Clir, output: Path) -> None:
    clir("index", output)
    answer = clir("search", output, "cat", "qqq")
    assert answer.out.startswith("query: cat\n  1 ")
    assert answer.out.endswith("\nquery: qqq\n\n")
    assert "'qqq'" in answer.err
    assert "No query found" in clir("search", output).err
    first_pass = clir("search", output, "cat", "--feedback", 4)  # an index of a model that has no second pass
    assert (first_pass.out, "without a second pass" in first_pass.err) == (clir("search", output, "cat").out, True)
    lines = clir("search", output, "--json", "-k", 1, stdin="white cat\n\nararat\n").out.splitlines()
    assert [json.loads(line)["results"][0]["doc_id"] for line in lines] == ["a", "c"]


def test_a_result_shows_the_words_that_match_and_json_has_the_snippet_of_the_service(
    clir: Clir, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    texts = {"untitled": f"\t{'loup ' * 30}chat blanc", "titled": "Ararat\tlune \x1b[2Jsur ararat"}
    (output.parent / "documents").write_text("".join(f"{name}\t{text}\n" for name, text in texts.items()))
    clir("index", output)
    answer = clir("search", output, "white cat", "ararat", "-k", 1)
    _, head, text, _, _, second_head, second_text, _ = answer.out.splitlines()
    assert head.endswith(f"  untitled  {'loup ' * 12}…") and text.endswith("loup chat blanc")
    assert (second_head.split("  ")[-1], second_text) == ("Ararat", "     lune \N{REPLACEMENT CHARACTER}[2Jsur ararat")
    shown = clir("search", output, "white cat", "-k", 1, on_terminal=True).out.splitlines()[1]
    assert "\x1b[1mchat\x1b[0m \x1b[1mblanc\x1b[0m" in shown
    assert len(click.unstyle(shown)) <= 60 < len(text) <= 100
    engines = FolderEngines(str(output / "serving"), str(output / "index"))
    engine = engines.load(engines.newest() or pytest.fail("there is no index"))
    (expected,) = engine.search("white cat", 1, with_snippets=True, with_texts=False).results
    (hit,) = json.loads(clir("search", output, "white cat", "-k", 1, "--json", on_terminal=True).out)["results"]
    assert expected.snippet
    assert (hit["snippet"], "text" in hit) == (expected.snippet.model_dump(mode="json"), False)


def test_a_search_is_filtered_by_fields_which_updates_keep(clir: Clir, output: Path, tmp_path: Path) -> None:
    documents = tmp_path / "with_fields.csv"
    documents.write_text("id,text,Lang,year\na,un chat blanc,fr,2020\nb,chat noir,es,2019\nc,chat,es,\n")
    whole = ("index", output, "--documents", documents)
    answer = clir(*whole, "--fields", "lang,Year")
    assert answer.out.splitlines()[1] == "fields: lang (text, 3 documents), year (number, 2 documents)"
    assert ids_in(clir("search", output, "cat", "--where", "lang=es")) == ["c", "b"]
    assert ids_in(clir("search", output, "cat", "--where", "year >= 2019.5, lang = fr|es")) == ["a"]
    assert ids_in(clir("search", output, "cat", "--where", "year!=2019")) == ["c", "a"]
    nothing = clir("search", output, "cat", "--where", "lang=de")
    assert (nothing.code, nothing.out, "--where" in nothing.err) == (0, "", True)
    wrong = clir("search", output, "cat", "--where", "lan=es,year=x")
    assert (wrong.code, wrong.out, "lang (text), year (number)" in wrong.err, "'x'" in wrong.err) == (2, "", True, True)
    clir("index", output, "--add", "-", stdin='{"_id": "d", "text": "chat", "lang": "es", "year": 2021}\n')
    assert set(ids_in(clir("search", output, "cat", "--where", "lang=es"))) == {"b", "c", "d"}
    plain = clir("index", output, "--add", "-", stdin="e\t\tchat\n")
    assert (plain.code, "lang, year. Nothing was changed" in plain.err) == (1, True)
    again = clir(*whole)
    assert (counts_in(again).split(": ")[0], "still lang, year" in again.err) == ("3 documents", True)
    assert "fields" not in clir(*whole, "--fields", "").out
    assert "--fields" in clir("search", output, "cat", "--where", "lang=es").err


def test_the_fields_of_a_run_are_those_of_its_documents(clir: Clir, output: Path, tmp_path: Path) -> None:
    (tmp_path / "documents").write_text('{"id": "a", "text": "chat", "lang": "es"}\n{"id": "b", "text": "lune"}\n')
    with (output / "config.yaml").open("a") as file:
        file.write("search: {fields: [lang]}\n")
    assert "fields: lang (text, 1 documents)" in clir("index", output).out
    lacking = clir("index", output, "--fields", "lang,year")
    assert (lacking.code, "value of year" in lacking.err) == (1, True)
    assert ids_in(clir("search", output, "cat", "--where", "lang=es")) == ["a"]


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"", "got 0 of 0"),
        (b"no tab\n", "got 0 of 1"),
        (b"a\tt\tchat\n" * 3 + b"one\n" * 3, "got 1 of 6"),
        (gzip.compress(DOCUMENTS.encode() * 999)[:-20], "rest of the file"),
    ],
)
def test_a_file_without_documents_changes_nothing(
    clir: Clir, output: Path, tmp_path: Path, content: bytes, reported: str
) -> None:
    clir("index", output)
    (tmp_path / "bad").write_bytes(content)
    answer = clir("index", output, "--documents", tmp_path / "bad")
    assert (answer.code, reported in answer.err, "Nothing was changed." in answer.err) == (1, True, True)
    assert ids_in(clir("search", output, "white cat", "-k", 1)) == ["a"]


@pytest.mark.parametrize(
    ("arguments", "code", "reported"),
    [
        ("index {out} --documents {missing}", 1, "{missing}"),
        ("index {out} --documents - --add -", 2, "--add and --remove"),
        ("index {out} --add - --remove -", 2, "stdin"),
        ("index {out} --add {documents}", 1, "`clir index`"),
        ("index {out} --check --add -", 2, "--check"),
        ("index {out} --check", 1, "`clir index`"),
        ("index {out} --check --fields lang", 2, "--fields"),
        ("index {out} --add - --fields lang", 2, "keeps its fields"),
        ("index {out} --fields lang,lang", 2, "once; got lang,lang"),
        ("index {out} --fields lang,text", 2, "'text'"),
        ("index {out} --index {tmp}", 1, "must hold only an index"),
        ("index {missing}", 1, "{missing}"),
        ("search {out} cat", 1, "No index found in"),
        ("search {out} \u2003", 2, "QUERY"),
        ("search {out} cat -k 0", 2, "'-k'"),
    ],
)
def test_a_slip_is_reported(clir: Clir, output: Path, arguments: str, code: int, reported: str) -> None:
    tmp = output.parent
    paths = {"out": output, "tmp": tmp, "missing": tmp / "missing", "documents": tmp / "documents"}
    answer = clir(*(argument.format(**paths) for argument in arguments.split(" ")))
    assert (answer.code, answer.out) == (code, "")
    assert reported.format(**paths) in answer.err


def test_a_run_without_its_configuration_asks_for_documents(clir: Clir, output: Path) -> None:
    (output / "config.yaml").write_text("data: {queries: x}\n")
    assert "--documents" in clir("index", output).err
    (output / "config.yaml").unlink()
    assert "--documents" in clir("index", output).err


def test_an_index_of_an_older_model_is_searched_by_it_and_refused_without_it(clir: Clir, output: Path) -> None:
    clir("index", output)
    shutil.copytree(model_with_words("bm25").path, output / "serving" / "200")
    answer = clir("search", output, "white cat", "-k", 1)
    assert (ids_in(answer), "100" in answer.err, "newest, 200" in answer.err) == (["a"], True, True)
    shutil.rmtree(output / "serving" / "100")
    answer = clir("search", output, "cat")
    assert (answer.code, "again with `clir index`" in answer.err) == (1, True)
    assert "was made by another model than" in clir("index", output, "--add", output.parent / "documents").err
    assert "3 added" in clir("index", output).out
    answer = clir("search", output, "lune", "-k", 1)
    assert (ids_in(answer), "newest" in answer.err) == (["c"], False)

"""`clir init`: a configuration from answers, which the product takes as it is."""

import csv
import gzip
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pipeline.config_file import load_config
from pipeline.config_schema import SCHEMA_FILE
from smooth_clir.cli.init import EXAMPLE
from tests.cli.command import Clir, Terminal

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
pytestmark = pytest.mark.stages  # the estimate

FILES = [word for role, name in EXAMPLE.items() for word in (f"--{role}", str(SAMPLE / name))]
LANGUAGES = ["--query-language", "en", "--document-language", "fr"]


def test_the_configuration_of_options_is_one_that_a_run_takes(clir: Clir, tmp_path: Path) -> None:
    config = tmp_path / "made" / "en_fr.yaml"
    answer = clir("init", config, *FILES, *LANGUAGES, "--output", tmp_path / "out")
    assert (answer.code, answer.out.strip()) == (0, str(config))
    assert f"clir run {config}" in answer.err
    loaded = load_config(str(config))
    named = {role: getattr(loaded.data, role) for role in EXAMPLE}
    assert named == {role: str((SAMPLE / name).resolve()) for role, name in EXAMPLE.items()}
    assert (loaded.data.query_language, loaded.data.document_language) == ("en", "fr")
    assert (loaded.output, loaded.search.index) == (str(tmp_path / "out"), True)
    first, *_ = config.read_text().splitlines()
    assert first == f"# yaml-language-server: $schema={SCHEMA_FILE}"
    assert sorted(path.name for path in config.parent.iterdir()) == [SCHEMA_FILE, "en_fr.yaml"]


@pytest.mark.parametrize(
    ("lines", "top_grade"), [("1\t1\t1\n1\t2\t0\n", 1), ("1\t1\t2\n", 2), ("1 0 1 3\n1 0 2 1\n", 3)]
)
def test_the_highest_grade_of_the_judgments_is_the_top_grade(
    clir: Clir, tmp_path: Path, lines: str, top_grade: int
) -> None:
    (tmp_path / "qrels").write_text(lines)
    assert clir("init", tmp_path / "a.yaml", *FILES[:4], "--judgments", tmp_path / "qrels", *LANGUAGES).code == 0
    assert load_config(str(tmp_path / "a.yaml")).data.top_grade == top_grade


def test_judgments_that_cannot_be_read_to_their_end_are_named_with_their_line(clir: Clir, tmp_path: Path) -> None:
    path = tmp_path / "judgments.gz"
    path.write_bytes(gzip.compress(b"1\t1\t1\n2\t2\t1\n")[:-9])
    answer = clir("init", tmp_path / "a.yaml", *FILES[:4], "--judgments", path, *LANGUAGES)
    assert (answer.code, f"{path}:" in answer.err, (tmp_path / "a.yaml").exists()) == (2, True, False)


def test_the_example_brings_its_files_and_needs_no_answer(clir: Clir, tmp_path: Path) -> None:
    (tmp_path / ".config.yaml.incoming").write_text("mine")
    for name in ("config.yaml", "b.yaml"):  # the second meets the schema and the sample of the first
        assert clir("init", tmp_path / name, "--example").code == 0
    assert sorted(path.name for path in (tmp_path / "sample").iterdir()) == sorted(EXAMPLE.values())
    assert load_config(str(tmp_path / "config.yaml")).data.queries == str(tmp_path / "sample" / EXAMPLE["queries"])
    assert load_config(str(tmp_path / "b.yaml")).output != load_config(str(tmp_path / "config.yaml")).output
    assert (tmp_path / ".config.yaml.incoming").read_text() == "mine"


@pytest.mark.parametrize("name", ["config.yaml", SCHEMA_FILE, f"sample/{EXAMPLE['documents']}"])
def test_a_file_that_is_there_is_never_written_over(clir: Clir, tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text('{"title": "mine"}')
    answer = clir("init", tmp_path / "config.yaml", "--example")
    assert (answer.code, Path(name).name in answer.err) == (2, True)
    assert (tmp_path / name).read_text() == '{"title": "mine"}'
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (
            ["--queries", "nope", *FILES[2:], "--query-language", "eng"],
            ["'nope'", "'eng'", "--document-language is missing"],
        ),
        (["--queries", FILES[5], *FILES[2:4], "--judgments", FILES[1], *LANGUAGES],
         ["--queries: ", "swapped with data.judgments", "--judgments: "]),
        ([*FILES, *LANGUAGES, "--columns", "id=nr", "--columns", "text"], ["--columns: must be COLUMN=NAME"]),
        ([*FILES, *LANGUAGES, "--columns", "id=no_such"], ["--columns: no file has a column 'no_such'"]),
        ([*FILES, *LANGUAGES, "--output", "s3://bucket/run"], ["a.yaml:18: output: ", "s3://bucket/run"]),
    ],
)  # fmt: skip
def test_all_bad_options_are_reported_and_nothing_is_written(
    clir: Clir, tmp_path: Path, arguments: list[str], reported: list[str]
) -> None:
    answer = clir("init", tmp_path / "a.yaml", *arguments)
    assert answer.code == 2
    assert all(part in answer.err for part in reported)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("config", ["a\nx: 1.yaml", "a\u2028.yaml", "a\udce9.yaml"])
def test_a_name_of_a_configuration_that_cannot_be_printed_is_refused(clir: Clir, config: str) -> None:
    answer = clir("init", config, "--example")
    assert (answer.code, ascii(config) in answer.err) == (2, True)


@pytest.mark.parametrize("language", ["no", "it"])
def test_a_code_that_yaml_reads_as_a_truth_value_is_quoted(clir: Clir, tmp_path: Path, language: str) -> None:
    languages = ["--query-language", "en", "--document-language", language]
    assert clir("init", tmp_path / "a.yaml", *FILES, *languages, "--output", "gs://bucket/run").code == 0
    content = yaml.safe_load((tmp_path / "a.yaml").read_text())
    assert (content["data"]["document_language"], content["output"]) == (language, "gs://bucket/run")


@pytest.mark.parametrize("name", ["a query\nof two lines", "it's", "#1", "[x]", "~q"])
def test_any_name_of_a_file_can_be_written(
    clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(FILES[1], name)
    assert clir("init", "a.yaml", "--queries", f"./{name}", *FILES[2:], *LANGUAGES).code == 0
    assert load_config("a.yaml").data.queries == str(tmp_path / name)


def test_the_home_folder_is_that_of_a_run(clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    shutil.copyfile(FILES[1], tmp_path / "home" / "q.tsv")
    options = ["--queries", "~/q.tsv", *FILES[2:], *LANGUAGES, "--output", "~/runs"]
    assert clir("init", tmp_path / "deep" / "a.yaml", *options).code == 0
    config = load_config(str(tmp_path / "deep" / "a.yaml"))
    assert (config.data.queries, config.output) == (str(tmp_path / "home" / "q.tsv"), str(tmp_path / "home" / "runs"))


def test_paths_are_right_from_behind_a_link(clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far" / "real").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "real")
    shutil.copyfile(FILES[1], "q.tsv")
    assert clir("init", "link/a.yaml", "--queries", "q.tsv", *FILES[2:], *LANGUAGES).code == 0
    config = load_config("link/a.yaml")
    assert (config.data.queries, config.output) == (str(tmp_path / "q.tsv"), str(tmp_path / "runs" / "a"))


# Questions

ANSWERS = "".join(f"{answer}\n" for answer in ["nope", *FILES[1::2], "eng", "en", "fr"])


def test_a_person_at_a_terminal_is_asked_and_asked_again_after_a_bad_answer(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "smooth_clir", "init", str(tmp_path / "a.yaml")]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        os.write(ours, ANSWERS.encode())
        _, err = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0, err
    assert b"'nope'" in err and b"'eng'" in err
    assert load_config(str(tmp_path / "a.yaml")).data.document_language == "fr"


def test_a_person_who_gives_up_gets_no_traceback(clir: Clir, tmp_path: Path) -> None:
    code, _, err = clir("init", tmp_path / "a.yaml", stdin=Terminal())  # its end, as Ctrl-D; Ctrl-C takes the same way
    assert (code, err.split()[-1]) == (130, "interrupted")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_made_while_a_person_is_asked_stays(clir: Clir, tmp_path: Path) -> None:
    class Person(Terminal):
        def readline(self, *arguments: int) -> str:  # type: ignore[override]
            (tmp_path / "a.yaml").write_text("mine")
            return super().readline(*arguments)

    code, _, err = clir("init", tmp_path / "a.yaml", stdin=Person(ANSWERS))
    assert (code, "a.yaml" in err) == (2, True)
    assert (tmp_path / "a.yaml").read_text() == "mine"


def test_answers_are_kept_on_ctrl_c_as_the_command_that_goes_on(clir: Clir, tmp_path: Path) -> None:
    answers = f"nope\n{FILES[1]}\n{FILES[3]}\n"
    code, _, err = clir("init", tmp_path / "a.yaml", "--query-language", "en", stdin=Terminal(answers))
    assert code == 130
    (line,) = [line for line in err.splitlines() if "clir init " in line]
    _, *arguments = shlex.split(line)
    assert arguments == [
        *("init", str(tmp_path / "a.yaml"), "--query-language", "en"),
        *("--queries", FILES[1], "--documents", FILES[3]),
    ]
    done = clir(*arguments, *FILES[4:], "--document-language", "fr")
    assert (done.code, load_config(str(tmp_path / "a.yaml")).data.documents) == (0, str(Path(FILES[3]).resolve()))


# Files with columns of other names

COLUMNS = ["id=nr", "text=frage", "query_id=frage_nr", "doc_id=seite", "grade=wertung"]


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    """The options of the sample's files, with two more bad queries, as CSV with German headers."""
    rows = {
        role: [line.split("\t") for line in (SAMPLE / name).read_text("utf-8").splitlines()]
        for role, name in EXAMPLE.items()
    }
    contents = {
        "queries": [["nr", "frage"], ["no id", "text"], ["", "text"], *([row[0], row[2]] for row in rows["queries"])],
        "documents": [["doc_id", "title", "text"], *rows["documents"]],
        "judgments": [["wertung", "frage_nr", "seite"], *([row[2], *row[:2]] for row in rows["judgments"])],
    }
    for role, content in contents.items():
        with (tmp_path / f"{role}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(content)
    return [word for role in contents for word in (f"--{role}", str(tmp_path / f"{role}.csv"))]


def test_columns_of_other_names_are_options_and_their_files_are_converted(
    clir: Clir, tmp_path: Path, tables: list[str]
) -> None:
    columns = [word for column in COLUMNS for word in ("--columns", column)]
    done = clir("init", tmp_path / "a.yaml", *tables, *LANGUAGES, *columns)
    assert done.code == 0
    assert f"{tmp_path}/queries.csv:2: no id,text" in done.err and "922 used" in done.err
    config = load_config(str(tmp_path / "a.yaml"))
    assert config.data.top_grade == 2
    assert Path(config.data.judgments or "").read_text().splitlines()[0] == "1\t1\t2"
    estimate, *_ = re.findall(r"queries: 922 \(554 train, 192 eval, 176 test\)", done.err)
    assert done.err.index(estimate) < done.err.index(f"clir run {tmp_path}/a.yaml")


def test_a_person_sees_the_first_rows_and_says_which_column_is_what(
    clir: Clir, tmp_path: Path, tables: list[str]
) -> None:
    answers = ["nr", "-", "seite", "frage", "frage_nr", "seite", "wertung", *LANGUAGES[1::2]]
    done = clir("init", tmp_path / "a.yaml", *tables, stdin=Terminal("\n".join(answers)))
    assert done.code == 0, done.err
    assert re.search(r"\n  nr +\| frage\n  no id +\| text\n", done.err)
    assert "must be one of nr, frage; got 'seite'" in done.err
    assert (tmp_path / "a_files" / "queries.tsv").read_text("utf-8").startswith("1\t\t")


def test_a_first_line_that_is_a_record_is_none_the_less(clir: Clir, tmp_path: Path) -> None:
    lines = ["wolf\tPack", *(f"animal{number}\tlives in packs" for number in range(30))]
    (tmp_path / "queries").write_text("\n".join(lines))
    options = ["--queries", tmp_path / "queries", *FILES[2:], *LANGUAGES]
    assert clir("init", tmp_path / "a.yaml", *options, stdin=Terminal("-\n")).code == 0
    assert load_config(str(tmp_path / "a.yaml")).data.queries == str(tmp_path / "queries")


def test_columns_of_a_file_that_is_refused_are_forgotten(clir: Clir, tmp_path: Path, tables: list[str]) -> None:
    (tmp_path / "bad.csv").write_text("wort,satz\na b,c d\n")
    answers = [tmp_path / "bad.csv", "wort", "-", "satz", tables[1], "nr", "-", "frage"]
    answered = Terminal("\n".join(map(str, answers)) + "\n")
    code, _, err = clir("init", tmp_path / "a.yaml", *tables[2:4], stdin=answered)
    assert (code, "wort" in err.partition("to go on")[2], "id=nr" in err.partition("to go on")[2]) == (130, False, True)


@pytest.mark.parametrize("content", ['{"k\\u001b[2Jey": "x", "b": 1}\n', "\x1b[2J,b\n1,2\n", "[[", "{}\n", "a,b\n" * 9])
def test_files_of_any_kind_leave_the_terminal_alone(clir: Clir, tmp_path: Path, content: str) -> None:
    (tmp_path / "q").write_text(content)
    _, out, err = clir("init", tmp_path / "a.yaml", stdin=Terminal(f"{tmp_path / 'q'}\n"))
    assert "\x1b" not in out + err and "Traceback" not in err

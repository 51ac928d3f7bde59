"""`clir init`: a configuration from answers, which the product takes as it is."""

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from cli.init import EXAMPLE
from pipeline.config import load_config
from pipeline.config_schema import SCHEMA_FILE
from tests.cli.command import Clir

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
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
    assert loaded.output == str(tmp_path / "out")
    assert loaded.search.index
    first, *_ = config.read_text().splitlines()
    assert first == f"# yaml-language-server: $schema={SCHEMA_FILE}"
    assert sorted(path.name for path in config.parent.iterdir()) == [SCHEMA_FILE, "en_fr.yaml"]


def test_the_example_brings_its_files_and_needs_no_answer(clir: Clir, tmp_path: Path) -> None:
    assert clir("init", tmp_path / "config.yaml", "--example").code == 0
    assert sorted(path.name for path in (tmp_path / "sample").iterdir()) == sorted(EXAMPLE.values())
    assert load_config(str(tmp_path / "config.yaml")).data.queries == str(tmp_path / "sample" / EXAMPLE["queries"])


def test_a_file_that_is_there_is_never_written_over(clir: Clir, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("mine")
    answer = clir("init", tmp_path / "config.yaml", "--example")
    assert (answer.code, "must be a new file" in answer.err) == (2, True)
    assert (tmp_path / "config.yaml").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_other_files_of_the_user_stay_as_they_are(clir: Clir, tmp_path: Path) -> None:
    (tmp_path / SCHEMA_FILE).write_text('{"title": "mine"}')
    answer = clir("init", tmp_path / "a.yaml", "--example")
    assert (answer.code, "must be a schema that clir init wrote" in answer.err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == [SCHEMA_FILE]
    (tmp_path / SCHEMA_FILE).unlink()
    (tmp_path / ".a.yaml.incoming").write_text("mine")
    for name in ("a.yaml", "b.yaml"):  # the second one meets the schema of the first
        assert clir("init", tmp_path / name, "--example").code == 0
    assert (tmp_path / ".a.yaml.incoming").read_text() == "mine"


def test_all_bad_options_are_reported_and_nothing_is_written(clir: Clir, tmp_path: Path) -> None:
    answer = clir("init", tmp_path / "a.yaml", "--queries", "nope", *FILES[2:], "--query-language", "eng")
    assert answer.code == 2
    assert "--queries: must be a file, or a pattern of files; there is no file 'nope'" in answer.err
    assert "--query-language: must be an ISO 639-1 code, such as en; got 'eng'" in answer.err
    assert "--document-language must be given where nobody can be asked" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_queries_are_reported_as_in_the_file_that_is_not_written(clir: Clir, tmp_path: Path) -> None:
    swapped = ["--queries", FILES[5], *FILES[2:4], "--judgments", FILES[1]]
    answer = clir("init", tmp_path / "a.yaml", *swapped, *LANGUAGES)
    assert answer.code == 2
    assert f"{tmp_path / 'a.yaml'}:7: data.queries" in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", ["no", "it"])
def test_a_code_that_yaml_reads_as_a_truth_value_is_quoted(clir: Clir, tmp_path: Path, language: str) -> None:
    languages = ["--query-language", "en", "--document-language", language]
    assert clir("init", tmp_path / "a.yaml", *FILES, *languages).code == 0
    assert yaml.safe_load((tmp_path / "a.yaml").read_text())["data"]["document_language"] == language


@pytest.mark.parametrize("name", ["a query\nof two lines", "it's", "#1", "[x]", "~q"])
def test_any_name_of_a_file_can_be_written(
    clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(FILES[1], name)
    assert clir("init", "a.yaml", "--queries", f"./{name}", *FILES[2:], *LANGUAGES).code == 0
    assert load_config("a.yaml").data.queries == str(tmp_path / name)


@pytest.mark.parametrize("config", ["a\nx: 1.yaml", "a\u2028.yaml", "a\udce9.yaml"])
def test_a_name_of_a_configuration_that_cannot_be_printed_is_refused(clir: Clir, config: str) -> None:
    answer = clir("init", config, "--example")
    assert (answer.code, "must be a name of letters and signs that can be printed" in answer.err) == (2, True)


def test_the_home_folder_is_that_of_a_run(clir: Clir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    shutil.copyfile(FILES[1], tmp_path / "home" / "q.tsv")
    given = ["--queries", "~/q.tsv", *FILES[2:], *LANGUAGES, "--output", "~/runs"]
    assert clir("init", tmp_path / "deep" / "a.yaml", *given).code == 0
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


def test_an_output_in_an_object_store_stays_as_it_is_given(clir: Clir, tmp_path: Path) -> None:
    assert clir("init", tmp_path / "a.yaml", *FILES, *LANGUAGES, "--output", "gs://bucket/run").code == 0
    assert yaml.safe_load((tmp_path / "a.yaml").read_text())["output"] == "gs://bucket/run"
    answer = clir("init", tmp_path / "b.yaml", *FILES, *LANGUAGES, "--output", "s3://bucket/run")
    assert (answer.code, "must be a local path, or one on Google Cloud Storage" in answer.err) == (2, True)


def test_two_configurations_of_the_same_languages_have_two_outputs(clir: Clir, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert clir("init", tmp_path / f"{name}.yaml", *FILES, *LANGUAGES).code == 0
    assert load_config(str(tmp_path / "one.yaml")).output != load_config(str(tmp_path / "two.yaml")).output


def test_the_example_replaces_no_other_file(clir: Clir, tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / EXAMPLE["documents"]).write_text("half a file")
    answer = clir("init", tmp_path / "a.yaml", "--example")
    assert (answer.code, "must be the sample's file, or none" in answer.err) == (2, True)
    assert [path.name for path in (tmp_path / "sample").iterdir()] == [EXAMPLE["documents"]]


class Asked(NamedTuple):
    """`clir init` in a terminal, waiting for its first answer."""

    process: subprocess.Popen[bytes]
    terminal: int

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cli.main", "init", str(tmp_path / "a.yaml")]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        assert process.stderr
        said = b""
        while b"queries" not in said:
            said += os.read(process.stderr.fileno(), 1000)
        yield Asked(process, ours)
        process.kill()
    os.close(ours)


def test_a_person_is_asked_and_asked_again_after_a_bad_answer(asked: Asked, tmp_path: Path) -> None:
    answers = ["nope", *FILES[1::2], "eng", "en", "fr"]
    asked.type("".join(f"{answer}\n" for answer in answers))
    _, err = asked.process.communicate(timeout=60)
    assert asked.process.returncode == 0, err
    assert b"there is no file 'nope'" in err
    assert b"got 'eng'" in err
    assert load_config(str(tmp_path / "a.yaml")).data.document_language == "fr"


def test_a_person_who_gives_up_gets_no_traceback(asked: Asked, tmp_path: Path) -> None:
    asked.type("\x04")  # Ctrl-D; Ctrl-C takes the same way
    _, err = asked.process.communicate(timeout=60)
    assert (asked.process.returncode, err.split()[-1]) == (130, b"interrupted")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_made_while_a_person_is_asked_stays(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("mine")
    asked.type("".join(f"{answer}\n" for answer in [*FILES[1::2], "en", "fr"]))
    _, err = asked.process.communicate(timeout=60)
    assert (asked.process.returncode, b"must be a new file" in err) == (2, True)
    assert (tmp_path / "a.yaml").read_text() == "mine"


def test_the_shell_completes_commands() -> None:
    code = "from cli.main import clir; clir(prog_name='clir')"
    environment = {**os.environ, "_CLIR_COMPLETE": "bash_source"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "_CLIR_COMPLETE=bash_complete" in done.stdout

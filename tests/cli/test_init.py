"""`clir init`: a configuration from answers, which the product takes as it is."""

import os
import pty
import subprocess
import sys
from pathlib import Path

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


def test_a_person_is_asked_and_asked_again_after_a_bad_answer(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cli.main", "init", str(tmp_path / "a.yaml")]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        os.close(theirs)
        answers = ["nope", *FILES[1::2], "eng", "en", "fr"]
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        _, err = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0, err
    assert "there is no file 'nope'" in err
    assert "got 'eng'" in err
    assert load_config(str(tmp_path / "a.yaml")).data.document_language == "fr"


def test_the_shell_completes_commands() -> None:
    code = "from cli.main import clir; clir(prog_name='clir')"
    environment = {**os.environ, "_CLIR_COMPLETE": "bash_source"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "_CLIR_COMPLETE=bash_complete" in done.stdout

"""The paths that commands write to: a path that is none, or not of this machine, is refused, and nothing is made."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import pytest

from smooth_clir.cli.main import clir as commands
from tests.cli.command import Clir

ROOT: Final = Path(__file__).parents[2]
FILES: Final = ("--queries", "q.tsv", "--documents", "d.tsv")
LANGUAGES: Final = ("--query-language", "en", "--document-language", "fr")
COMMANDS: Final[dict[tuple[str, str], tuple[object, ...]]] = {
    ("compile", "output"): (ROOT / "configs/sample.yaml",),
    ("convert", "output"): (*FILES, "--qrels", "test=j.tsv", *LANGUAGES),
    ("evaluate", "output"): ("run", *FILES, "--candidates", "c.tsv"),
    ("export", "output"): ("run", "--to", "parquet"),
    ("init", "output"): ("config.yaml", *FILES, "--judgments", "j.tsv", *LANGUAGES),
    ("label", "output"): ("run", "--queries", "q.tsv"),
    ("lexicon", "export"): ("run",),
    ("export", "index"): ("run", "--to", "parquet", "--output", "new"),
    ("index", "index"): ("run", "--documents", "d.tsv"),
    ("label", "index"): ("run", "--queries", "q.tsv", "--output", "new"),
    ("search", "index"): ("run", "cat"),
    ("serve", "index"): ("run",),
}
"""The arguments of a command before an option that names what it writes, or the index that it may write."""
ENDINGS: Final = {"compile": ".yaml", "lexicon": ".tsv"}
IN_CONFIG: Final = {
    "run": ("run", ROOT / "configs/sample.yaml", "--set"),
    "wikipedia": ("wikipedia", ROOT / "configs/wikipedia/sample.yaml", "--set"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with input files and what looks like a model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run" / "serving" / "1").mkdir(parents=True)
    (tmp_path / "run" / "serving" / "1" / "saved_model.pb").touch()
    Path("q.tsv").write_text("1\tcat\n2\tdog\n")
    Path("d.tsv").write_text("a\tt\tchat\nb\tt\tchien\n")
    Path("j.tsv").write_text("1\ta\t1\n2\tb\t1\n")
    Path("c.tsv").write_text("1\ta\t1\ttest\n1\tb\t0\ttest\n")
    for name in ("fifo", "fifo.yaml", "fifo.tsv", "pairs.json"):
        os.mkfifo(name)
    return tmp_path


def refused() -> Iterator[object]:
    for command, option in COMMANDS:
        ending = ENDINGS.get(command, "")
        is_read = option == "index" and command != "index"
        paths = ["", f"s3://bucket/x{ending}", f"MILVUS+X://host/x{ending}"]
        paths += [] if command == "init" else [f"gs://bucket/x{ending}"]
        paths += [] if is_read else [f"fifo{ending}", f"/dev/full/x{ending}", *(["/dev/full"] if not ending else [])]
        paths += ["pairs"] if (command, option) == ("label", "output") else []
        for path in paths:
            yield pytest.param(command, option, path, id=f"{command} --{option} {path}")


@pytest.mark.parametrize(("command", "option", "path"), [*refused()])
def test_an_output_that_is_no_local_file_or_folder_is_refused_at_once(
    folder: Path, clir: Clir, command: str, option: str, path: str
) -> None:
    before = sorted(folder.rglob("*"))
    answer = clir(command, *COMMANDS[command, option], f"--{option}", path)
    assert answer.code in (1, 2)
    assert f"--{option}" in answer.err or "output:" in answer.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("command", IN_CONFIG)
@pytest.mark.parametrize("path", ["s3://bucket/x", "gs://bucket/x", "fifo", "/dev/full", '""'])
def test_the_output_of_a_configuration_is_refused_likewise(folder: Path, clir: Clir, command: str, path: str) -> None:
    before = sorted(folder.rglob("*"))
    answer = clir(*IN_CONFIG[command], f"output={path}")
    assert (answer.code, "output: " in answer.err) == (2, True)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("path", ["", "s3://bucket/config.yaml", "gs://bucket/config.yaml", "fifo"])
def test_a_new_configuration_is_a_local_file(folder: Path, clir: Clir, path: str) -> None:
    before = sorted(folder.rglob("*"))
    assert clir("init", path, *FILES, "--judgments", "j.tsv", *LANGUAGES).code == 2
    os.mkfifo("clir.schema.json")
    assert clir("init", "config.yaml", *FILES, "--judgments", "j.tsv", *LANGUAGES).code == 2
    os.remove("clir.schema.json")
    assert sorted(folder.rglob("*")) == before


def test_every_option_that_names_an_output_is_among_these() -> None:
    with click.Context(commands) as context:
        all_commands = {name: commands.get_command(context, name) for name in commands.list_commands(context)}
    options = {
        (name, str(option.name))
        for name, command in all_commands.items()
        if command
        for option in command.params
        if isinstance(option, click.Option) and option.name in ("output", "export", "index")
    }
    assert options == set(COMMANDS)

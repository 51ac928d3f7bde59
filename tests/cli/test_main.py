"""cli/main.py: exit codes, where text goes, help; all that ends before TensorFlow is imported."""

import errno
import io
import json
import os
import re
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path

import pytest

from schemas.errors import ConfigError, DataError
from smooth_clir.cli import main, run, terminal
from smooth_clir.cli.commands_doc import page
from tests.cli.command import Clir

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
COMMANDS = sorted(main.clir.commands)


# Help


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_with_an_example_and_stands_in_the_list(clir: Clir, name: str) -> None:
    code, out, err = clir(name, "--help")
    assert (code, err) == (0, "")
    assert re.search(rf"^  Example: clir {name}\b", out, re.MULTILINE)
    assert re.search(rf"^  {name} +\w.+\.$", clir("--help").out, re.MULTILINE)


def test_the_page_of_commands_is_what_their_help_generates() -> None:
    written = "\n".join([*page(), ""])
    assert PAGE.read_text(encoding="utf-8") == written, "run python -m smooth_clir.cli.commands_doc > docs/commands.md"


def test_the_version_is_the_packages(clir: Clir) -> None:
    code, out, _ = clir("--version")
    assert (code, version("smooth-clir") in out) == (0, True)


def test_without_a_command_the_help_is_shown_with_all_commands_by_groups(clir: Clir) -> None:
    done = clir()
    assert (done.code, done.err) == (0, "")
    assert done == clir("--help")
    groups = re.findall(r"^(\w[\w ]+):\n((?:  \w.+\n)+)", done.out.partition("Options:")[2], re.MULTILINE)
    assert len(groups) > 2
    assert sorted(line.split()[0] for _, lines in groups for line in lines.splitlines()) == COMMANDS


# Exit codes


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["walk"], "walk"),
        (["run", "run.yaml", "other.yaml"], "other.yaml"),
        (["rank", "runs/sample", "--documents", "-"], "stdin"),
        (["rank", "runs/sample", "--documents", "d", "--query", "x", "--top", "0"], "--top"),
    ],
)
def test_wrong_use_exits_2_and_names_the_fault_on_stderr(clir: Clir, arguments: list[str], reported: str) -> None:
    code, out, err = clir(*arguments)
    assert (code, out) == (2, "")
    assert reported in err


def test_config_faults_exit_2_each_on_a_line_of_stderr(clir: Clir, config_file: Path) -> None:
    code, out, err = clir("run", config_file, "--set", "training.epochs=x", "--set", "channels.towers.epsilon=-1")
    assert (code, out) == (2, "")
    assert [line.split(": ")[:2] for line in sorted(err.splitlines())] == [
        ["clir", "--set channels.towers.epsilon=-1"],
        ["clir", "--set training.epochs=x"],
    ]


def wrapped(error: BaseException) -> Exception:
    """An error as a runner wraps it."""
    outer = RuntimeError("stage failed")
    outer.__cause__ = error
    return outer


NO_SPACE = r"clir: no space left .+\n"
INTERRUPTED = r"(.*\n)*interrupted\n"


@pytest.mark.parametrize(
    ("error", "code", "pattern"),
    [
        (DataError("bad data"), 1, "clir: bad data\n"),
        (wrapped(DataError("bad data")), 1, "clir: bad data\n"),
        (ConfigError(["one", "two"]), 2, "clir: one\nclir: two\n"),
        (EOFError("Compressed file ended before its end"), 1, "\nclir: .+Compressed file ended.*\n"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 1, NO_SPACE),
        (wrapped(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))), 1, NO_SPACE),
        (RuntimeError("OSError: [Errno 27] File too large [while running 'Write/train/WriteBundles']"), 1, NO_SPACE),
        (wrapped(RuntimeError("Error when executing query: database or disk is full query: COMMIT;")), 1, NO_SPACE),
        (KeyboardInterrupt(), 130, INTERRUPTED),
        (wrapped(KeyboardInterrupt()), 130, INTERRUPTED),
        (RuntimeError("KeyboardInterrupt [while running 'MakeExamples/ParDo(MakeExample)']"), 130, INTERRUPTED),
        (RuntimeError("Traceback (most recent call last):\n  File ...\nKeyboardInterrupt\n"), 130, INTERRUPTED),
        (wrapped(RuntimeError("Traceback ...\nRuntimeError: KeyboardInterrupt: x")), 130, INTERRUPTED),
    ],
)
def test_errors_of_the_users_end_without_a_traceback_however_they_are_passed_on(
    clir: Clir, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, pattern: str
) -> None:
    def load_config(*arguments: object) -> object:
        raise error

    monkeypatch.setattr(run, "load_config", load_config)
    # A thread that another test left would end this process.
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread()])
    ended = clir("run", "run.yaml")
    assert (ended.code, ended.out) == (code, "")
    assert re.fullmatch(pattern, ended.err)


@pytest.mark.parametrize(("command", "has_stages"), [("run", True), ("rank", False), ("index", False)])
@pytest.mark.parametrize("error", [PermissionError(errno.EACCES, "Permission denied", "/x"), MemoryError()], ids=str)
def test_only_a_command_with_stages_speaks_of_them(
    clir: Clir, monkeypatch: pytest.MonkeyPatch, command: str, has_stages: bool, error: Exception
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(main.clir.commands[command], "callback", fail)
    ended = clir(command, "x", *(["--documents", "d"] if command == "rank" else []))
    assert (ended.code, ended.out) == (1, "")
    assert ("stages" in ended.err, "run it again" in ended.err) == (has_stages, True)
    assert "training." not in ended.err or has_stages


def test_an_error_of_ours_keeps_its_traceback(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "load_config", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        clir("run", "run.yaml")


@pytest.mark.parametrize("is_json", [False, True])
def test_letters_that_stdout_cannot_show_are_escaped(monkeypatch: pytest.MonkeyPatch, is_json: bool) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="iso8859-1")
    monkeypatch.setattr(sys, "stdout", stream)
    text = "文é\U0001f600"
    action = (lambda **_: terminal.show_json([text], None)) if is_json else (lambda **_: terminal.show(text))
    monkeypatch.setattr(main.clir, "main", action)
    main.main()
    stream.flush()
    shown = stream.detach().getvalue().decode("iso8859-1")  # type: ignore[attr-defined]
    assert json.loads(shown) == [text] if is_json else shown == "\\u6587é\\U0001f600\n"


# In a process of its own

HEAVY = "tensorflow tensorflow_text tensorflow_ranking tfx apache_beam numpy".split()
HELP_AND_FAULTS = [
    (["--help"], 0),
    (["run", "missing.yaml"], 2),
    (["run", "run.yaml", "--set", "data.queries=missing"], 2),
    (["run", "run.yaml", "--set", "training.epochs=0"], 2),
    (["rank", "missing", "--query", "x", "--documents", "d"], 1),
    (["rank", "missing", "--query", "\udce9t\udce9", "--documents", "d"], 2),
    (["run", "run.yaml", "--set", "output=\udce9t\udce9"], 2),
]
IMPORTS = f"""
import sys
import smooth_clir.command
from smooth_clir.cli.main import main
for arguments, _ in {HELP_AND_FAULTS}:
    sys.argv[1:] = arguments
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    print("ended:", code, *(sys.modules.keys() & set({HEAVY})))
"""


def test_help_and_faults_answer_without_heavy_imports(config_file: Path) -> None:
    command = [sys.executable, "-c", IMPORTS]
    done = subprocess.run(command, cwd=config_file.parent, capture_output=True, text=True, check=False)
    ended = [line for line in done.stdout.splitlines() if line.startswith("ended:")]
    assert ended == [f"ended: {code}" for _, code in HELP_AND_FAULTS]
    assert "Traceback" not in done.stderr


WAITING = """
import threading
from smooth_clir.cli import main, run

def load_config(*arguments):
    threading.Thread(target=threading.Event().wait).start()
    raise KeyboardInterrupt

run.load_config = load_config
main.main()
"""


def test_an_interruption_ends_the_process_though_a_thread_of_its_waits_for_ever() -> None:
    command = [sys.executable, "-c", WAITING, "run", "run.yaml"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "\ninterrupted\n")


SEEN = """
import os, sys
from pathlib import Path
from smooth_clir.cli import main

def look(**_):
    seen = sys.stdin.read(), [os.path.samestat(os.fstat(number), os.stat(os.devnull)) for number in range(3)]
    Path(sys.argv[1]).write_text(repr(seen))

main.clir.main = look
main.main()
"""


def test_closed_streams_are_opened_before_a_file_takes_their_numbers(tmp_path: Path) -> None:
    shell = f'exec "{sys.executable}" -c "$0" "$1" 0<&- 1>&- 2>&-'
    done = subprocess.run(["sh", "-c", shell, SEEN, tmp_path / "seen"], check=False)
    assert done.returncode == 0
    assert (tmp_path / "seen").read_text() == "('', [True, True, True])"

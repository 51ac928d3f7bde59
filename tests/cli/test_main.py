"""cli/main.py: exit codes, where text goes, help; all that ends before TensorFlow is imported."""

import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from cli import main, run
from schemas.errors import ConfigError, DataError
from tests.cli.command import Clir

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
COMMANDS = sorted(main.clir.commands)


# Help


def test_the_commands_are_listed_with_a_line_of_help(clir: Clir) -> None:
    code, out, err = clir("--help")
    assert (code, err) == (0, "")
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\w.+\.$", out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_shows_an_example(clir: Clir, name: str) -> None:
    code, out, err = clir(name, "--help")
    assert (code, err) == (0, "")
    assert re.search(rf"^  Example: clir {name}\b", out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_stands_on_the_page_of_commands(name: str) -> None:
    assert f"clir {name}" in PAGE.read_text(encoding="utf-8")


def test_the_version_is_the_packages(clir: Clir) -> None:
    code, out, _ = clir("--version")
    assert code == 0
    assert version("smooth-clir") in out


# Exit codes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND [ARGS]"),
        (["walk"], "walk"),
        (["run"], "CONFIG"),
        (["run", "run.yaml", "other.yaml"], "other.yaml"),
        (["run", "run.yaml", "--set"], "--set"),
        (["rank"], "MODEL"),
        (["rank", "runs/sample"], "--documents"),
        (["rank", "runs/sample", "--documents", "-"], "queries and documents cannot both come from stdin"),
        (["rank", "runs/sample", "--documents", "d", "--query", "x", "--top", "0"], "--top"),
    ],
)
def test_wrong_use_exits_2_and_names_the_fault_on_stderr(clir: Clir, arguments: list[str], words: str) -> None:
    code, out, err = clir(*arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_config_faults_exit_2_each_on_a_line_of_stderr(clir: Clir, config_file: Path) -> None:
    code, out, err = clir("run", config_file, "--set", "training.epochs=x", "--set", "model.epsilon=-1")
    assert (code, out) == (2, "")
    assert [line.split(": ")[:2] for line in sorted(err.splitlines())] == [
        ["clir", "--set model.epsilon=-1"],
        ["clir", "--set training.epochs=x"],
    ]


def raises(error: BaseException) -> Callable[..., object]:
    def load_config(*arguments: object) -> object:
        raise error

    return load_config


def wrapped(error: BaseException) -> Exception:
    """An error as a runner wraps it."""
    outer = RuntimeError("stage failed")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "code", "err"),
    [
        (DataError("bad data"), 1, "clir: bad data\n"),
        (wrapped(DataError("bad data")), 1, "clir: bad data\n"),
        (ConfigError(["one", "two"]), 2, "clir: one\nclir: two\n"),
        (KeyboardInterrupt(), 130, "\ninterrupted\n"),
    ],
)
def test_errors_of_the_users_end_without_a_traceback(
    clir: Clir, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, err: str
) -> None:
    monkeypatch.setattr(run, "load_config", raises(error))
    assert clir("run", "run.yaml") == (code, "", err)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        wrapped(OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))),
        RuntimeError("OSError: [Errno 27] File too large [while running 'Write/train/Write/WriteImpl/WriteBundles']"),
        wrapped(RuntimeError("Error when executing query: database or disk is full query: COMMIT;")),
    ],
    ids=["system", "quota", "beam", "metadata"],
)
def test_a_full_disk_is_no_error_of_ours(clir: Clir, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(run, "load_config", raises(error))
    code, out, err = clir("run", "run.yaml")
    assert (code, out) == (1, "")
    assert re.fullmatch(r"clir: no space left to write the output \(.+\); free some, .+\n", err)


@pytest.mark.parametrize(
    "error",
    [
        wrapped(KeyboardInterrupt()),
        RuntimeError("KeyboardInterrupt [while running 'MakeExamples/ParDo(MakeExample)']"),
        RuntimeError("Traceback (most recent call last):\n  File ...\nKeyboardInterrupt\n"),
        wrapped(RuntimeError("Traceback (most recent call last):\n  File ...\nRuntimeError: KeyboardInterrupt: x")),
    ],
    ids=["cause", "step", "text", "both"],
)
def test_an_interruption_is_reported_however_it_is_passed_on(
    clir: Clir, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(run, "load_config", raises(error))
    code, out, err = clir("run", "run.yaml")
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"


def test_an_end_of_file_is_no_interruption(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "load_config", raises(EOFError("Compressed file ended before its end")))
    code, _, err = clir("run", "run.yaml")
    assert code == 1
    assert "a file must be as it was written; it is damaged: Compressed file ended" in err


def test_an_error_of_ours_keeps_its_traceback(clir: Clir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "load_config", raises(ZeroDivisionError("ours")))
    with pytest.raises(ZeroDivisionError):
        clir("run", "run.yaml")


# Before TensorFlow

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


@pytest.mark.stages
def test_help_and_faults_answer_without_heavy_imports(config_file: Path) -> None:
    script = f"""
import sys
from cli.main import main
for arguments, _ in {HELP_AND_FAULTS}:
    sys.argv[1:] = arguments
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    print("ended:", code, *(sys.modules.keys() & set({HEAVY})))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=config_file.parent, capture_output=True, text=True, check=False
    )
    ended = [line for line in done.stdout.splitlines() if line.startswith("ended:")]
    assert ended == [f"ended: {code}" for _, code in HELP_AND_FAULTS]
    assert "Traceback" not in done.stderr


@pytest.mark.stages
def test_an_interruption_ends_the_process_though_a_thread_of_its_waits_for_ever() -> None:
    code = """
import threading
from cli import main, run

def load_config(*arguments):
    threading.Thread(target=threading.Event().wait).start()
    raise KeyboardInterrupt

run.load_config = load_config
main.main()
"""
    command = [sys.executable, "-c", code, "run", "run.yaml"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "\ninterrupted\n")


@pytest.mark.stages
def test_python_s_own_way_to_run_a_module_runs_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "cli.main", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.startswith("clir")) == (0, True), done


@pytest.mark.stages
@pytest.mark.parametrize("is_json", [False, True])
def test_letters_that_stdout_cannot_show_are_escaped(is_json: bool) -> None:
    shown = "show_json(['文é\\U0001f600'], None)" if is_json else "show('文é\\U0001f600')"
    code = f"from cli import main, terminal; main.clir.main = lambda **_: terminal.{shown}; main.main()"
    environment = {**os.environ, "PYTHONIOENCODING": "iso8859-1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    text = done.stdout.decode("iso8859-1")
    if is_json:
        assert json.loads(text) == ["文é\U0001f600"]
    else:
        assert text == "\\u6587é\\U0001f600\n"


SEEN = """
import os, sys
from pathlib import Path
from cli import main

def look(**_):
    seen = sys.stdin.read(), [os.path.samestat(os.fstat(number), os.stat(os.devnull)) for number in range(3)]
    Path(sys.argv[1]).write_text(repr(seen))

main.clir.main = look
main.main()
"""


@pytest.mark.stages
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_closed_stream_is_opened_before_a_file_takes_its_number(tmp_path: Path, closed: str) -> None:
    shell = f'exec "{sys.executable}" -c "$0" "$1" </dev/null >/dev/null 2>/dev/null {closed}'
    done = subprocess.run(["sh", "-c", shell, SEEN, tmp_path / "seen"], check=False)
    assert done.returncode == 0
    assert (tmp_path / "seen").read_text() == "('', [True, True, True])"

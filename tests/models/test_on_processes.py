"""Work in several processes: its order, its errors, and what becomes of it when a process dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from models.on_processes import OnProcesses
from schemas.errors import DataError

ROOT = Path(__file__).parents[2]


def square(number: int) -> int:
    return number * number


def refuse(number: int) -> int:
    raise DataError(f"no {number}")


def die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def sleep_long(number: int) -> int:
    print(os.getpid(), flush=True)
    time.sleep(600)
    return number


def test_results_come_in_the_order_of_the_items() -> None:
    assert list(OnProcesses(2)(square, range(20))) == [number * number for number in range(20)]


def test_an_error_is_the_function_s_own() -> None:
    with pytest.raises(DataError, match="no 0"):
        list(OnProcesses(2)(refuse, range(5)))


def test_a_killed_process_is_told_in_a_sentence() -> None:
    with pytest.raises(DataError, match="all 2 processes must live until their work is done, but one was killed"):
        list(OnProcesses(2)(die, range(5)))


def test_no_process_outlives_a_killed_parent() -> None:
    code = (
        "if __name__ == '__main__':\n"
        "    from models.on_processes import OnProcesses\n"
        "    from tests.models.test_on_processes import sleep_long\n"
        "    list(OnProcesses(2)(sleep_long, range(2)))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        children = [int(parent.stdout.readline()) for _ in range(2)]
        parent.kill()
        deadline = time.monotonic() + 30
        while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in children)

"""wikipedia/processes.py: the order of results, errors, and the death of a process or of its parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schemas.errors import DataError
from wikipedia.processes import on_processes

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
    os.write(1, f"{os.getpid()}\n".encode())  # in one call, because two processes write
    time.sleep(600)
    return number


@pytest.mark.stages
def test_results_come_in_the_order_of_the_items() -> None:
    assert list(on_processes(2, square, range(20))) == [number * number for number in range(20)]


def test_an_error_is_the_function_s_own() -> None:
    with pytest.raises(DataError, match="no 0"):
        list(on_processes(2, refuse, range(5)))


@pytest.mark.stages
def test_a_killed_process_is_an_error_in_one_sentence() -> None:
    with pytest.raises(DataError, match="all 2 processes must live until their work is done, but one was killed"):
        list(on_processes(2, die, range(5)))


PARENT = """
if __name__ == "__main__":
    from wikipedia.processes import on_processes
    from tests.wikipedia.test_processes import sleep_long
    try:
        list(on_processes(2, sleep_long, range(2)))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.stages
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_a_killed_or_an_interrupted_parent(sent: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs the tests in the background has its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as parent:
        assert parent.stdout and parent.stderr
        try:
            children = [int(parent.stdout.readline()) for _ in range(2)]
            if sent == signal.SIGINT:
                os.killpg(parent.pid, sent)  # a terminal's Ctrl-C reaches all of them
                assert parent.communicate(timeout=30) == ("interrupted\n", "")
        finally:
            parent.kill()
        deadline = time.monotonic() + 30
        while any(map(lives, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not any(map(lives, children))


def lives(process: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False

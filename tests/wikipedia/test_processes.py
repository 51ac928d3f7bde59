"""wikipedia/processes.py: the order of results, errors, and the death of a process or of its parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schemas.errors import DataError
from smooth_clir.wikipedia.processes import on_processes

ROOT = Path(__file__).parents[2]


def test_results_come_in_the_order_of_the_items_until_an_error_of_the_function_s_own() -> None:
    results = on_processes(2, int, ["3", "1", "4", "one", "5"])
    assert [next(results) for _ in range(3)] == [3, 1, 4]
    with pytest.raises(ValueError, match="'one'"):
        next(results)


def test_a_killed_process_is_an_error_of_the_data() -> None:
    with pytest.raises(DataError, match="2 processes"):
        list(on_processes(2, os._exit, range(2)))


# Of its own, because each process imports it: the package of the tests would import much.
SLEEPING = """
import os, time

def sleep_long(number):
    os.write(1, f"{os.getpid()}\\n".encode())  # in one call, because two processes write
    time.sleep(600)
"""
PARENT = """
import sys

if __name__ == "__main__":
    sys.path.append(sys.argv[1])
    from sleeping import sleep_long
    from smooth_clir.wikipedia.processes import on_processes
    try:
        list(on_processes(2, sleep_long, range(2)))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_a_killed_or_an_interrupted_parent(tmp_path: Path, sent: signal.Signals) -> None:
    (tmp_path / "sleeping.py").write_text(SLEEPING)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
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

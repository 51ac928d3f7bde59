"""pipeline/stages.py: the memory of a process, without that of the process that started it."""

import subprocess
import sys

from pipeline.stages import peak_memory

SIZE = 300 << 20
PROGRAM = "from pipeline.stages import peak_memory; print(peak_memory())"
HOLD = f"held = bytearray({SIZE}); del held; "


def peak_of(program: str) -> int:
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def test_the_peak_counts_what_was_held_once():
    assert SIZE < peak_of(HOLD + PROGRAM) < SIZE + (100 << 20)


def test_the_peak_counts_a_process_that_this_one_started():
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}]); "
    assert SIZE < peak_of(started + PROGRAM) < SIZE + (100 << 20)


def test_the_peak_is_not_that_of_the_process_that_started_it():
    held = bytearray(SIZE)
    assert peak_memory() > len(held)
    assert peak_of(PROGRAM) < 100 << 20

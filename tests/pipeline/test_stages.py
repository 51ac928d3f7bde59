"""pipeline/stages.py: the memory of a process, without that of the process that started it."""

import subprocess
import sys

import pytest

from pipeline.stages import peak_memory

SIZE = 300 << 20
PROGRAM = "from pipeline.stages import peak_memory; print(peak_memory())"
HOLD = f"held = bytearray({SIZE}); del held; "
HOLD_IN_ANOTHER = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}]); "


def peak_of(program: str) -> int:
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("before", [HOLD, HOLD_IN_ANOTHER])
def test_the_peak_counts_what_the_process_or_one_that_it_started_held_once(before):
    assert SIZE < peak_of(before + PROGRAM) < SIZE + (100 << 20)


def test_the_peak_is_not_that_of_the_process_that_started_it():
    held = bytearray(SIZE)
    assert peak_memory() > len(held)
    assert peak_of(PROGRAM) < 100 << 20

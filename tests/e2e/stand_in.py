"""The stand-in for TF Serving as a process of its own."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.e2e.process import ROOT


class Server(NamedTuple):
    """The host:port of each API."""

    rest: str
    grpc: str


@contextmanager
def serve(output: Path) -> Iterator[Server]:
    """Runs it in front of a run's newest version, on ports that are free."""
    command = [sys.executable, "-m", "tests.stand_in_tf_serving", str(output)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            match = re.fullmatch(r"REST on (\S+), gRPC on (\S+)\n", line)
            if match is None:
                raise RuntimeError(f"{' '.join(command)} must start; it said {line!r}.")
            yield Server(*match.groups())
        finally:
            process.terminate()

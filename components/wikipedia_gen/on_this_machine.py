"""How many processes of this machine read dumps."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from models.on_processes import OnProcesses

_LEAST_BYTES: Final = 1 << 24
"""Of dumps that are worth the second that a process takes to start."""


def on_this_machine(
    paths: Iterable[str], processes: int | None = None
) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]:
    """What applies a function to the pieces of dumps, as `map` does; what is made of them is the same.

    Args:
      paths: of all files.
      processes: how many; None takes as many as this process may use cores, and for small dumps this process alone.
    """
    if processes is None:
        size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
        processes = 1 if size < _LEAST_BYTES else len(os.sched_getaffinity(0))
    return map if processes == 1 else OnProcesses(processes)

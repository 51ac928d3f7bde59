"""Applies a function to items in several processes of this machine."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeVar

from schemas.apply import Apply
from schemas.child_process import die_with_the_parent
from schemas.errors import DataError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_MIN_BYTES: Final = 1 << 24
"""Smallest size of dumps that are worth the second that a process takes to start."""


def on_this_machine(paths: Iterable[str], processes: int | None = None) -> Apply:
    """Returns a function that works as `map` on processes of this machine.

    Args:
      paths: all dump files.
      processes: the number of processes; None for one a core, or only this process if the dumps are small.
    """
    if processes is None:
        size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
        processes = 1 if size < _MIN_BYTES else len(os.sched_getaffinity(0))
    return map if processes == 1 else partial(on_processes, processes)


def on_processes(count: int, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Works as `map`: yields the results in the order of the items, each as soon as all earlier items are done.

    Args:
      count: the number of processes.
      work: the function; a process must be able to import it.
      items: its arguments.

    Raises:
      Exception: the function's; waiting items are not begun.
      DataError: a process was killed.
    """
    earlier_children = {*multiprocessing.active_children()}
    # Not forked, because this process may have threads, for example TensorFlow's.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=die_with_the_parent)
    try:
        with _interrupts_blocked():
            futures = [pool.submit(work, item) for item in items]
        for future in futures:
            yield future.result()
    except BaseException as error:
        for process in {*multiprocessing.active_children()} - earlier_children:
            process.kill()  # nobody waits for its results any more
        if isinstance(error, BrokenProcessPool):
            raise DataError(
                f"One of the {count} processes was killed, perhaps because memory ran out. Run the same command again, "
                "perhaps with fewer processes."
            ) from error
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Blocks Ctrl-C, so that processes started meanwhile never receive it. This process ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

"""Applies a function to items in several processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from schemas.errors import DataError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class OnProcesses:
    """As `map`: the results come in the order of the items, each as soon as those before it are there.

    Args:
      count: of the processes.
    """

    def __init__(self, count: int) -> None:
        self._count = count

    def __call__(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Applies a function, which a process can import, to items.

        Raises:
          Exception: the function's own; items that were not begun are not.
          DataError: a process was killed.
        """
        others = {*multiprocessing.active_children()}
        # Not forked: this process may have threads, TensorFlow's among them.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self._count, mp_context=context, initializer=_end_with_the_parent)
        try:
            with _interrupts_held_back():
                futures = [pool.submit(work, item) for item in items]
            for future in futures:
                yield future.result()
        except BaseException as error:
            for process in {*multiprocessing.active_children()} - others:
                process.kill()  # nobody waits for their work any more
            if isinstance(error, BrokenProcessPool):
                raise DataError(
                    f"all {self._count} processes must live until their work is done, but one was killed, perhaps for "
                    "want of memory; run the same command again, perhaps with fewer processes."
                ) from error
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Holds Ctrl-C back, which reaches processes that are started meanwhile never: this one ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with_the_parent() -> None:
    """Ends this process when the one that started it does: a killed one cannot, and its pool would wait for ever."""

    def watch() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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

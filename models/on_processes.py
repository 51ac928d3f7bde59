"""Applies a function to items in several processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

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
        # Not forked: this process may have threads, TensorFlow's among them.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self._count, mp_context=context, initializer=_end_with_the_parent) as pool:
            futures = [pool.submit(work, item) for item in items]
            try:
                for future in futures:
                    yield future.result()
            except BrokenProcessPool as error:
                raise DataError(
                    f"all {self._count} processes must live until their work is done, but one was killed, perhaps for "
                    "want of memory; run the same command again, perhaps with fewer processes."
                ) from error
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def _end_with_the_parent() -> None:
    """Ends this process when the one that started it does: a killed one cannot, and its pool would wait for ever.

    Ctrl-C reaches both; that one says so, and ends this.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

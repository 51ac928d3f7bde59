"""Processes that end when the process that started them does."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable


def die_with_the_parent(wait: Callable[[], object] | None = None) -> None:
    """Kills this process as soon as its parent has ended, even if the parent was killed.

    A process that outlived its parent would wait for ever, or write into the folder of the parent's next run.

    Args:
      wait: returns when the parent has ended; None waits for the parent of a process that `multiprocessing` started.
    """
    if wait is None:
        parent = multiprocessing.parent_process()
        if parent is None:
            return
        wait = parent.join

    def watch() -> None:
        wait()
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()

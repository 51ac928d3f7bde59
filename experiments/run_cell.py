"""One cell of an experiment, in a process of its own."""

import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from experiments.cell_folder import CellFolder
from pipeline.config import RunConfig
from pipeline.quiet import quieten
from pipeline.stages import DATA_STAGES, StageEnd
from pipeline.usage import peak_memory

UsersError = Callable[[BaseException | None], Exception | None]
"""The user's error behind an exception, whose text is a sentence for them; None where the error is ours. It is
pickled, and so a function of a module."""


class Ended(NamedTuple):
    """How a cell's run ended, where its process lived to tell."""

    reason: str | None
    """Why it failed, if it did."""
    fails_all: bool
    """Whether the reason lies in the data, which are the same for all cells."""
    peak_memory_bytes: int | None


class _CellLog(logging.Handler):
    """Writes stages, and what the project's loggers say, into the cell's log, and tells the parent of them."""

    def __init__(self, parent: Connection) -> None:
        super().__init__()
        self.stage = ""
        self._parent = parent

    def start(self, number: int, total: int, name: str) -> None:
        """A stage starts."""
        self.stage = name
        self._parent.send(name)

    def end(self, stage: StageEnd) -> None:
        """A stage is done."""
        self._write(stage.describe())

    def emit(self, record: logging.LogRecord) -> None:
        """Progress goes to the parent, the rest into the log."""
        if record.name == "clir.progress":
            self._parent.send(f"{self.stage}: {record.getMessage()}")
        else:
            self._write(f"      {record.getMessage()}")

    def _write(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


def run_cell(
    experiment: Path, folder: CellFolder, config: RunConfig, users_error: UsersError, parent: Connection
) -> None:
    """Runs a cell and leaves its results, and its log, in its folder.

    Args:
      experiment: the experiment's folder, which the parent process holds.
      folder: the cell's.
      config: the cell's.
      users_error: see `UsersError`.
      parent: is sent lines of progress, and at last an `Ended`.
    """
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    with open(folder.log, "wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    quieten(verbose=False)
    reason, fails_all = None, False
    view = _CellLog(parent)
    logger = logging.getLogger("clir")
    logger.addHandler(view)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        from pipeline.local_runner import run_locally  # TFX, which this process alone needs

        run_locally(config, view.start, view.end, experiment)
    except Exception as error:
        traceback.print_exc()
        cause = users_error(error)
        reason = str(cause) if cause else f"{type(error).__name__}: {error}".splitlines()[0]
        fails_all = cause is not None and view.stage in DATA_STAGES
    parent.send(Ended(reason, fails_all, peak_memory()))


def _die_with_the_parent() -> None:
    """Two experiments would write into one folder, if a cell outlived its own and that were started again."""
    if parent := parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)

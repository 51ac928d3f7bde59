"""One cell of an experiment, in a process of its own."""

import logging
import os
import signal
import threading
import traceback
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from pipeline.config import RunConfig
from pipeline.experiment.cell_folder import LOG_FILE, CellFolder
from pipeline.progress import StageView, quieten
from pipeline.summary import peak_memory
from pipeline.users_error import users_error

_DATA_STAGES = (
    "WikiClirExampleGen", "StatisticsGen", "ImportSchemaGen", "ExampleValidator", "Transform", "LexicalBaseline",
)  # fmt: skip


class Ended(NamedTuple):
    """How a cell's run ended, where its process lived to tell."""

    reason: str | None
    """Why it failed, if it did."""
    fails_all: bool
    """Whether the reason lies in the data, which are the same for all cells."""
    peak_memory_bytes: int | None


class _CellView(StageView):
    """Shows stages in the cell's log, and tells the parent of them."""

    def __init__(self, parent: Connection) -> None:
        super().__init__()
        self.stage = ""
        self._parent = parent

    def start(self, number: int, total: int, name: str) -> None:
        self.stage = name
        self._parent.send(name)
        super().start(number, total, name)

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        if record.name == "clir.progress":
            self._parent.send(f"{self.stage}: {record.getMessage()}")


def run_cell(experiment: Path, folder: CellFolder, config: RunConfig, parent: Connection) -> None:
    """Runs a cell and leaves its results, and its log, in its folder.

    Args:
      experiment: the experiment's folder, which the parent process holds.
      folder: the cell's.
      config: the cell's.
      parent: is sent lines of progress, and at last an `Ended`.
    """
    threading.Thread(target=_die_with_the_parent, daemon=True).start()
    with open(folder.path / LOG_FILE, "wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    quieten(verbose=False)
    reason, fails_all = None, False
    view = _CellView(parent)
    try:
        with view:
            from pipeline.local_runner import run_locally  # TFX, which this process alone needs

            run_locally(config, view.start, view.end, experiment)
        folder.gather()
    except Exception as error:
        traceback.print_exc()
        cause = users_error(error)
        reason = str(cause) if cause else f"{type(error).__name__}: {error}".splitlines()[0]
        fails_all = cause is not None and view.stage in _DATA_STAGES
    parent.send(Ended(reason, fails_all, peak_memory()))


def _die_with_the_parent() -> None:
    """Two experiments would write into one folder, if a cell outlived its own and that were started again."""
    if parent := parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)

"""Runs an experiment: all cells that are not done, one after another, each in its own process."""

import logging
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from pipeline.config import RunConfig
from pipeline.layout import EXPERIMENT_FILE
from pipeline.machine import check_machine, check_temporary_folder_for_sockets
from pipeline.output_folder import OutputFolder
from pipeline.quiet import quieten
from pipeline.stages import DATA_STAGES, StageEnd, peak_memory
from schemas.child_process import die_with_the_parent
from schemas.errors import DataError
from schemas.provenance import PROVENANCE_FILE
from schemas.wording import rounded_duration
from smooth_clir.experiments.cell import Cell, CellFolder
from smooth_clir.experiments.experiment import Experiment
from smooth_clir.experiments.grid import Grid

UsersError = Callable[[BaseException | None], Exception | None]
"""Returns the user's error behind an exception, whose text is a sentence, or None for a bug of ours. Pickled, so it
must be a function of a module."""


class Ended(NamedTuple):
    """The end of a cell's run, sent by its process."""

    reason: str | None
    """The reason of a failure, or None."""
    fails_all: bool
    """Whether the reason is in the data, which all cells share."""
    peak_memory_bytes: int | None


PRELOADED: Final = ["pipeline.local_runner", "pipeline.provenance", "models.tf_ranking"]
"""Modules that the server of the cells' processes imports once. No op of TensorFlow runs there."""

progress_log = logging.getLogger("clir.progress")


class View(Protocol):
    """Shows the progress."""

    def start(self, number: int, total: int, name: str) -> None:
        """Shows the start of a stage, or of other work with number and total 0."""

    def say(self, line: str) -> None:
        """Shows a line."""


def run_experiment(grid: Grid, view: View, users_error: UsersError) -> list[Cell]:
    """Runs the cells that are not done. A cell that fails or is killed does not stop the others.

    The caller holds the output folder (see `pipeline.output_folder`).

    Args:
      grid: see `load_grid`.
      view: shows the progress.
      users_error: see `UsersError`.

    Returns:
      every cell, as in its folder.

    Raises:
      DataError: no cell can use the collection, or the machine cannot run the processes.
    """
    check_temporary_folder_for_sockets()
    check_machine()
    output = OutputFolder(grid.output, "experiment")
    folders = [CellFolder(grid.output, cell) for cell in grid.cells]
    states = [_prepare(folder) for folder in folders]
    _write_experiment(grid, output)
    counts = {status: [state.status for state in states].count(status) for status in ("done", "waiting")}
    if counts["done"]:
        view.say(f"{counts['done']} of {len(states)} cells were done before")
    if not counts["waiting"]:
        return states
    view.start(0, 0, "loading TFX")
    context = _start_server()
    loading = context.Process()  # an empty process, which waits for the imports
    loading.start()
    loading.join()
    seconds: list[float] = []
    for number, (folder, state) in enumerate(zip(folders, states, strict=True)):
        if state.status != "waiting" or folder.cell.config is None:
            continue
        label = f"[cell {number + 1}/{len(states)}] {state.name}"
        view.start(0, 0, label)
        states[number] = ended = _run_in_a_process(context, grid.output, folder, folder.cell.config, users_error)
        seconds.append(ended.seconds or 0.0)
        typical = seconds[1:] or seconds  # the first cell often makes the data, too
        left = (counts["waiting"] - len(seconds)) * sum(typical) / len(typical)
        result = f"ndcg_5 {folder.metrics()['ndcg_5']:.4f}" if ended.status == "done" else f"failed: {ended.reason}"
        remaining = f"; about {rounded_duration(left)} left" if len(seconds) < counts["waiting"] else ""
        view.say(f"{label}  {result}, {rounded_duration(seconds[-1])}{remaining}")
    return states


def _start_server() -> ForkServerContext:
    """Starts the server that cells are forked from.

    Starts it in the project's folder: Python 3.10's server imports `PRELOADED` from its current folder first, where a
    user may have a `pipeline.py`.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    current_folder = os.open(".", os.O_RDONLY)
    try:
        os.chdir(Path(__file__).parents[2])
        ensure_running()
    finally:
        os.fchdir(current_folder)
        os.close(current_folder)
    return context


def _prepare(folder: CellFolder) -> Cell:
    """Returns a cell's state. Empties the folder of a cell that is not done; fails an impossible cell."""
    state = folder.state()
    if state.status != "done":
        folder.begin()
    if folder.cell.fault:
        state = replace(state, status="failed", reason=folder.cell.fault)
        folder.finish(state)
    return state


def _write_experiment(grid: Grid, output: OutputFolder) -> None:
    """Writes the cells in the order of the grid; the folder may hold further cells, of an earlier grid."""
    settings = grid.settings
    experiment = Experiment(
        title=settings.title,
        published=grid.published,
        collection=grid.collection,
        domains=grid.domains,
        grid=settings.axes,
        claims=settings.claims,
        cells=tuple(Cell(cell.name, cell.settings) for cell in grid.cells),
        file=grid.text,
    )
    output.write(EXPERIMENT_FILE, experiment.to_json())


def _run_in_a_process(
    context: ForkServerContext, output: Path, folder: CellFolder, config: RunConfig, users_error: UsersError
) -> Cell:
    """Runs a cell until it is done or has failed."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    started = time.monotonic()
    process = context.Process(target=_run_cell, args=(output, folder, config, users_error, sender))
    process.start()
    sender.close()
    try:
        with receiver:
            ended = _listen(receiver)
        process.join()
    finally:
        process.kill()  # if we are interrupted
        process.join()
    if ended is None:
        reason = f"its process {_describe_exit(process.exitcode or 0)}; {folder.log} may say more"
        ended = Ended(reason, fails_all=False, peak_memory_bytes=None)
    state = Cell(
        folder.cell.name,
        folder.cell.settings,
        status="failed" if ended.reason else "done",
        reason=ended.reason,
        seconds=round(time.monotonic() - started, 1),
        peak_memory_bytes=ended.peak_memory_bytes,
    )
    folder.finish(state)
    if ended.fails_all:
        raise DataError(f"no cell can be run: {ended.reason}")
    return state


def _listen(receiver: Connection) -> Ended | None:
    """Shows a cell's progress until it ends; returns None if its process died without a message."""
    try:
        while not isinstance(message := receiver.recv(), Ended):
            progress_log.info("%s", message)
    except (EOFError, OSError):
        return None
    return message


def _describe_exit(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name} (the kernel does this if memory runs out)"
    return f"ended with exit code {code}"


class _CellLog(logging.Handler):
    """Writes stages and the project's log records into the cell's log, and sends the progress to the parent."""

    def __init__(self, parent: Connection) -> None:
        super().__init__()
        self.stage = ""
        self._parent = parent

    def start(self, number: int, total: int, name: str) -> None:
        """Sends the name of the stage that starts."""
        self.stage = name
        self._parent.send(name)

    def end(self, stage: StageEnd) -> None:
        """Writes the end of a stage into the log."""
        self._write(stage.describe())

    def emit(self, record: logging.LogRecord) -> None:
        """Sends progress to the parent, and writes other records into the log."""
        if record.name == "clir.progress":
            self._parent.send(f"{self.stage}: {record.getMessage()}")
        else:
            self._write(f"      {record.getMessage()}")

    def _write(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


def _run_cell(
    experiment: Path, folder: CellFolder, config: RunConfig, users_error: UsersError, parent: Connection
) -> None:
    """Writes a cell's results and log into its folder; sends progress to the parent, and an `Ended` at the end."""
    die_with_the_parent()
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
        # TFX, which only this process needs
        from pipeline.local_runner import run_locally
        from pipeline.provenance import provenance

        OutputFolder(folder.path, "cell").write(PROVENANCE_FILE, provenance(config).to_json())
        run_locally(config, view.start, view.end, experiment)
    except Exception as error:
        traceback.print_exc()
        cause = users_error(error)
        reason = str(cause) if cause else f"{type(error).__name__}: {error}".splitlines()[0]
        fails_all = cause is not None and view.stage in DATA_STAGES
    parent.send(Ended(reason, fails_all, peak_memory()))

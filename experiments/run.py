"""Runs an experiment: every cell that is not done, one after another, each in a process of its own."""

import json
import logging
import multiprocessing
import signal
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Final, Protocol

from experiments.cell import Cell
from experiments.cell_folder import CellFolder
from experiments.grid import Grid
from experiments.run_cell import Ended, UsersError, run_cell
from pipeline.config import RunConfig
from pipeline.layout import EXPERIMENT_FILE
from pipeline.output_folder import OutputFolder
from schemas.errors import DataError

PRELOADED: Final = ["pipeline.local_runner", "tensorflow_ranking"]
"""What the server that cells are forked from imports, once for all of them. No op of TensorFlow runs there."""

progress_log = logging.getLogger("clir.progress")


class View(Protocol):
    """What shows the progress."""

    def start(self, number: int, total: int, name: str) -> None:
        """Something starts; number and total are 0 where it is no stage."""

    def say(self, line: str) -> None:
        """A line for a person."""


def run_experiment(grid: Grid, view: View, users_error: UsersError) -> list[Cell]:
    """Runs the cells that are not done. One that fails, or is killed, fails alone.

    The caller holds the output folder (see `pipeline.run_lock`).

    Args:
      grid: see `load_grid`.
      view: shows the progress.
      users_error: tells a user's error from ours, see `UsersError`.

    Returns:
      what became of every cell; the same stands in their folders.

    Raises:
      DataError: the collection cannot be used, and so by no cell.
    """
    output = OutputFolder(grid.output, "experiment")
    folders = [CellFolder(grid.output, cell) for cell in grid.cells]
    states = [_prepare(folder) for folder in folders]
    _write_experiment(grid, output)
    counts = {status: [state.status for state in states].count(status) for status in ("done", "waiting")}
    if counts["done"]:
        view.say(f"{counts['done']} of {len(states)} cells were done before")
    if not counts["waiting"]:
        return states
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    view.start(0, 0, "loading TFX")
    loading = context.Process()  # the first one waits for the imports
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
        typical = seconds[1:] or seconds  # the first one often makes the data, too
        left = (counts["waiting"] - len(seconds)) * sum(typical) / len(typical)
        result = f"ndcg_5 {folder.metrics()['ndcg_5']:.4f}" if ended.status == "done" else f"failed: {ended.reason}"
        rest = f"; about {duration(left)} left" if len(seconds) < counts["waiting"] else ""
        view.say(f"{label}  {result}, {duration(seconds[-1])}{rest}")
    return states


def _prepare(folder: CellFolder) -> Cell:
    """What is to be done about a cell; one that is not done begins anew, and an impossible one ends here."""
    state = folder.state()
    if state.status != "done":
        folder.begin()
    if folder.cell.fault:
        state = replace(state, status="failed", reason=folder.cell.fault)
        folder.finish(state)
    return state


def _write_experiment(grid: Grid, output: OutputFolder) -> None:
    """Names the cells, in the order of the grid; others in the folder are of an earlier one."""
    content = {
        "title": grid.settings.title,
        "paper_language": grid.settings.paper_language,
        "collection": grid.collection,
        "grid": grid.settings.axes,
        "claims": [claim.model_dump(mode="json") for claim in grid.settings.claims],
        "cells": [cell.name for cell in grid.cells],
        "file": grid.text,
    }
    output.write(EXPERIMENT_FILE, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _run_in_a_process(
    context: ForkServerContext, output: Path, folder: CellFolder, config: RunConfig, users_error: UsersError
) -> Cell:
    """Runs a cell to its end, whichever that is."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    started = time.monotonic()
    process = context.Process(target=run_cell, args=(output, folder, config, users_error, sender))
    process.start()
    sender.close()
    try:
        with receiver:
            ended = _listen(receiver)
        process.join()
    finally:
        process.kill()  # where we are interrupted
        process.join()
    if ended is None:
        reason = f"its process {_describe_exit(process.exitcode or 0)}; {folder.log} may tell more"
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
    """Shows a cell's progress until it ends; None where its process died before it said how."""
    try:
        while not isinstance(message := receiver.recv(), Ended):
            progress_log.info("%s", message)
    except (EOFError, OSError):
        return None
    return message


def duration(seconds: float) -> str:
    """A time for a person.

    Example:
      >>> duration(38.4), duration(361)
      ('38 s', '6 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _describe_exit(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name} (the kernel does so where memory runs out)"
    return f"ended with exit code {code}"

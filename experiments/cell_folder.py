"""The folder of an experiment's cell: what it holds, and whether its run is done."""

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Final

from experiments.cell import Cell
from experiments.grid import PlannedCell
from pipeline.atomic_file import write_atomically
from pipeline.config import RunConfig, dump_config
from pipeline.fingerprint import rooms_digest
from pipeline.layout import CELLS, CONFIG_FILE, DATA, EVALUATION, TRAINING

CELL_FILE: Final = "cell.json"
LOG_FILE: Final = "log.txt"
METRICS_FILE: Final = "metrics.json"

_DIGEST_FILE = "inputs.sha256"
_RESULTS = (CONFIG_FILE, METRICS_FILE, "run.trec", "qrels.trec", "training.json", "stability.json")


class CellFolder:
    """A cell's folder, which is made where it is missing.

    Its `cell.json` says "done" from the moment on in which all results are there, and only then.

    Args:
      output: the experiment's folder.
      cell: the cell.
    """

    def __init__(self, output: Path, cell: PlannedCell) -> None:
        self.path = output / CELLS / cell.name
        self.cell = cell
        self.path.mkdir(parents=True, exist_ok=True)

    def state(self) -> Cell:
        """What became of the cell: done only if code, data and settings are those that the results were made with."""
        waiting = Cell(self.cell.name, self.cell.settings)
        if self.cell.config is None:
            return waiting
        try:
            state = Cell(**json.loads((self.path / CELL_FILE).read_text(encoding="utf-8")))
            digest = (self.path / _DIGEST_FILE).read_text(encoding="utf-8")
        except (OSError, ValueError, TypeError):
            return waiting
        whole = all((self.path / name).is_file() for name in _RESULTS)
        return state if state.status == "done" and whole and digest == _digest(self.cell.config) else waiting

    def begin(self) -> None:
        """Removes what an earlier run left."""
        self.finish(Cell(self.cell.name, self.cell.settings))
        for path in self.path.iterdir():
            if path.is_file() and path.name != CELL_FILE:
                path.unlink()
        if self.cell.config is not None:
            (self.path / _DIGEST_FILE).write_text(_digest(self.cell.config), encoding="utf-8")

    def gather(self) -> None:
        """Moves what the run published in folders to where an experiment has it."""
        for folder in (self.path / EVALUATION, self.path / TRAINING):
            for path in folder.glob("*"):
                os.replace(path, self.path / path.name)
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(self.path / DATA)  # the same in all cells

    def finish(self, cell: Cell) -> None:
        """Writes `cell.json`."""
        write_atomically(self.path / CELL_FILE, json.dumps(cell.content(), indent=2) + "\n")

    def metrics(self) -> dict[str, float]:
        """The test split's metrics of a cell that is done."""
        metrics: dict[str, float] = json.loads((self.path / METRICS_FILE).read_text(encoding="utf-8"))["metrics"]
        return metrics


def _digest(config: RunConfig) -> str:
    """A digest of all that decides the results: settings, input files and code."""
    text = dump_config(config.model_copy(update={"output": ""})) + rooms_digest()
    return hashlib.sha256(text.encode()).hexdigest()

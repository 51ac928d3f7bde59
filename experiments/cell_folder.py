"""The folder of an experiment's cell: what it holds, and whether its run is done."""

import hashlib
import json
from pathlib import Path

from experiments.cell import Cell
from experiments.grid import PlannedCell
from pipeline.beam_settings import BeamSettings
from pipeline.config import RunConfig, dump_config
from pipeline.fingerprint import rooms_digest
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.layout import CELL_DIGEST_FILE, CELL_FILE, CELL_LOG_FILE, CELL_RESULTS, CELLS
from pipeline.output_folder import OutputFolder
from schemas.evaluation_files import METRICS_FILE
from schemas.evaluation_report import EvaluationReport


class CellFolder:
    """A cell's folder, which is made where it is missing.

    Its `cell.json` says "done" from the moment on in which all results are there, and only then.

    Args:
      output: the experiment's folder.
      cell: the cell.

    Raises:
      DataError: the folder holds what is not ours.
    """

    def __init__(self, output: Path, cell: PlannedCell) -> None:
        self.path = output / CELLS / cell.name
        self.cell = cell
        OutputFolder(self.path, "cell")

    @property
    def log(self) -> Path:
        """Where its process writes what it says."""
        return self.path / CELL_LOG_FILE

    def state(self) -> Cell:
        """What became of the cell: done only if all its files are whole, and of this code, data and settings."""
        waiting = Cell(self.cell.name, self.cell.settings)
        folder = OutputFolder(self.path, "cell")
        if self.cell.config is None or not folder.is_whole({*CELL_RESULTS, *folder.files} - {CELL_LOG_FILE}):
            return waiting
        try:
            state = Cell(**json.loads((self.path / CELL_FILE).read_text(encoding="utf-8")))
            digest = (self.path / CELL_DIGEST_FILE).read_text(encoding="utf-8")
        except (OSError, ValueError, TypeError):
            return waiting
        return state if state.status == "done" and digest == _digest(self.cell.config) else waiting

    def begin(self) -> None:
        """Removes what an earlier run left."""
        self.finish(Cell(self.cell.name, self.cell.settings))
        folder = OutputFolder(self.path, "cell")
        folder.remove(folder.files - {CELL_FILE})
        if self.cell.config is not None:
            folder.write(CELL_DIGEST_FILE, _digest(self.cell.config))
        folder.write(CELL_LOG_FILE, "")

    def finish(self, cell: Cell) -> None:
        """Writes `cell.json`."""
        OutputFolder(self.path, "cell").write(CELL_FILE, json.dumps(cell.content(), indent=2) + "\n")

    def metrics(self) -> dict[str, float]:
        """The test split's metrics of a cell that is done."""
        return EvaluationReport.from_json((self.path / METRICS_FILE).read_text(encoding="utf-8")).metrics


def _digest(config: RunConfig) -> str:
    """A digest of all that decides the results: settings, input files and code."""
    elsewhere = {"output": "", "kubeflow": KubeflowSettings(), "beam": BeamSettings()}
    text = dump_config(config.model_copy(update=elsewhere)) + rooms_digest()
    return hashlib.sha256(text.encode()).hexdigest()

"""A cell of an experiment, which is a run, and its folder."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pipeline.beam_settings import InProcessSettings
from pipeline.config import RunConfig
from pipeline.config_file import dump_config
from pipeline.identity import identity_of_all_stages
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.layout import CELL_DIGEST_FILE, CELL_FILE, CELL_LOG_FILE, CELL_RESULTS, CELLS
from pipeline.output_folder import OutputFolder
from schemas.evaluation import METRICS_FILE, EvaluationReport
from schemas.json_files import parse_json
from schemas.provenance import Provenance
from schemas.search_report import SearchReport
from schemas.stability import Stability
from schemas.training_history import TrainingHistory
from smooth_clir.experiments.grid import PlannedCell

RUN_AGAIN: Final = "run the experiment again to complete it"
"""The remedy for a file of a cell that cannot be read."""


@dataclass(frozen=True)
class Cell:
    """A cell, with the results of its run once it has finished.

    Attributes:
      settings: the grid's values.
      reason: the reason of a failure, a sentence.
      seconds: duration of its process.
      peak_memory_bytes: peak memory of its process.
      folder: the folder of its files.
      evaluation, search, training, stability, provenance: the content of its files; None before the cell has finished,
        or if the file does not exist.
      config: the resolved configuration; empty before the cell has finished.
    """

    name: str
    settings: Mapping[str, Any]
    status: Literal["waiting", "done", "failed"] = "waiting"
    reason: str | None = None
    seconds: float | None = None
    peak_memory_bytes: int | None = None
    folder: Path = Path()
    evaluation: EvaluationReport | None = None
    search: SearchReport | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    training: TrainingHistory | None = None
    stability: Stability | None = None
    provenance: Provenance | None = None

    @property
    def metrics(self) -> Mapping[str, float]:
        """The test split's metrics; empty before the cell has finished."""
        return self.evaluation.metrics if self.evaluation else {}

    @property
    def queries(self) -> int:
        """The number of the test split's queries; 0 before the cell has finished."""
        return self.evaluation.queries if self.evaluation else 0

    @property
    def baselines(self) -> Mapping[str, Mapping[str, float]]:
        """The metrics of random order and of the baselines; empty before the cell has finished."""
        return self.evaluation.baselines if self.evaluation else {}

    def setting(self, key: str) -> Any:
        """Returns a setting of a finished cell: from its search or its configuration; None if neither has it."""
        searched = self.training.searched if self.training else {}
        if key in searched:
            return searched[key]
        *sections, name = key.split(".")
        config: Mapping[str, Any] = self.config
        for section in sections:
            config = config.get(section) or {}
        return config.get(name)

    @property
    def thresholds(self) -> tuple[float, ...] | None:
        """The thresholds of a finished cell's loss: learned, from a search, or configured; None without thresholds."""
        learned = self.training.theta if self.training else None
        thresholds = learned or self.setting("loss.theta")
        return tuple(thresholds) if thresholds else None

    def content(self) -> dict[str, Any]:
        """Returns the content of `cell.json`."""
        return {
            "name": self.name,
            "settings": dict(self.settings),
            "status": self.status,
            "reason": self.reason,
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
        }


class CellFolder:
    """A cell's folder, made if it is missing. Its `cell.json` says "done" only once all results are written.

    Args:
      output: the experiment's folder.
      cell: the cell.

    Raises:
      DataError: the folder holds files that are not ours.
    """

    def __init__(self, output: Path, cell: PlannedCell) -> None:
        self.path = output / CELLS / cell.name
        self.cell = cell
        OutputFolder(self.path, "cell")

    @property
    def log(self) -> Path:
        return self.path / CELL_LOG_FILE

    def state(self) -> Cell:
        """Returns the cell: done if its files are whole and made by this code, data and settings; else waiting."""
        waiting = Cell(self.cell.name, self.cell.settings)
        folder = OutputFolder(self.path, "cell")
        if self.cell.config is None or not folder.is_whole({*CELL_RESULTS, *folder.files} - {CELL_LOG_FILE}):
            return waiting
        try:
            state = Cell(**parse_json((self.path / CELL_FILE).read_text(encoding="utf-8")))
            digest = (self.path / CELL_DIGEST_FILE).read_text(encoding="utf-8")
        except (OSError, ValueError, TypeError):
            return waiting
        return state if state.status == "done" and digest == _digest(self.cell.config) else waiting

    def begin(self) -> None:
        """Removes the files of an earlier run."""
        self.finish(Cell(self.cell.name, self.cell.settings))
        folder = OutputFolder(self.path, "cell")
        folder.remove(folder.files - {CELL_FILE})
        if self.cell.config is not None:
            folder.write(CELL_DIGEST_FILE, _digest(self.cell.config))
        folder.write(CELL_LOG_FILE, "")

    def finish(self, cell: Cell) -> None:
        OutputFolder(self.path, "cell").write(CELL_FILE, json.dumps(cell.content(), indent=2) + "\n")

    def metrics(self) -> dict[str, float]:
        """Reads the test split's metrics of a cell that is done."""
        return EvaluationReport.read(self.path / METRICS_FILE, RUN_AGAIN).metrics


def _digest(config: RunConfig) -> str:
    """Returns a digest of everything that decides the results: settings, input files, code and libraries."""
    elsewhere = {"output": "", "kubeflow": KubeflowSettings(), "beam": InProcessSettings()}
    text = dump_config(config.model_copy(update=elsewhere)) + identity_of_all_stages()
    return hashlib.sha256(text.encode()).hexdigest()

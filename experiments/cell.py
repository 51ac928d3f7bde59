"""One run of an experiment, as its folder tells of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from schemas.evaluation_report import EvaluationReport
from schemas.stability import Stability
from schemas.training_history import TrainingHistory


@dataclass(frozen=True)
class Cell:
    """A cell; what a finished run wrote is empty where the cell has not finished.

    Attributes:
      settings: the grid's values.
      reason: why the cell failed, if it did.
      seconds: that its process took.
      peak_memory_bytes: of its process.
      folder: where its files lie.
      evaluation, training, stability: what its files hold; None where the cell has not finished, or left none.
      config: the resolved configuration.
    """

    name: str
    settings: Mapping[str, Any]
    status: Literal["waiting", "done", "failed"] = "waiting"
    reason: str | None = None
    seconds: float | None = None
    peak_memory_bytes: int | None = None
    folder: Path = Path()
    evaluation: EvaluationReport | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    training: TrainingHistory | None = None
    stability: Stability | None = None

    @property
    def metrics(self) -> Mapping[str, float]:
        """The test split's metrics; empty where the cell has not finished."""
        return self.evaluation.metrics if self.evaluation else {}

    @property
    def queries(self) -> int:
        """The test split's queries; 0 where the cell has not finished."""
        return self.evaluation.queries if self.evaluation else 0

    @property
    def baselines(self) -> Mapping[str, Mapping[str, float]]:
        """The metrics of random order and of the baselines; empty where the cell has not finished."""
        return self.evaluation.baselines if self.evaluation else {}

    def setting(self, key: str) -> Any:
        """A setting of a finished cell: what a search found, else the configuration's; None where there is neither."""
        found = self.training.searched if self.training else {}
        section, _, name = key.rpartition(".")
        return found[key] if key in found else (self.config.get(section, {}) if section else self.config).get(name)

    @property
    def thresholds(self) -> tuple[float, ...] | None:
        """Those of a finished cell's loss: learned, found by a search, or given; None for a loss without."""
        learned = self.training.theta if self.training else None
        thresholds = learned or self.setting("loss.theta")
        return tuple(thresholds) if thresholds else None

    def content(self) -> dict[str, Any]:
        """The content of `cell.json`: what became of the cell."""
        return {
            "name": self.name,
            "settings": dict(self.settings),
            "status": self.status,
            "reason": self.reason,
            "seconds": self.seconds,
            "peak_memory_bytes": self.peak_memory_bytes,
        }

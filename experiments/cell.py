"""One run of an experiment, as its folder tells of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from schemas.stability import Stability


@dataclass(frozen=True)
class Cell:
    """A cell; what a finished run wrote is empty where the cell has not finished.

    Attributes:
      settings: the grid's values.
      reason: why the cell failed, if it did.
      seconds: that its process took.
      peak_memory_bytes: of its process.
      folder: where its files lie.
      config, metrics, training: the content of the run's files.
      stability: likewise; None where a run left none.
    """

    name: str
    settings: Mapping[str, Any]
    status: Literal["waiting", "done", "failed"] = "waiting"
    reason: str | None = None
    seconds: float | None = None
    peak_memory_bytes: int | None = None
    folder: Path = Path()
    config: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    stability: Stability | None = None

    @property
    def best_epoch(self) -> Mapping[str, Any]:
        """The row of the epoch whose weights were exported."""
        row: Mapping[str, Any]
        (row,) = (row for row in self.training["history"] if row["epoch"] == self.training["best_epoch"])
        return row

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

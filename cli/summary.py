"""What a run or an evaluation tells in the end, in lines for a person."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.layout import CONFIG_FILE, DATA, EVALUATION, SERVING, TENSORBOARD, TRAINING, TUNING
from pipeline.stages import StageEnd
from schemas.evaluation_report import EvaluationReport
from schemas.served_versions import served_versions


def metrics_table(report: EvaluationReport) -> str:
    """The metrics of a model beside the floors and what a perfect order reaches."""
    columns = [("model", report.metrics), *report.floors.items(), ("reachable", report.reachable)]
    lines = [f"{report.split + ' split':12}" + "".join(f"{name:>10}" for name, _ in columns) + "  in the paper"]
    for key in report.metrics:
        values = "".join(f"{values[key]:10.4f}" for _, values in columns)
        lines.append(f"{key:12}{values}  {report.paper_names.get(key, '')}".rstrip())
    return "\n".join([*lines, f"{report.queries:,} queries"])


@dataclass(frozen=True)
class RunSummary:
    """A run's stages, times and memory.

    Attributes:
      stages: those that are done.
      seconds: of the whole run.
      peak_memory_bytes: the most that the process has held.
    """

    stages: Sequence[StageEnd]
    seconds: float
    peak_memory_bytes: int

    def describe(self) -> str:
        """The summary in a line for a person."""
        hows = [stage.how for stage in self.stages]
        counts = ", ".join(f"{hows.count(how)} {how}" for how in ("run", "cached", "restored") if how in hows)
        took = f"{self.seconds:.0f} s in all, peak memory {self.peak_memory_bytes / 2**30:.1f} GiB"
        return f"{took}; stages: {counts or 'none'}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "seconds": round(self.seconds, 1),
            "peak_memory_bytes": self.peak_memory_bytes,
            "stages": [
                {
                    "name": one.name,
                    "how": one.how,
                    "seconds": round(one.seconds, 2),
                    "cpu_seconds": round(one.cpu_seconds, 2),
                    "peak_memory_bytes": one.peak_memory_bytes,
                }
                for one in self.stages
            ],
        }


def describe_files(output: Path) -> list[str]:
    """What a person finds under a run's output folder."""

    def names(folder: str) -> str:
        return ", ".join(sorted(path.name for path in (output / folder).iterdir()))

    versions = len(served_versions(os.listdir(output / SERVING))) if (output / SERVING).is_dir() else 0
    return [
        *(
            f"  {f'{folder}/':14}{names(folder)}"
            for folder in (EVALUATION, DATA, TUNING, TRAINING)
            if (output / folder).is_dir()
        ),
        f"  {f'{SERVING}/':14}pushed versions: {versions}",
        f"  {f'{TENSORBOARD}/':14}losses, gradients, metrics and scores of every epoch",
        f"  {CONFIG_FILE:14}the resolved configuration",
    ]

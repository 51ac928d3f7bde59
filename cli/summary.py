"""What a run or an evaluation tells in the end, in lines for a person."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.layout import CONFIG_FILE, DATA, EVALUATION, LEXICON, SERVING, TENSORBOARD, TRAINING, TUNING
from pipeline.stages import StageEnd
from schemas.evaluation_report import EvaluationReport, PartReport
from schemas.served_versions import served_versions


def metrics_table(report: EvaluationReport) -> str:
    """The metrics of a model beside those of its channels, the baselines and what a perfect order reaches.

    On seen and on cold documents, too.
    """
    lines = _table(f"{report.split} split", report, report.paper_names)
    if report.feedback:
        lines.append(f"model: with feedback {report.feedback:g}, a second pass over each list")
    lines.append(f"{report.queries:,} queries")
    if report.seen and report.cold:
        lines[-1] += f", {report.seen.queries:,} of them with an MR document that training has seen as relevant"
        if report.seen.queries and report.cold.queries:
            lines += ["", *_table("seen", report.seen), f"{report.seen.queries:,} queries"]
            lines += ["", *_table("cold", report.cold), f"{report.cold.queries:,} queries"]
    return "\n".join(lines)


def _table(title: str, part: EvaluationReport | PartReport, paper_names: Mapping[str, str] | None = None) -> list[str]:
    columns = [
        ("model", part.metrics),
        *part.channels.items(),
        *part.baselines.items(),
        ("reachable", part.reachable),
    ]
    widths = [max(10, len(name) + 1) for name, _ in columns]
    heads = "".join(f"{name:>{width}}" for (name, _), width in zip(columns, widths, strict=True))
    lines = [f"{title:12}{heads}" + "  in the paper" * bool(paper_names)]
    for key in part.metrics:
        values = "".join(f"{values[key]:{width}.4f}" for (_, values), width in zip(columns, widths, strict=True))
        lines.append(f"{key:12}{values}  {(paper_names or {}).get(key, '')}".rstrip())
    return lines


def seen_warning(report: EvaluationReport) -> str | None:
    """What a person should know where nearly all test documents were seen in training."""
    if not report.nearly_all_seen:
        return None
    return (
        "training has seen nearly all test queries' documents, with other queries: the metrics do not tell how new "
        "documents are ranked; data.cold_share, or data.split: documents, measures it"
    )


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
            for folder in (EVALUATION, DATA, LEXICON, TUNING, TRAINING)
            if (output / folder).is_dir()
        ),
        f"  {f'{SERVING}/':14}pushed versions: {versions}",
        f"  {f'{TENSORBOARD}/':14}losses, gradients, metrics and scores of every epoch",
        f"  {CONFIG_FILE:14}the resolved configuration",
    ]

"""Summarises runs and evaluations as text."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from pipeline.layout import (
    CONFIG_FILE,
    DATA,
    EVALUATION,
    INDEX,
    LEXICON,
    SERVING,
    TENSORBOARD,
    TRAINING,
    TUNING,
    WIKIPEDIA,
)
from pipeline.stages import StageEnd
from schemas.evaluation import EvaluationReport, PartReport
from schemas.search_report import SearchReport
from schemas.served_versions import served_versions

_PART_METRICS: Final = ("p_mr_1", "ndcg_5", "map")


def metrics_table(report: EvaluationReport) -> str:
    """Returns the metrics of model, channels, baselines and a perfect order; also on seen and on cold documents."""
    lines = _table(f"{report.split} split", report, report.paper_names)
    if report.feedback:
        lines.append(
            f"model: with feedback {report.feedback:g}, a second pass by the best {report.feedback_documents} of each "
            "list"
        )
    for name, parameters in report.parameters.items():
        chosen = ", ".join(f"{key} {value}" for key, value in parameters.items())
        lines.append(f"{name}: {chosen}, chosen on the eval split")
    lines.append(f"{report.queries:,} queries")
    if report.seen and report.cold:
        lines[-1] += f", {report.seen.queries:,} of them with an MR document that training has seen as relevant"
        if report.seen.queries and report.cold.queries:
            lines += ["", *_table("seen", report.seen), f"{report.seen.queries:,} queries"]
            lines += ["", *_table("cold", report.cold), f"{report.cold.queries:,} queries"]
    for title, parts in (("domain", report.domains), ("query language", report.query_languages)):
        if parts:
            lines += ["", *_parts(title, parts)]
    if report.languages:
        lines += ["", *_parts("language", report.languages, ("relevant_share", "first_share"))]
    return "\n".join(lines)


def search_table(report: SearchReport) -> str:
    """Returns the metrics of model, channels and BM25 in the whole collection, and the model's on lists."""
    sampled = report.sampled
    columns = [
        ("model", report.metrics),
        *report.channels.items(),
        *report.baselines.items(),
        ("on lists", sampled.metrics),
    ]
    lines = [f"whole collection ({report.documents:,} documents)", *metrics_columns("", columns)]
    for (kind, rival), group in groupby(report.comparisons, key=attrgetter("kind", "other")):
        parts = (f"{comparison.metric} {comparison.difference:+.4f} ({comparison.p_text})" for comparison in group)
        lines.append(f"model against {f'the channel {rival}' if kind == 'channel' else rival}: {', '.join(parts)}")
    if report.feedback:
        lines.append(f"model: with feedback {report.feedback:g}, a second pass; the channels have no second pass")
    if report.approximation.queries:
        share, queries = report.approximation.overlap_10, report.approximation.queries
        where = f", in {report.engine}" if report.engine else ""
        lines.append(
            f"without scoring every document, the search finds {share:.2%} of the 10 best of {queries:,} queries"
            + where
        )
    lines.append(f"{report.queries:,} queries, the first {report.depth:,} documents of each ranking count")
    return "\n".join(lines)


def _table(title: str, part: EvaluationReport | PartReport, paper_names: Mapping[str, str] | None = None) -> list[str]:
    columns = [
        ("model", part.metrics),
        *part.channels.items(),
        *part.baselines.items(),
        ("reachable", part.reachable),
    ]
    heads, *rows = metrics_columns(title, columns)
    names = paper_names or {}
    return [
        heads + "  in the paper" * bool(names),
        *(f"{row}  {names.get(key, '')}".rstrip() for key, row in zip(part.metrics, rows, strict=True)),
    ]


def _parts(title: str, parts: Mapping[str, PartReport], shares: Sequence[str] = ()) -> Iterator[str]:
    """Yields a line for each part of the queries: their number, the model's main metrics, and shares."""
    first = max(len(title), *map(len, parts)) + 1
    names = "".join(f"{key:>10}" for key in _PART_METRICS) + "".join(f"{share:>{len(share) + 2}}" for share in shares)
    yield f"{title:{first}}{'queries':>10}{names}"
    for name, part in parts.items():
        values = [f"{part.metrics[key]:.4f}" if part.queries else "-" for key in _PART_METRICS]
        metrics = "".join(f"{value:>10}" for value in values)
        part_shares = "".join(f"{getattr(part, share):>{len(share) + 2}.1%}" for share in shares)
        yield f"{name:{first}}{part.queries:>10,}{metrics}{part_shares}"


def metrics_columns(title: str, columns: Sequence[tuple[str, Mapping[str, float]]]) -> list[str]:
    """Returns a line of names, and a line for each metric of the first column; other columns may lack it."""
    keys = columns[0][1]
    first = max(12, *(len(key) + 1 for key in keys))
    widths = [max(10, len(name) + 1) for name, _ in columns]
    lines = [f"{title:{first}}" + "".join(f"{name:>{width}}" for (name, _), width in zip(columns, widths, strict=True))]
    for key in keys:
        cells = (f"{values[key]:.4f}" if key in values else "-" for _, values in columns)
        lines.append(f"{key:{first}}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)))
    return lines


@dataclass(frozen=True)
class RunSummary:
    """A run's stages, time and memory.

    Attributes:
      stages: the finished stages.
      seconds: duration of the whole run.
      peak_memory_bytes: peak memory of the process.
    """

    stages: Sequence[StageEnd]
    seconds: float
    peak_memory_bytes: int

    def describe(self) -> str:
        """Returns the summary as a line."""
        outcomes = [stage.how for stage in self.stages]
        counts = ", ".join(f"{outcomes.count(how)} {how}" for how in ("run", "cached", "restored") if how in outcomes)
        took = f"{self.seconds:.0f} s in all, peak memory {self.peak_memory_bytes / 2**30:.1f} GiB"
        return f"{took}; stages: {counts or 'none'}"

    def as_dict(self) -> dict[str, Any]:
        """Returns the summary for JSON."""
        return {
            "seconds": round(self.seconds, 1),
            "peak_memory_bytes": self.peak_memory_bytes,
            "stages": [
                {
                    "name": stage.name,
                    "how": stage.how,
                    "seconds": round(stage.seconds, 2),
                    "cpu_seconds": round(stage.cpu_seconds, 2),
                    "peak_memory_bytes": stage.peak_memory_bytes,
                }
                for stage in self.stages
            ],
        }


def describe_files(output: Path) -> list[str]:
    """Returns lines that describe a run's output folder."""

    def names(folder: str) -> str:
        return ", ".join(sorted(path.name for path in (output / folder).iterdir()))

    def versions(folder: str) -> int:
        return len(served_versions(os.listdir(output / folder))) if (output / folder).is_dir() else 0

    return [
        *(
            f"  {f'{folder}/':14}{names(folder)}"
            for folder in (EVALUATION, WIKIPEDIA, DATA, LEXICON, TUNING, TRAINING)
            if (output / folder).is_dir()
        ),
        f"  {f'{SERVING}/':14}pushed versions: {versions(SERVING)}",
        *([f"  {f'{INDEX}/':14}versions of the index: {count}"] if (count := versions(INDEX)) else []),
        f"  {f'{TENSORBOARD}/':14}losses, gradients, metrics and scores of every epoch",
        f"  {CONFIG_FILE:14}the resolved configuration",
    ]

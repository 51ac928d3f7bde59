"""The content of a report, from an experiment to sections of text, tables and pictures."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Final

from experiments.experiment import Experiment, Row
from experiments.report.claims import claims
from experiments.report.conditions import conditions
from experiments.report.curve_figure import curve_figure
from experiments.report.density_figure import density_figure
from experiments.report.loss_figure import loss_figure
from experiments.report.names import setting_name, value_name
from experiments.report.page import NOTHING, Block, Entry, Line, Link, Listing, Page, Section, Table, Text
from experiments.report.results import results
from experiments.report.similarity_figure import similarity_figure
from experiments.report.stability import stability
from experiments.report.training_figure import training_figure
from experiments.settings import VARIANT
from models.evaluation.metrics import METRICS

DIFFERENCES: Final = "docs/differences.md"
"""The page on where we depart from the paper."""


def make_page(experiment: Experiment, differences: str | None = None) -> Page:
    """The whole report.

    Args:
      experiment: what it tells of.
      differences: the address of `DIFFERENCES`; None where the report does not lie beside it.
    """
    rows = experiment.rows
    pictures = [
        # What an experiment is about comes first, where it is about a number; what all have in common comes last.
        curve_figure(rows, 4, "model.epsilon", "ε", "ε = 0 is the plain cosine."),
        curve_figure(rows, 5, "data.used_negatives", "NR documents of a query", "More of them make a harder task."),
        density_figure(rows),
        loss_figure(rows),
        training_figure(rows),
        similarity_figure(),
    ]
    return Page(
        experiment.title,
        (
            *([verdicts] if (verdicts := claims(experiment)) else []),
            Section(
                "experiment", "What was run", (*_what_was_run(experiment), *conditions(rows), *_departures(differences))
            ),
            results(experiment),
            Section("definitions", "The metrics", tuple(_definitions())),
            Section("figures", "Figures", tuple(picture for picture in pictures if picture)),
            stability(rows),
            Section("cost", "Time and memory", (_cost(rows),)),
            Section("repeat", "To repeat it", tuple(_repeat(experiment))),
        ),
    )


def _what_was_run(experiment: Experiment) -> Iterator[Block]:
    grid = "; ".join(
        # The rows of the results have the variants' names.
        f"{len(values)} variants" if key == VARIANT else f"{setting_name(key)}: {', '.join(map(value_name, values))}"
        for key, values in experiment.grid.items()
    )
    counts = Counter(cell.status for cell in experiment.cells)
    yield Text(f"Collection: {experiment.collection}.")
    yield Text(f"Every combination of {grid}." if grid else "One cell.")
    said = ", ".join(f"{counts[status]} {status}" for status in ("done", "failed", "waiting") if counts[status])
    yield Text(f"{len(experiment.cells)} cells: {said}.")
    unfinished = [cell for cell in experiment.cells if cell.status != "done"]
    if unfinished:
        yield Table(
            "Cells that have not finished",
            ("Cell", "status", "reason"),
            tuple(Line((Entry(cell.name), Entry(cell.status), Entry(cell.reason or NOTHING))) for cell in unfinished),
        )


def _departures(differences: str | None) -> Iterator[Block]:
    text = "Where the system that is trained here departs from the paper, why, and what that changes:"
    if differences:
        yield Link(text, "differences from the paper", differences)
    else:
        yield Text(f"{text} {DIFFERENCES} of this software.")


def _definitions() -> Iterator[Block]:
    yield Text(
        "Each metric is a mean over the queries of the test split. With grades 0 to K, MR is grade K, SR any grade "
        "from 1 to K - 1, and NR grade 0. Documents are ordered by score, descending, ties by document id, descending. "
        "A query without a relevant document scores 0 and counts."
    )
    yield Table(
        "What the columns of the results are",
        ("Metric", "definition"),
        tuple(Line((Entry(metric.name), Entry(metric.definition))) for metric in METRICS.values()),
    )
    yield Text(
        "Random order's metrics are exact expectations. BM25's are means over twenty random orders of the documents "
        "that it cannot tell apart."
    )


def _cost(rows: Sequence[Row]) -> Block:
    lines = []
    for row in rows:
        done = row.done
        seconds = [cell.seconds for cell in done if cell.seconds is not None]
        memory = [cell.peak_memory_bytes for cell in done if cell.peak_memory_bytes is not None]
        speeds = [training.pairs_per_second for training in row.trainings]
        lines.append(
            Line(
                (
                    Entry(row.label),
                    Entry(
                        f"{mean(seconds):.0f} s",
                        f"{min(seconds):.0f} to {max(seconds):.0f}" if len(seconds) > 1 else "",
                    )
                    if seconds
                    else Entry(NOTHING),
                    Entry(f"{max(memory) / 2**30:.1f} GiB" if memory else NOTHING),
                    Entry(f"{mean(speeds):,.0f}" if speeds else NOTHING),
                    Entry(", ".join(f"{training.best_epoch}" for training in row.trainings) or NOTHING),
                )
            )
        )
    return Table(
        "A whole run each: mean time, most memory held",
        ("Row", "time", "peak memory", "trained pairs per second", "best epoch of each seed"),
        tuple(lines),
    )


def _repeat(experiment: Experiment) -> Iterator[Block]:
    commands = [
        f"clir run cells/{cell.name}/config.yaml --set output=repeated/{cell.name}"
        for cell in experiment.cells
        if cell.status == "done"
    ]
    if commands:
        yield Text("One cell, from the experiment's folder:")
        yield Listing("Commands", "\n".join(commands))
    yield Listing("The experiment file", experiment.file)

"""What each row of an experiment was trained with."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Final

from components.training_report.svg import Picture
from experiments.cell import Cell
from experiments.experiment import Experiment, Row, read_experiment
from experiments.report.claims import claims
from experiments.report.figures import curve_figure, density_figure, loss_figure, similarity_figure, training_figure
from experiments.report.html import as_html
from experiments.report.names import setting_name, value_name
from experiments.report.page import NOTHING, Block, Entry, Line, Link, Listing, Page, Section, Table, Text, as_markdown
from experiments.report.results import results
from experiments.settings import SEED, VARIANT
from models.evaluation.metrics import METRICS
from pipeline.layout import FIGURES, HTML_FILE, MARKDOWN_FILE
from pipeline.output_folder import OutputFolder
from schemas.stability import Stability, Theorem3

_CONDITION_SETTINGS: Final = (
    *("preset", "loss.name", "model.encoder", "model.similarity", "model.epsilon", "model.embedding_dim"),
    *("lexicon.kind", "training.learning_rate"),
)
"""Conditions that are settings."""
_OTHERS: Final[Mapping[str, Callable[[Cell], Any]]] = {
    "thresholds": lambda cell: cell.thresholds and [float(f"{one:.3g}") for one in cell.thresholds],
    "initial vectors": lambda cell: _vectors(cell),
    "epochs": lambda cell: len(cell.training.history) if cell.training else None,
    "NR documents": lambda cell: cell.setting("data.used_negatives") or cell.setting("data.negatives"),
    "train pairs": lambda cell: f"{cell.training.train_pairs:,}" if cell.training else None,
    "test queries": lambda cell: f"{cell.queries:,}",
}
_NAMED: Final = (
    *("loss.theta", "embeddings.query", "embeddings.document", "embeddings.train", "training.epochs"),
    *("data.used_negatives", "data.negatives"),
)
"""The settings behind those."""
_NO_CONDITIONS: Final = ("output", SEED)


def conditions(rows: Sequence[Row]) -> Iterator[Block]:
    """A column for each condition, and any other setting, in which the rows differ, and a sentence with the other
    conditions; nothing before a cell is done."""
    done = [row for row in rows if row.done]
    if not done:
        return
    keys = {key for row in done for cell in row.done for key in _keys(cell)}
    more = sorted(keys.difference(_CONDITION_SETTINGS, _NAMED, _NO_CONDITIONS))
    of_settings = {setting_name(key): partial(Cell.setting, key=key) for key in (*_CONDITION_SETTINGS, *more)}
    of_cells: dict[str, Callable[[Cell], Any]] = {**of_settings, **_OTHERS}
    values = {name: [_values(row, of_cell) for row in done] for name, of_cell in of_cells.items()}
    differing = [name for name, of_rows in values.items() if len({*of_rows}) > 1]
    if differing:
        lines = (
            Line((Entry(row.label), *(Entry(values[name][place]) for name in differing)))
            for place, row in enumerate(done)
        )
        yield Table("What the rows were trained with, where they differ", ("Row", *differing), tuple(lines))
    named = (*map(setting_name, _CONDITION_SETTINGS), *_OTHERS)
    shared = "; ".join(f"{name}: {values[name][0]}" for name in named if name not in differing)
    if shared:
        yield Text(f"{'All rows have' if len(done) > 1 else f'{done[0].label} has'} {shared}.")


def _keys(cell: Cell) -> Iterator[str]:
    """The dotted settings of a cell's configuration."""
    for section, content in cell.config.items():
        yield from (f"{section}.{name}" for name in content) if isinstance(content, Mapping) else (section,)


def _values(row: Row, of_cell: Callable[[Cell], Any]) -> str:
    """A condition of a row's finished cells; more than one value where the seeds differ in it."""
    values = (of_cell(cell) for cell in row.done)
    return " or ".join(dict.fromkeys(NOTHING if value is None else value_name(value) for value in values))


def _vectors(cell: Cell) -> str:
    given = [side for side in ("query", "document") if cell.setting(f"embeddings.{side}")]
    trained = "trained further" if cell.setting("embeddings.train") else "frozen"
    return f"pre-trained ({' and '.join(given)}; {trained})" if given else "random"


_STABILITY_COLUMNS: Final[Mapping[str, Callable[[Stability], float | None]]] = {
    "bound (smooth cosine: 1/ε)": lambda seed: seed.gradient_bound,
    "the paper's bound 2/ε": lambda seed: seed.paper_gradient_bound,
    "largest gradient seen": lambda seed: seed.largest_score_gradient,
    "plain cosine's, same vectors": lambda seed: seed.largest_score_gradient_plain_cosine,
    "clipped share of steps": lambda seed: seed.clipped_share,
    "loss: Lipschitz constant": lambda seed: seed.loss_lipschitz,
    "loss: smoothness": lambda seed: seed.loss_smoothness,
    "largest reachable score": lambda seed: seed.largest_score,
    "Theorem 3's bound": lambda seed: seed.theorem_3.bound if seed.theorem_3 else None,
}
"""The table's columns: None where there is no such thing."""


def stability(rows: Sequence[Row]) -> Section:
    """The stability of every row that has a report of it."""
    reports = {row.label: [cell.stability for cell in row.done if cell.stability] for row in rows}
    reports = {label: seeds for label, seeds in reports.items() if seeds}
    if not reports:
        return Section("stability", "Stability", (Text("No finished cell has a stability report."),))
    table = Table(
        "Largest values over the seeds. Gradients: norms of a score's gradient in either vector.",
        ("Row", *_STABILITY_COLUMNS),
        tuple(
            Line((Entry(label), *(Entry(_largest(map(value, seeds))) for value in _STABILITY_COLUMNS.values())))
            for label, seeds in reports.items()
        ),
    )
    return Section("stability", "Stability", (table, *_sentences(reports)))


def _largest(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):.4g}" if known else NOTHING


def _sentences(reports: Mapping[str, Sequence[Stability]]) -> Iterator[Block]:
    """What rows cannot reach, and what Theorem 3 says: each sentence once, with the rows that it holds for."""
    labels: dict[str, list[str]] = {}
    for label, seeds in reports.items():
        warnings = [f"Warning: {sentence}." for seed in seeds for sentence in seed.unreachable]
        theorems = [f"Theorem 3, first seed. {theorem.sentence}" for theorem in _theorems(seeds)[:1]]
        for sentence in dict.fromkeys([*warnings, *theorems]):
            labels.setdefault(sentence, []).append(label)
    for sentence, found in labels.items():
        yield Text(f"{'; '.join(found)}. {sentence}")
    every_theorem = [theorem for seeds in reports.values() for theorem in _theorems(seeds)]
    for caveat in dict.fromkeys(theorem.caveat for theorem in every_theorem):
        yield Text(caveat)


def _theorems(seeds: Sequence[Stability]) -> list[Theorem3]:
    return [seed.theorem_3 for seed in seeds if seed.theorem_3]


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


_PROJECT: Final = Path(__file__).parents[2]


def write_report(folder: Path) -> None:
    """Writes report.html, report.md and the pictures of the latter: the same bytes for the same experiment.

    Args:
      folder: of an experiment, finished or not.

    Raises:
      DataError: it is none, or files of a finished cell are missing, damaged, or do not belong together.
    """
    page = make_page(read_experiment(folder), _differences(folder))
    output = OutputFolder(folder, "experiment")
    pictures = {
        f"{FIGURES}/{block.name}.svg": block.file
        for section in page.sections
        for block in section.blocks
        if isinstance(block, Picture)
    }
    for name, text in {**pictures, MARKDOWN_FILE: as_markdown(page), HTML_FILE: as_html(page)}.items():
        output.write(name, text)
    output.remove(name for name in output.files - pictures.keys() if name.startswith(f"{FIGURES}/"))


def _differences(folder: Path) -> str | None:
    """The address of the page on where we depart from the paper, in a report that lies beside it in the project."""
    folder, page = folder.resolve(), _PROJECT / DIFFERENCES
    return os.path.relpath(page, folder) if folder.is_relative_to(_PROJECT) and page.is_file() else None

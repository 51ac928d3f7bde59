"""Writes the report of an experiment as a Markdown file, from a summary to the commands that repeat it."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Final
from urllib.parse import quote

from components.training_report.svg import Picture
from models.evaluation.metrics import METRICS
from pipeline.layout import CELLS_ARCHIVE, EXPERIMENT_FILE, FIGURES, REPORT_FILE
from pipeline.output_folder import OutputFolder
from pipeline.renamed_settings import renamed_in
from schemas.errors import DataError
from schemas.provenance import PROVENANCE_FILE
from schemas.stability import Stability, Theorem3
from smooth_clir.experiments.cell import RUN_AGAIN, Cell
from smooth_clir.experiments.experiment import Experiment, Row, read_experiment
from smooth_clir.experiments.report.archive import archive
from smooth_clir.experiments.report.claims import comparisons, judge
from smooth_clir.experiments.report.figures import (
    curve_figure,
    density_figure,
    loss_figure,
    similarity_figure,
    training_figure,
)
from smooth_clir.experiments.report.markdown import NOTHING, Entry, listing, paragraph, picture, table
from smooth_clir.experiments.report.names import setting_name, value_name
from smooth_clir.experiments.report.results import results
from smooth_clir.experiments.report.summary import SUMMARY, summary, summary_figure
from smooth_clir.experiments.settings import SEED, VARIANT

DIFFERENCES: Final = "docs/differences.md"
"""The page on differences from the paper."""

_PROJECT: Final = Path(__file__).parents[3]


def write_report(folder: Path) -> None:
    """Writes `REPORT_FILE`, its pictures, its cells and their provenance: the same bytes for the same experiment.

    Args:
      folder: the folder of an experiment, finished or not.

    Raises:
      DataError: the folder is not an experiment's, or was written by an earlier version, or files of a finished cell
        are missing, damaged or of different runs.
    """
    experiment = read_experiment(folder)
    if former := [".".join(keys) for cell in experiment.cells for keys, _ in renamed_in(cell.config)]:
        raise DataError(f"{folder} has settings of an earlier version, such as {former[0]}; {RUN_AGAIN}.")
    pictures = report_pictures(experiment.rows)
    text = report_text(experiment, pictures, _address_of_differences(folder))
    files: dict[str, str | bytes] = {f"{FIGURES}/{picture.name}.svg": picture.file for picture in pictures}
    files |= {REPORT_FILE: text, CELLS_ARCHIVE: archive(experiment)}
    if experiment.provenance:
        files[PROVENANCE_FILE] = experiment.provenance.to_json()
    output = OutputFolder(folder, "experiment")
    for name, content in files.items():
        output.write(name, content)
    output.remove(output.files - {*files, EXPERIMENT_FILE})


def _address_of_differences(folder: Path) -> str | None:
    """Returns the address of `DIFFERENCES` for a report within the project; None elsewhere."""
    folder, page = folder.resolve(), _PROJECT / DIFFERENCES
    return os.path.relpath(page, folder) if folder.is_relative_to(_PROJECT) and page.is_file() else None


def report_pictures(rows: Sequence[Row]) -> list[Picture]:
    """Returns the pictures that have results: the summary's, the paper's in its order, and the trainings'."""
    pictures = [
        summary_figure(rows),
        similarity_figure(rows),
        loss_figure(rows),
        density_figure(rows),
        curve_figure(rows, 4, "channels.towers.epsilon", "ε", "ε = 0 is the plain cosine."),
        curve_figure(rows, 5, "data.used_negatives", "NR documents of a query", "More of them make a harder task."),
        training_figure(rows),
    ]
    return [shown for shown in pictures if shown]


def report_text(experiment: Experiment, pictures: Sequence[Picture] = (), differences: str | None = None) -> str:
    """Returns the whole report.

    Args:
      experiment: the experiment, finished or not.
      pictures: the pictures of its results.
      differences: the address of `DIFFERENCES`; None names the page without a link.
    """
    rows = experiment.rows
    judged = judge(experiment)
    sections: dict[str, Iterable[str]] = {
        "Summary": [*summary(experiment, judged), *(picture(shown) for shown in pictures if shown.name == SUMMARY)],
        "What was run": [*_grid_and_cells(experiment), *conditions(rows), _departures(differences)],
        "Verdicts": comparisons(judged),
        "Results": results(experiment),
        "The metrics": _definitions(),
        "Figures": (picture(shown) for shown in pictures if shown.name != SUMMARY),
        "Stability": stability(rows),
        "Time and memory": [_cost(rows)],
        "To repeat it": _repeat(experiment),
    }
    parts = [f"# {paragraph(experiment.title)}"]
    for title, blocks in sections.items():
        if shown := [*blocks]:
            parts += [f"## {title}", *shown]
    return "\n\n".join(parts) + "\n"


def _grid_and_cells(experiment: Experiment) -> Iterator[str]:
    grid = "; ".join(
        # The rows of the results name the variants.
        f"{len(values)} variants"
        if key == VARIANT
        else f"{setting_name(key)}: {', '.join(value_name(value, key) for value in values)}"
        for key, values in experiment.grid.items()
    )
    counts = Counter(cell.status for cell in experiment.cells)
    states = ", ".join(f"{counts[status]} {status}" for status in ("done", "failed", "waiting") if counts[status])
    yield paragraph(f"Collection: {experiment.collection}.")
    yield paragraph(f"Every combination of {grid}." if grid else "One cell.")
    yield paragraph(f"{len(experiment.cells)} cells: {states}.")
    if experiment.provenance:
        libraries = "; ".join(f"{name} {version}" for name, version in experiment.provenance.libraries.items())
        yield paragraph(f"Measured with {experiment.provenance.commit_text()}; {libraries}.")
    if unfinished := [cell for cell in experiment.cells if cell.status != "done"]:
        lines = ((cell.name, cell.status, cell.reason or NOTHING) for cell in unfinished)
        yield table("Cells that have not finished", ("Cell", "status", "reason"), lines)


def _departures(differences: str | None) -> str:
    text = "Where the system that is trained here departs from the paper, why, and what that changes:"
    page = f"[differences from the paper](<{quote(differences)}>)" if differences else f"{DIFFERENCES} of this software"
    return f"{paragraph(text)} {page}."


_CONDITIONS: Final = (
    *("preset", "loss.kind", "channels.towers.encoder.kind", "channels.towers.similarity", "channels.towers.epsilon"),
    *("channels.towers.embedding_dim", "channels.lexicon.kind", "training.learning_rate"),
)
"""Conditions that are settings."""
_DERIVED: Final[Mapping[str, Callable[[Cell], Any]]] = {
    "thresholds": lambda cell: cell.thresholds and [float(f"{threshold:.3g}") for threshold in cell.thresholds],
    "initial vectors": lambda cell: _vectors(cell),
    "epochs": lambda cell: len(cell.training.history) if cell.training else None,
    "NR documents": lambda cell: _negatives(cell),
    "train pairs": lambda cell: f"{cell.training.train_pairs:,}" if cell.training else None,
    "test queries": lambda cell: f"{cell.queries:,}",
}
"""Conditions that follow from several settings or from the training."""
_NO_COLUMN: Final = (
    *("loss.theta", "embeddings.query", "embeddings.document", "embeddings.train", "training.epochs"),
    *("data.used_negatives", "data.negatives", "evaluation.baselines", "output", SEED),
)
"""Settings that derived conditions show, and settings that are not conditions."""


def _negatives(cell: Cell) -> Any:
    """Returns the number of NR documents of a list, and of a test list if it differs."""
    used, tested = cell.setting("data.used_negatives"), cell.setting("data.test_negatives")
    available = "those of data.candidates" if cell.setting("data.candidates") else cell.setting("data.negatives")
    usual = used or available
    return f"{usual}, of a test query {min(tested, used or tested)}" if tested else usual


def conditions(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the conditions of the rows' trainings: a table of those that differ, and a sentence of the shared ones.

    Every setting in which the rows differ is a column. Yields nothing before a cell is done.
    """
    done = [row for row in rows if row.done]
    if not done:
        return
    keys = {key for row in done for cell in row.done for key in _keys(cell)}
    further = sorted(keys.difference(_CONDITIONS, _NO_COLUMN))
    values = {
        setting_name(key): [_values(row, partial(Cell.setting, key=key), key) for row in done]
        for key in (*_CONDITIONS, *further)
    }
    values |= {name: [_values(row, condition) for row in done] for name, condition in _DERIVED.items()}
    # A setting of only some kinds counts as differing if the rows that have it differ; a kind also differs from none.
    keys_of_rows = [_keys(row.done[0]) for row in done]
    for key in further:
        beside_keys = zip(values[setting_name(key)], keys_of_rows, strict=True)
        if len({value for value, keys in beside_keys if key in keys or key.endswith(".kind")}) < 2:
            values.pop(setting_name(key))
    differing = [name for name, row_values in values.items() if len({*row_values}) > 1]
    if differing:
        lines = ((row.label, *(values[name][number] for name in differing)) for number, row in enumerate(done))
        yield table("Conditions in which the rows differ", ("Row", *differing), lines)
    names = (*map(setting_name, _CONDITIONS), *_DERIVED)
    # Cells without trainings, such as pooled folds, lack the conditions that follow from trainings.
    unknown = [name for name in _DERIVED if {*values[name]} == {NOTHING}]
    if shared := "; ".join(f"{name}: {values[name][0]}" for name in names if name not in (*differing, *unknown)):
        yield paragraph(f"{'All rows have' if len(done) > 1 else f'{done[0].label} has'} {shared}.")


def _keys(cell: Cell) -> set[str]:
    """Returns the dotted settings of a cell's configuration."""

    def below(content: Mapping[str, Any], prefix: str) -> Iterator[str]:
        for name, value in content.items():
            if isinstance(value, Mapping) and (prefix.startswith("channels.") or not prefix):
                yield from below(value, f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}"

    return {*below(cell.config, "")}


def _values(row: Row, condition: Callable[[Cell], Any], setting: str | None = None) -> str:
    """Returns a condition of a row's finished cells; several values if the seeds differ."""
    values = (condition(cell) for cell in row.done)
    return " or ".join(dict.fromkeys(NOTHING if value is None else value_name(value, setting) for value in values))


def _vectors(cell: Cell) -> str:
    sides = [side for side in ("query", "document") if cell.setting(f"embeddings.{side}")]
    trained = "trained further" if cell.setting("embeddings.train") else "frozen"
    return f"pre-trained ({' and '.join(sides)}; {trained})" if sides else "random"


def _definitions() -> Iterator[str]:
    yield paragraph(
        "Each metric is a mean over the queries of the test split. With grades 0 to K, MR is grade K, SR any grade "
        "from 1 to K - 1, and NR grade 0. A metric is the mean over all orders of equal scores; random order is that "
        "of equal scores for all documents. A query without a relevant document scores 0 and counts."
    )
    lines = ((metric.name, metric.definition) for metric in METRICS.values())
    yield table("The columns of the results", ("Metric", "definition"), lines)


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
"""The values of a seed's columns; None where a value does not exist."""


def stability(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the stability of every row that has a stability report; each sentence occurs once, with its rows."""
    reports = {row.label: [cell.stability for cell in row.done if cell.stability] for row in rows}
    reports = {label: seeds for label, seeds in reports.items() if seeds}
    if not reports:
        yield paragraph("No finished cell has a stability report.")
        return
    yield table(
        "Largest values over the seeds. Gradients: norms of a score's gradient in either vector.",
        ("Row", *_STABILITY_COLUMNS),
        (
            (label, *(_largest(map(value, seeds)) for value in _STABILITY_COLUMNS.values()))
            for label, seeds in reports.items()
        ),
    )
    labels: dict[str, list[str]] = {}
    for label, seeds in reports.items():
        warnings = [f"Warning: {sentence}." for seed in seeds for sentence in seed.unreachable]
        theorems = [f"Theorem 3, first seed. {theorem.sentence}" for theorem in _theorems(seeds)[:1]]
        for sentence in dict.fromkeys([*warnings, *theorems]):
            labels.setdefault(sentence, []).append(label)
    for sentence, sentence_labels in labels.items():
        yield paragraph(f"{'; '.join(sentence_labels)}. {sentence}")
    every_theorem = [theorem for seeds in reports.values() for theorem in _theorems(seeds)]
    yield from dict.fromkeys(paragraph(theorem.caveat) for theorem in every_theorem)


def _largest(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{max(known):.4g}" if known else NOTHING


def _theorems(seeds: Sequence[Stability]) -> list[Theorem3]:
    return [seed.theorem_3 for seed in seeds if seed.theorem_3]


def _cost(rows: Sequence[Row]) -> str:
    heads = ("Row", "time", "peak memory", "trained pairs per second", "best epoch of each seed")
    return table("A whole run each: mean time, most memory held", heads, map(_cost_line, rows))


def _cost_line(row: Row) -> Sequence[str | Entry]:
    seconds = [cell.seconds for cell in row.done if cell.seconds is not None]
    memory = [cell.peak_memory_bytes for cell in row.done if cell.peak_memory_bytes is not None]
    speeds = [training.pairs_per_second for training in row.trainings]
    spread = f"{min(seconds):.0f} to {max(seconds):.0f}" if len(seconds) > 1 else ""
    return (
        row.label,
        Entry(f"{mean(seconds):.0f} s", spread) if seconds else NOTHING,
        f"{max(memory) / 2**30:.1f} GiB" if memory else NOTHING,
        f"{mean(speeds):,.0f}" if speeds else NOTHING,
        ", ".join(f"{training.best_epoch}" for training in row.trainings) or NOTHING,
    )


def _repeat(experiment: Experiment) -> Iterator[str]:
    commands = [
        f"clir run cells/{cell.name}/config.yaml --set output=repeated/{cell.name}"
        for cell in experiment.cells
        if cell.status == "done"
    ]
    if commands:
        yield listing("One cell, from the experiment's folder", "\n".join(commands))
    yield listing("The experiment file", experiment.file)

"""Makes the summary at the head of a report: the verdicts, a table and a picture."""

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Final, NamedTuple

from matplotlib.figure import Figure

from components.training_report.svg import COLOURS, Picture, as_is, draw
from models.evaluation.metrics import METRICS
from smooth_clir.experiments.experiment import Experiment, Row
from smooth_clir.experiments.report.claims import Judged, verdicts
from smooth_clir.experiments.report.markdown import NOTHING, Entry, table
from smooth_clir.experiments.report.results import best_means, groups_of, score_text

SUMMARY: Final = "summary"
"""The name of the picture."""
_SHOWN: Final = ("ndcg_5", "p_mr_1")
_ROWS, _BASELINES, *_ = COLOURS
_LONGEST_LABEL: Final = 60


def summary(experiment: Experiment, judged: Sequence[Judged]) -> Iterator[str]:
    """Yields the verdicts on the claims, and two metrics of every row once a cell is done."""
    yield from verdicts(judged)
    if any(row.done for row in experiment.rows):
        heads = ("Row", *(METRICS[metric].name for metric in _SHOWN))
        yield table(
            "Test split, means over the seeds; the best row of the same data is bold", heads, _lines(experiment)
        )


def _lines(experiment: Experiment) -> Iterator[Sequence[str | Entry]]:
    for group in groups_of(experiment.rows):
        best = best_means(group.rows)
        for row in group.rows:
            means = {metric: score_text(row.mean(metric)) if row.done else NOTHING for metric in _SHOWN}
            is_best = {metric: metric in best and means[metric] == score_text(best[metric]) for metric in _SHOWN}
            yield (row.label, *(Entry(means[metric], is_best=is_best[metric]) for metric in _SHOWN))
        for label, metrics in group.baselines.items():
            yield (label, *(score_text(metrics[metric]) for metric in _SHOWN))


class _Line(NamedTuple):
    """A line of the picture; a baseline has one value."""

    label: str
    values: Sequence[float]
    is_baseline: bool


def summary_figure(rows: Sequence[Row]) -> Picture | None:
    """Draws NDCG@5 of every row and baseline, in the order of the tables; None before a row has finished."""
    lines = [*_picture_lines(rows)]
    if not lines:
        return None
    metric = METRICS[_SHOWN[0]]

    def paint(figure: Figure) -> None:
        panel = figure.subplots()
        for height, line in enumerate(lines):
            colour = _BASELINES if line.is_baseline else _ROWS
            panel.plot([min(line.values), max(line.values)], [height, height], color=colour, linewidth=4, alpha=0.4)
            panel.plot([mean(line.values)], [height], color=colour, marker="D" if line.is_baseline else "o")
            text = score_text(mean(line.values))
            panel.text(1.01, height, text, transform=panel.get_yaxis_transform(), verticalalignment="center")
        panel.set_yticks(range(len(lines)), [as_is(_short(line.label)) for line in lines])
        panel.set_ylim(len(lines) - 0.5, -0.5)
        panel.set_xlabel(metric.name)
        panel.grid(axis="y", visible=False)

    return draw(
        SUMMARY,
        f"{metric.name} of every row",
        "Test split. A circle is the mean over a row's seeds, the line their range; a diamond is a baseline. "
        "The axis does not start at 0.",
        (12, 1 + 0.3 * len(lines)),
        paint,
    )


def _picture_lines(rows: Sequence[Row]) -> Iterator[_Line]:
    for group in groups_of(rows):
        for row in group.rows:
            if row.done:
                yield _Line(row.label, [cell.metrics[_SHOWN[0]] for cell in row.done], is_baseline=False)
        for label, metrics in group.baselines.items():
            yield _Line(label, [metrics[_SHOWN[0]]], is_baseline=True)


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"

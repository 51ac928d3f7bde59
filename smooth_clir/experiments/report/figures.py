"""The figures of a report: the paper's, and the course of the trainings."""

from collections.abc import Sequence
from math import ceil
from textwrap import fill
from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from components.training_report.svg import Picture, as_is, draw, line_style, share_legend
from models.evaluation.metrics import METRICS
from models.layers.smooth_cosine import SmoothCosine
from models.losses.ranking_loss import PointwiseLoss
from models.losses.settings import LossSettings
from models.objectives.objective import make_loss
from schemas.relevance import grade_name
from schemas.training_history import ScoreCounts
from smooth_clir.experiments.experiment import Row
from smooth_clir.experiments.report.names import settings_label, value_name

EPSILONS: Final = (0.05, 0.2, 0.5, 1.0)
_SIMILARITY_SETTINGS: Final = ("channels.towers.similarity", "channels.towers.epsilon")
_PLANE_LIMIT: Final = 2.0
_PLANE_CELLS: Final = 101
_SCORES: Final = np.linspace(-1, 1, 201, dtype=np.float32)
_COLUMNS: Final = 4
_PANELS: Final = {"train/loss": "train split: loss", "eval/ndcg_5": "eval split: NDCG@5"}


def score_derivative(
    epsilon: float, x1: npt.NDArray[np.float32], x2: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """The derivative in x1 of the smooth cosine of (x1, x2) and (1, 1): float [...] of the arguments' shape."""
    vectors = tf.constant(np.stack([x1, x2], axis=-1).reshape(-1, 1, 2))
    with tf.GradientTape() as tape:
        tape.watch(vectors)
        scores = SmoothCosine(epsilon)(tf.ones([len(vectors), 2]), vectors)
    derivative: npt.NDArray[np.float32] = tape.gradient(scores, vectors).numpy()[:, 0, 0].reshape(x1.shape)
    return derivative


def similarity_figure(rows: Sequence[Row]) -> Picture | None:
    """The paper's Figure 1: heat maps of the derivative, one for each epsilon, on one scale.

    Returns:
      None where the experiment varies neither similarity nor epsilon: the picture is the same in every report.
    """
    if not any(key in row.settings for row in rows for key in _SIMILARITY_SETTINGS):
        return None
    axis = np.linspace(-_PLANE_LIMIT, _PLANE_LIMIT, _PLANE_CELLS, dtype=np.float32)
    x1, x2 = np.meshgrid(axis, axis)
    maps = {epsilon: score_derivative(epsilon, x1, x2) for epsilon in EPSILONS}
    highest = max(np.abs(values).max() for values in maps.values())

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(maps), sharex=True, sharey=True)
        for panel, (epsilon, values) in zip(panels, maps.items(), strict=True):
            mesh = panel.pcolormesh(
                x1, x2, values, cmap="RdBu_r", norm=SymLogNorm(0.1, vmin=-highest, vmax=highest), rasterized=True
            )
            panel.set(title=f"ε = {epsilon:g}, largest {np.abs(values).max():.2f}", xlabel="x₁", aspect="equal")
            panel.grid(False)
        panels[0].set_ylabel("x₂")
        bar = figure.colorbar(mesh, ax=panels, shrink=0.7, ticks=[-10, -1, -0.1, 0, 0.1, 1, 10], format="%g")
        bar.set_label("∂r / ∂x₁")

    return draw(
        "figure-1",
        "Figure 1. The derivative in x₁ of the smooth cosine r of (x₁, x₂) and (1, 1), for four values of ε",
        "By automatic differentiation of the layer that the models use. The colour scale is linear within 0.1 of zero "
        "and logarithmic beyond. The smaller ε, the steeper the score of short vectors; at ε = 0 nothing bounds it.",
        (12, 3.6),
        paint,
    )


def loss_figure(rows: Sequence[Row]) -> Picture | None:
    """The paper's Figure 2: the losses that the rows were trained with, a panel for each grade.

    Returns:
      None where no finished row has a loss of single documents: a loss of whole lists has no such curve.
    """
    losses = {}
    for row in rows:
        for cell in row.done[:1]:
            theta = {"theta": cell.thresholds} if cell.thresholds else {}
            settings = LossSettings.model_validate({"kind": cell.setting("loss.kind"), **theta})
            top_grade = cell.setting("data.top_grade")
            loss = make_loss(settings, top_grade)
            if isinstance(loss, PointwiseLoss):
                shown = ", ".join(f"{threshold:.2g}" for threshold in loss.theta)
                losses[f"{value_name(settings.kind, 'loss.kind')}, θ = ({shown})"] = loss
                grades = top_grade + 1
    if not losses:
        return None

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, grades, sharey=True)
        for grade, panel in enumerate(panels):
            for number, loss in enumerate(losses.values()):
                # Lists of one document: the mean over a list is the document's loss.
                values = loss(tf.fill([len(_SCORES), 1], float(grade)), _SCORES[:, None]).numpy()
                panel.plot(_SCORES, values, **{**line_style(number), "markevery": (number * 5, 40)})
            panel.set(title=grade_name(grade, grades - 1), xlabel="score")
        panels[0].set_ylabel("loss")
        share_legend(figure, panels[0], [*losses])

    return draw(
        "figure-2",
        "Figure 2. The losses over a document's score, for each grade",
        "Computed by the losses that the models were trained with. Where thresholds are learned, they are those of the "
        "row's first finished seed.",
        (12, 3.8),
        paint,
    )


def density_figure(rows: Sequence[Row]) -> Picture | None:
    """The paper's Figure 3: two panels for each row, score densities of the train split above those of the eval split.

    The scores are those of the best epoch's weights, summed over the seeds.

    Returns:
      None where no row has finished.
    """
    rows = [row for row in rows if row.done]
    if not rows:
        return None
    splits = {
        "train": [[training.train_scores for training in row.trainings if training.train_scores] for row in rows],
        "eval": [[training.best.scores for training in row.trainings] for row in rows],
    }
    columns = min(_COLUMNS, len(rows))
    height = len(splits) * ceil(len(rows) / columns)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(height, columns, squeeze=False)
        for panel in panels.flat:
            panel.set_axis_off()
        for line, (split, row_scores) in enumerate(splits.items()):
            for number, (row, scores) in enumerate(zip(rows, row_scores, strict=True)):
                if scores:
                    panel = panels[len(splits) * (number // columns) + line, number % columns]
                    _paint_densities(panel, scores, as_is(f"{fill(row.label, 32)}\n{split} split"))
        grades = splits["eval"][0][0].counts
        labels = [grade_name(int(grade), len(grades) - 1) for grade in grades]
        share_legend(figure, panels[len(splits) - 1, 0], labels)

    return draw(
        "figure-3",
        "Figure 3. The density of each grade's scores, for each row",
        "Above the train split, as in the paper, below it the eval split; with the weights of each seed's best epoch, "
        "summed over the seeds; 40 bins. The less the grades overlap, the better the scores separate them. Where words "
        "that match are a channel of the score, the train split has the vectors' scores alone.",
        (max(3.0 * columns, 6), 2.5 * height + 0.5),
        paint,
    )


def _paint_densities(panel: Axes, scores: Sequence[ScoreCounts], title: str) -> None:
    """The densities of a row's scores on one split, of all its seeds."""
    limit = max(counts.limit for counts in scores)
    bins = len(scores[0].counts["0"])
    edges = np.linspace(-limit, limit, bins + 1)
    centres = (edges[:-1] + edges[1:]) / 2
    for grade in scores[0].counts:
        total = np.zeros(bins)
        for counts in scores:
            total += np.histogram(centres * counts.limit / limit, edges, weights=counts.counts[grade])[0]
        density = total / max(total.sum(), 1) / (2 * limit / bins)
        style = line_style(int(grade))
        panel.plot(centres, density, **{**style, "marker": ""})
        panel.fill_between(centres, density, facecolor=style["color"], alpha=0.15, edgecolor="none")
    panel.set_axis_on()
    panel.set(title=title, xlabel="score", xticks=[-limit, 0, limit], yticks=[])


def curve_figure(rows: Sequence[Row], number: int, key: str, axis: str, caption: str) -> Picture | None:
    """The paper's Figures 4 and 5: a panel for each metric, a line for each combination of the other settings.

    Args:
      rows: of the experiment.
      number: the figure's, in the paper.
      key: the setting along the axis.
      axis: the label of the axis.
      caption: a sentence on the setting.

    Returns:
      None where fewer than two of the setting's values have finished rows.
    """
    series: dict[str, list[Row]] = {}
    for row in rows:
        if row.done and row.settings.get(key) is not None:
            label = settings_label({name: value for name, value in row.settings.items() if name != key})
            series.setdefault(label, []).append(row)
    if len({row.settings[key] for points in series.values() for row in points}) < 2:
        return None

    lines = -(-len(METRICS) // _COLUMNS)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(lines, _COLUMNS).ravel()
        for panel, metric in zip(panels, METRICS.values(), strict=False):
            for number, points in enumerate(series.values()):
                _paint_curve(panel, points, key, metric.key, number)
            panel.set(title=metric.name, xlabel=as_is(axis))
        for panel in panels[len(METRICS) :]:
            panel.set_axis_off()
        if len(series) > 1:
            share_legend(figure, panels[0], [*series])

    return draw(
        f"figure-{number}",
        f"Figure {number}. The metrics over {axis}",
        f"{caption} Test split; the line is the mean over the seeds, the band their range. No panel's "
        "axis starts at 0.",
        (12, 2.7 * lines),
        paint,
    )


def _paint_curve(panel: Axes, points: Sequence[Row], key: str, metric: str, number: int) -> None:
    points = sorted(points, key=lambda row: row.settings[key])
    x = [row.settings[key] for row in points]
    values = [[cell.metrics[metric] for cell in row.done] for row in points]
    style = line_style(number)
    panel.plot(x, [np.mean(seeds) for seeds in values], **style)
    panel.fill_between(
        x, [*map(min, values)], [*map(max, values)], facecolor=style["color"], alpha=0.2, edgecolor="none"
    )


def training_figure(rows: Sequence[Row]) -> Picture | None:
    """A panel for the loss on the train split and one for NDCG@5 on the eval split, a line for each row.

    Returns:
      None where no finished row was trained for two epochs.
    """
    trained = [row for row in rows if any(len(training.history) > 1 for training in row.trainings)]
    if not trained:
        return None

    def paint(figure: Figure) -> None:
        panels = figure.subplots(1, len(_PANELS))
        for panel, (key, title) in zip(panels, _PANELS.items(), strict=True):
            for number, row in enumerate(trained):
                _paint_training(panel, row, key, number)
            panel.set(title=title, xlabel="epoch")
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panels[0].set_yscale("log")  # losses differ in their scale
        panels[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panels[0].yaxis.set_major_formatter("{x:g}")
        panels[0].yaxis.set_minor_formatter(NullFormatter())
        if len(trained) > 1:
            share_legend(figure, panels[0], [row.label for row in trained])

    return draw(
        "training",
        "The course of the trainings",
        "The line is the mean over the seeds, the band their range, up to the last epoch that all seeds have. The axis "
        "of the loss is logarithmic; that of NDCG@5 does not start at 0.",
        (12, 3 + 0.125 * len(trained)),  # the legend has a line for two rows
        paint,
    )


def _paint_training(panel: Axes, row: Row, key: str, number: int) -> None:
    epochs = min(len(training.history) for training in row.trainings)
    values = np.array(
        [[epoch.figures.get(key, np.nan) for epoch in training.history[:epochs]] for training in row.trainings]
    )
    style = {**line_style(number), "marker": ""}
    x = np.arange(1, epochs + 1)
    panel.plot(x, values.mean(axis=0), **style)
    panel.fill_between(x, values.min(axis=0), values.max(axis=0), facecolor=style["color"], alpha=0.2, edgecolor="none")

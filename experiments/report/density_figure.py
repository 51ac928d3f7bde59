"""The paper's Figure 3: densities of the scores of each grade."""

from collections.abc import Sequence
from math import ceil
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from components.training_report.svg import Picture, draw, line_style, share_legend
from experiments.experiment import Row
from schemas.grade_names import grade_name

_COLUMNS = 4


def density_figure(rows: Sequence[Row]) -> Picture | None:
    """A panel for each row: score densities at the best epoch on the eval split, summed over the seeds.

    Returns:
      None where no row has finished.
    """
    rows = [row for row in rows if row.done]
    if not rows:
        return None
    columns = min(_COLUMNS, len(rows))
    height = ceil(len(rows) / columns)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(height, columns, squeeze=False).ravel()
        for panel, row in zip(panels, rows, strict=False):
            _paint_row(panel, row)
        for panel in panels[len(rows) :]:
            panel.set_axis_off()
        share_legend(figure, panels[0])

    return draw(
        "figure-3",
        "Figure 3. The density of each grade's scores, for each row",
        "Eval split, at each seed's best epoch, summed over the seeds; 40 bins. The less the grades overlap, the "
        "better the scores tell them apart. (The paper shows the train split.)",
        (max(3.0 * columns, 6), 2.5 * height + 0.5),
        paint,
    )


def _paint_row(panel: Axes, row: Row) -> None:
    scores = [training.best.scores for training in row.trainings]
    limit = max(one.limit for one in scores)
    bins = len(scores[0].counts["0"])
    edges = np.linspace(-limit, limit, bins + 1)
    centres = (edges[:-1] + edges[1:]) / 2
    for grade in scores[0].counts:
        counts = np.zeros(bins)
        for one in scores:
            counts += np.histogram(centres * one.limit / limit, edges, weights=one.counts[grade])[0]
        density = counts / max(counts.sum(), 1) / (2 * limit / bins)
        style = line_style(int(grade))
        panel.plot(
            centres,
            density,
            label=grade_name(int(grade), len(scores[0].counts) - 1),
            **{**style, "marker": ""},
        )
        panel.fill_between(centres, density, color=style["color"], alpha=0.15, linewidth=0)
    panel.set(title=fill(row.label, 32), xlabel="score", xticks=[-limit, 0, limit], yticks=[])

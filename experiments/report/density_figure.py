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
from schemas.training_history import ScoreCounts

_COLUMNS = 4


def density_figure(rows: Sequence[Row]) -> Picture | None:
    """Two panels for each row, one above the other: score densities of the train split, which the paper shows, and of
    the eval split, with the best epoch's weights, summed over the seeds.

    Returns:
      None where no row has finished.
    """
    rows = [row for row in rows if row.done]
    if not rows:
        return None
    splits = {"train": [[one.train_scores for one in row.trainings if one.train_scores] for row in rows]}
    if not any(splits["train"]):  # of earlier versions
        splits = {}
    splits["eval"] = [[one.best.scores for one in row.trainings] for row in rows]
    columns = min(_COLUMNS, len(rows))
    height = len(splits) * ceil(len(rows) / columns)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(height, columns, squeeze=False)
        for panel in panels.flat:
            panel.set_axis_off()
        for line, (split, of_rows) in enumerate(splits.items()):
            for place, (row, scores) in enumerate(zip(rows, of_rows, strict=True)):
                if scores:
                    panel = panels[len(splits) * (place // columns) + line, place % columns]
                    _paint(panel, scores, f"{fill(row.label, 32)}\n{split} split")
        share_legend(figure, panels[len(splits) - 1, 0])

    which, of_sums = "Eval split", ""
    if "train" in splits:
        which = "Above the train split, as in the paper, below it the eval split"
        of_sums = " Where words that match are a channel of the score, the train split has the vectors' scores alone."
    return draw(
        "figure-3",
        "Figure 3. The density of each grade's scores, for each row",
        f"{which}; with the weights of each seed's best epoch, summed over the seeds; 40 bins. The less the grades "
        f"overlap, the better the scores tell them apart.{of_sums}",
        (max(3.0 * columns, 6), 2.5 * height + 0.5),
        paint,
    )


def _paint(panel: Axes, scores: Sequence[ScoreCounts], title: str) -> None:
    """The densities of a row's scores on one split, of all its seeds."""
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
    panel.set_axis_on()
    panel.set(title=title, xlabel="score", xticks=[-limit, 0, limit], yticks=[])

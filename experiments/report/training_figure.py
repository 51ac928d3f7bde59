"""The course of the trainings: loss and eval metric, epoch by epoch."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from components.training_report.svg import Picture, draw, line_style, share_legend
from experiments.experiment import Row

_PANELS = {"train/loss": "train split: loss", "eval/ndcg_5": "eval split: NDCG@5"}


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
            for place, row in enumerate(trained):
                _paint_line(panel, row, key, place)
            panel.set(title=title, xlabel="epoch")
        panels[0].set_yscale("log")  # losses differ in their scale
        if len(trained) > 1:
            share_legend(figure, panels[0])

    return draw(
        "training",
        "The course of the trainings",
        "The line is the mean over the seeds, the band their range, up to the last epoch that all seeds have. The axis "
        "of the loss is logarithmic; that of NDCG@5 does not start at 0.",
        (12, 3 + 0.125 * len(trained)),  # the legend has a line for two rows
        paint,
    )


def _paint_line(panel: Axes, row: Row, key: str, place: int) -> None:
    epochs = min(len(training.history) for training in row.trainings)
    values = np.array(
        [[epoch.figures.get(key, np.nan) for epoch in training.history[:epochs]] for training in row.trainings]
    )
    style = {**line_style(place), "marker": ""}
    x = np.arange(1, epochs + 1)
    panel.plot(x, values.mean(axis=0), label=row.label, **style)
    panel.fill_between(x, values.min(axis=0), values.max(axis=0), color=style["color"], alpha=0.2, linewidth=0)

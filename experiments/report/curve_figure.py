"""The paper's Figures 4 and 5: the metrics over a setting."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from components.training_report.svg import Picture, draw, line_style, share_legend
from experiments.experiment import Row
from experiments.report.names import settings_label
from models.evaluation.metrics import METRICS

_COLUMNS = 4


def curve_figure(rows: Sequence[Row], number: int, key: str, axis: str, caption: str) -> Picture | None:
    """A panel for each metric, a line for each combination of the other settings.

    Args:
      rows: of the experiment.
      number: the figure's, in the paper.
      key: the setting along the axis.
      axis: what the axis is called.
      caption: what to know of the setting.

    Returns:
      None where fewer than two of the setting's values have finished rows.
    """
    series: dict[str, list[Row]] = {}
    for row in rows:
        if row.done and row.settings.get(key) is not None:
            label = settings_label({other: value for other, value in row.settings.items() if other != key})
            series.setdefault(label, []).append(row)
    if len({row.settings[key] for points in series.values() for row in points}) < 2:
        return None

    lines = -(-len(METRICS) // _COLUMNS)

    def paint(figure: Figure) -> None:
        panels = figure.subplots(lines, _COLUMNS).ravel()
        for panel, metric in zip(panels, METRICS.values(), strict=False):
            for place, (label, points) in enumerate(series.items()):
                _paint_line(panel, points, key, metric.key, label, place)
            panel.set(title=metric.name, xlabel=axis)
        for panel in panels[len(METRICS) :]:
            panel.set_axis_off()
        if len(series) > 1:
            share_legend(figure, panels[0])

    return draw(
        f"figure-{number}",
        f"Figure {number}. The metrics over {axis}",
        f"{caption} Test split; the line is the mean over the seeds, the band their range. No panel's "
        "axis starts at 0.",
        (12, 2.7 * lines),
        paint,
    )


def _paint_line(panel: Axes, points: Sequence[Row], key: str, metric: str, label: str, place: int) -> None:
    points = sorted(points, key=lambda row: row.settings[key])
    x = [row.settings[key] for row in points]
    values = [[cell.metrics[metric] for cell in row.done] for row in points]
    style = line_style(place)
    panel.plot(x, [np.mean(one) for one in values], label=label, **style)
    panel.fill_between(
        x, [min(one) for one in values], [max(one) for one in values], color=style["color"], alpha=0.2, linewidth=0
    )

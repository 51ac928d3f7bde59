"""Draws docs/images/results.svg, the picture of docs/results.md, from the reports of its systems.

.venv/bin/python -m tools.results_picture
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from components.training_report.svg import draw, line_style, share_legend
from pipeline.layout import REPORT_FILE
from smooth_clir.experiments.stale import REPORTS
from tools.page_tables import ROOT, reports_of, system_figures

PICTURE: Final = ROOT / "docs" / "images" / "results.svg"

_Panel = Mapping[str, Mapping[str, float]]
"""NDCG@5 by collection and system."""
_SYSTEMS: Final = {
    "BM25": "BM25",
    "RM3, machine translation": "machine translation, RM3",
    "E5": "E5 alone",
    "lexicon": "lexicon alone",
    "best": "**`best`**",
    "taught": "**taught**",
    "taught, with E5": "**taught, with E5**",
}
"""The systems of the picture to those of the tables."""
_PANELS: Final = {
    "systems_": "Test documents that training has seen",
    "systems_unseen_": "Test documents that training has not seen",
}
"""The prefixes of the reports to the titles of their panels."""


def results_picture() -> str:
    """The picture as an SVG file's text: a panel for each kind of published reports."""
    panels = {title: panel for prefix, title in _PANELS.items() if (panel := _panel(prefix))}

    def paint(figure: Figure) -> None:
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False, width_ratios=[*map(len, panels.values())])[0]
        for panel_axes, (title, panel) in zip(axes, panels.items(), strict=True):
            _paint(panel_axes, panel, title)
        axes[0].set_ylabel("NDCG@5")
        share_legend(figure, axes[0], tuple(_SYSTEMS))

    return draw("results", "NDCG@5 of rivals and of our systems", "", (11, 4.2), paint).file


def _panel(prefix: str) -> _Panel:
    """NDCG@5 of the systems in the reports with a prefix."""
    figures = {
        collection: system_figures(REPORTS / report / REPORT_FILE, has_intervals=False)
        for collection, report in reports_of(prefix).items()
    }
    return {
        collection: {
            name: float(systems[system].partition(" / ")[0]) for name, system in _SYSTEMS.items() if system in systems
        }
        for collection, systems in figures.items()
    }


def _paint(axes: Axes, panel: _Panel, title: str) -> None:
    """Paints a group of bars for each collection."""
    width = 0.8 / len(_SYSTEMS)
    for position, system in enumerate(_SYSTEMS):
        x = np.arange(len(panel)) + (position - (len(_SYSTEMS) - 1) / 2) * width
        values = [systems.get(system, np.nan) for systems in panel.values()]
        axes.bar(x, values, 0.9 * width, color=line_style(position)["color"])
    axes.set_xticks(range(len(panel)), list(panel))
    axes.set(title=title, ylim=(0, 1))
    axes.grid(axis="x", visible=False)


if __name__ == "__main__":
    PICTURE.write_text(results_picture(), encoding="utf-8")

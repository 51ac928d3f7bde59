"""Draws docs/images/results.svg, the picture of docs/results.md, from the tables there.

.venv/bin/python -m tools.results_picture
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from components.training_report.svg import draw, line_style, share_legend

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "docs" / "images" / "results.svg"

_Table = Mapping[str, Mapping[str, float]]
"""NDCG@5 by collection and system."""
_SYSTEMS: Final = ("BM25", "paper's system", "lexicon alone", "best", "closed")
_UNTRAINED: Final = "BM25"
_RESULTS: Final = ROOT / "docs" / "results.md"
_SEEN: Final = (_RESULTS, r"\| `(\w+)`, [a-z]+ \|(.+)\|", (*_SYSTEMS, None, None, None))
"""A file, the pattern of a line, and the systems of its columns; None for one that is not in the picture."""
_UNSEEN: Final = (
    _RESULTS,
    r"\| `(\w+)`, [\d,]+ \| `judged` \|(.+)\|",
    ("paper's system", None, "best", "closed", "lexicon alone"),
)


def results_picture() -> str:
    """The picture as an SVG file's text."""
    seen, of_unseen = _read(*_SEEN), _read(*_UNSEEN)
    unseen = {collection: of_unseen[collection] for collection in seen if collection in of_unseen}

    def paint(figure: Figure) -> None:
        ratios = [len(table) for table in (seen, unseen)]
        panels = figure.subplots(1, 2, sharey=True, width_ratios=ratios)
        _paint(panels[0], seen, "Test documents that training has seen")
        _paint(panels[1], unseen, "Test documents that it has not")
        panels[0].set_ylabel("NDCG@5")
        panels[1].set_xlabel(_missing(seen, unseen), fontsize="small")
        share_legend(figure, panels[0], _SYSTEMS)

    title = "NDCG@5 of five systems, on documents that training has seen and on others"
    return draw("results", title, "", (11, 4.2), paint).file


def _missing(seen: _Table, unseen: _Table) -> str:
    """Names the systems and collections without a bar on the right, and says why."""
    systems = [name for name in _SYSTEMS if name not in next(iter(unseen.values())) and name != _UNTRAINED]
    unmeasured = [*systems, *(name for name in seen if name not in unseen)]
    return f"Without a bar here: {_UNTRAINED}, which trains on nothing;\n{', '.join(unmeasured)}, not measured"


def _read(path: Path, pattern: str, systems: tuple[str | None, ...]) -> dict[str, dict[str, float]]:
    """Reads the NDCG@5 of each system from a table, by collection."""
    found = {}
    for collection, cells in re.findall(rf"^{pattern}$", path.read_text(encoding="utf-8"), re.MULTILINE):
        of_systems = zip(systems, cells.split("|"), strict=True)
        found[collection] = {
            name: float(re.match(r"[ *]*(\d*\.\d+) / ", cell)[1])  # type: ignore[index]
            for name, cell in of_systems
            if name
        }
    return found


def _paint(panel: Axes, table: _Table, title: str) -> None:
    """Paints a group of bars for each collection, without gaps for systems that none has."""
    shown = [name for name in _SYSTEMS if any(name in systems for systems in table.values())]
    width = 0.8 / len(_SYSTEMS)
    for place, system in enumerate(shown):
        x = np.arange(len(table)) + (place - (len(shown) - 1) / 2) * width
        values = [systems.get(system, np.nan) for systems in table.values()]
        panel.bar(x, values, 0.9 * width, color=line_style(_SYSTEMS.index(system))["color"])
    panel.set_xticks(range(len(table)), list(table))
    panel.set(title=title, ylim=(0, 1))
    panel.grid(axis="x", visible=False)


if __name__ == "__main__":
    PICTURE.write_text(results_picture(), encoding="utf-8")

"""Pictures for light and dark pages: matplotlib's figures as SVG, whose ink follows the page's theme."""

import io
import re
from collections.abc import Callable
from html import escape
from typing import Any, Final, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

INK: Final = "#010203"
"""Stands for the page's text colour; no other part of a picture may have this colour."""

COLOURS: Final = ("#2f80c2", "#d55e00", "#0a8f6a", "#b1609c", "#7a7a7a", "#8a6fd1", "#9a7b00")
"""Okabe and Ito's colours and some like them, moved until each stands out 3 : 1 from a light and from a dark page."""
LINES: Final = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS: Final = "osD^vPX"

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "smooth-clir",
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "grid.alpha": 0.2,
    "axes.grid": True,
    "axes.axisbelow": True,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}
_CSS = (
    "<style>svg{color:#1b1b1b}@media (prefers-color-scheme:dark){svg{color:#eee}}"
    "text{font-family:system-ui,sans-serif}</style>"
)


class Picture(NamedTuple):
    """A picture of a report."""

    name: str
    """Of its file, without .svg."""
    title: str
    caption: str
    inline: str
    """The <svg> element for an HTML page; its ink has the colour of the text around it."""

    @property
    def file(self) -> str:
        """The SVG file's text; its ink follows the reader's colour scheme."""
        head, body = self.inline.split(">", 1)
        return f'{head} xmlns="http://www.w3.org/2000/svg">{_CSS}{body}\n'


def draw(name: str, title: str, caption: str, size: tuple[float, float], paint: Callable[[Figure], None]) -> Picture:
    """Draws a picture, the same bytes for the same content.

    Args:
      name, title, caption: of the picture; the title is what a screen reader says.
      size: width and height in inches of 72 CSS pixels.
      paint: draws on an empty figure.
    """
    buffer = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(wspace=0.05, hspace=0.05))
        paint(figure)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = buffer.getvalue()
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL).replace("xlink:href", "href")
    body = re.sub(r" font-family: [^;]*;", "", body).replace(INK, "currentColor")
    # Several pictures share a page: ids that nothing refers to go, the others get the picture's name.
    used = set(re.findall(r'(?:href="|url\()#([\w.]+)', body))
    body = re.sub(r' id="([\w.]+)"', lambda match: match[0] if match[1] in used else "", body)
    body = re.sub(r'( id="|href="#|url\(#)([\w.]+)', rf"\1{name}-\2", body)
    width, height = (round(72 * inches) for inches in size)
    head = (
        f'<svg role="img" aria-labelledby="{name}-title" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" stroke-linejoin="round"><title id="{name}-title">{escape(title)}</title>'
    )
    return Picture(name, title, caption, head + body.strip())


def line_style(place: int) -> dict[str, Any]:
    """How the line of a series is drawn: colour, dashes and marker tell it apart, each alone."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": LINES[place % len(LINES)],
        "marker": MARKERS[place % len(MARKERS)],
    }


def share_legend(figure: Figure, axes: Axes) -> None:
    """One legend above all panels, of the series of one of them; long labels stand in fewer columns."""
    handles, labels = axes.get_legend_handles_labels()
    columns = max(1, 120 // (max(map(len, labels)) + 8))
    figure.legend(handles, labels, loc="outside upper center", ncols=min(columns, len(labels)))

"""Pictures for light and dark pages: matplotlib's figures as SVG in the page's colours."""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.path import Path

INK: Final = "#010203"
"""The stand-in for the page's text colour; no other part of a picture may have it."""

COLOURS: Final = ("#2f80c2", "#d55e00", "#0a8f6a", "#b1609c", "#7a7a7a", "#8a6fd1", "#9a7b00")
"""Okabe and Ito's colours and similar ones, adjusted to a contrast of 3 : 1 on light and on dark pages."""
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
_NAMESPACES: Final = {"": "http://www.w3.org/2000/svg", "xlink": "http://www.w3.org/1999/xlink"}
"""The namespaces of SVG files, by prefix."""
_COORDINATES: Final = ("d", "x", "y", "points", "transform", "width", "height")
_DECIMALS: Final = re.compile(r"-?\d+\.\d{2,}")
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_LINE: Final = re.compile(r"M [\d.-]+ [\d.-]+(?: L [\d.-]+ [\d.-]+)+(?: z)?")
_TOLERANCE: Final = 0.2
"""The distance in pixels by which a thinned line may miss its points."""
_CSS: Final = (
    "svg{color:#1b1b1b}@media (prefers-color-scheme:dark){svg{color:#e8e8e8}}text{font-family:system-ui,sans-serif}"
)


class Picture(NamedTuple):
    """A picture of a report."""

    name: str
    """The name of the file, without .svg."""
    title: str
    caption: str
    file: str
    """The text of the SVG file."""


def draw(name: str, title: str, caption: str, size: tuple[float, float], paint: Callable[[Figure], None]) -> Picture:
    """Draws a picture; the same content gives the same bytes.

    Args:
      name, title, caption: see `Picture`; a screen reader reads the title.
      size: width and height in inches of 72 CSS pixels.
      paint: draws on an empty figure.
    """
    buffer = io.StringIO()
    # matplotlib names parts by a hash of printed numbers, and NumPy 2 prints numbers differently.
    with matplotlib.rc_context(_STYLE), np.printoptions(legacy="1.21"):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(wspace=0.05, hspace=0.05))
        paint(figure)
        for artist in figure.findobj():
            artist.set_clip_on(False)  # no picture has content outside of its axes
        for background in (figure.patch, *(axes.patch for axes in figure.axes)):
            background.set_visible(False)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=nothing)
    width, height = (round(72 * inches) for inches in size)
    return Picture(name, title, caption, _for_pages(buffer.getvalue(), title, width, height))


def _for_pages(svg: str, title: str, width: int, height: int) -> str:
    """Adds a title to matplotlib's file, and sets CSS pixels and the page's colours and font."""
    root = ElementTree.fromstring(svg)
    root.attrib |= {"role": "img", "aria-labelledby": "title", "width": str(width), "height": str(height)}
    for tag, content in (("style", _CSS), ("title", title)):
        root.insert(0, ElementTree.Element(f"{{{_NAMESPACES['']}}}{tag}"))
        root[0].text = content
    root[0].set("id", "title")
    for element in root.iter():
        if style := element.get("style"):
            element.set("style", _page_style(style))
    thin(root)
    for prefix, namespace in _NAMESPACES.items():
        ElementTree.register_namespace(prefix, namespace)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def thin(root: ElementTree.Element) -> None:
    """Makes the file a quarter as long, without a visible difference.

    Coordinates are in tenths of a pixel, lines have no points that only repeat their direction, and equal styles are
    shared. Names, space and bare groups go.

    Args:
      root: the picture, which has a `style` element; it is changed in place.
    """
    styles: dict[str, str] = {}
    for element in root.iter():
        for name, value in element.attrib.items():
            if name in _COORDINATES:
                element.set(
                    name, " ".join(_DECIMALS.sub(lambda number: f"{round(float(number[0]), 1):g}", value).split())
                )
        if _LINE.fullmatch(element.get("d", "")):
            element.set("d", _thin_line(element.attrib["d"]))
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if element.tag.endswith("}g"):
            element.attrib.pop("id", None)
        if style := element.attrib.pop("style", None):
            element.set("class", styles.setdefault(style, f"s{len(styles)}"))
        element.text, element.tail = (text if text and text.strip() else None for text in (element.text, element.tail))
    _ungroup(root)
    rules = root.find(f"{{{_NAMESPACES['']}}}style")
    if rules is not None:
        rules.text = "".join([rules.text or "", *(f".{name}{{{style}}}" for style, name in styles.items())])


def _thin_line(line: str) -> str:
    """Returns a line as steps from its first point, without the points that lie on the way.

    Example:
      >>> _thin_line("M 1 2 L 5 2 L 9 2.1 L 9.5 -3 z")
      'M1 2l8 .1 .5-5.1z'
      >>> _thin_line("M 1 2 L 1 2")
      'M 1 2 L 1 2'
    """
    points = np.array(_NUMBER.findall(line), float).reshape(-1, 2)
    path = Path(points)
    path.should_simplify, path.simplify_threshold = True, _TOLERANCE
    simplified = path.cleaned(simplify=True)
    tenths = np.rint(10 * np.asarray(simplified.vertices)[simplified.codes != Path.STOP]).astype(int)
    steps = np.diff(tenths, axis=0)
    if not steps.any():
        return line  # a dot
    return f"M{_numbers(tenths[:1])}l{_numbers(steps[steps.any(axis=1)])}{'z' * line.endswith('z')}"


def _numbers(tenths: npt.NDArray[np.int_]) -> str:
    """Returns numbers as short as SVG allows."""
    text = " ".join(f"{number / 10:g}" for number in tenths.flat)
    return re.sub(r"\b0(?=\.)", "", text).replace(" -", "-")


def _ungroup(element: ElementTree.Element) -> None:
    """Replaces each group without attributes by its content."""
    children: list[ElementTree.Element] = []
    for child in element:
        _ungroup(child)
        children += child if child.tag.endswith("}g") and not child.attrib else [child]
    element[:] = children


def _page_style(style: str) -> str:
    """Returns an element's style with the page's colour for the ink, and without a font."""
    declarations = [[part.strip() for part in rule.split(":", 1)] for rule in style.split(";") if rule.strip()]
    return "; ".join(
        f"{name}: {'currentColor' if value == INK else value}" for name, value in declarations if name != "font-family"
    )


def line_style(index: int) -> dict[str, Any]:
    """Returns the style of a series' line: colour, dashes and marker each identify it."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": LINES[index % len(LINES)],
        "marker": MARKERS[index % len(MARKERS)],
    }


def as_is(text: str) -> str:
    """Escapes a text: matplotlib would typeset whatever is between two dollars as a formula."""
    return text.replace("$", r"\$")


def share_legend(figure: Figure, axes: Axes, labels: Sequence[str]) -> None:
    """Draws one legend above all panels, for the series of one panel; long labels take fewer columns.

    Args:
      figure: the figure.
      axes: the panel.
      labels: the labels of its series, in the order of drawing.
    """
    # Passes the series themselves, because matplotlib leaves out a series whose own label begins with _.
    series: Iterable[Any] = axes.containers or axes.lines
    columns = max(1, 120 // (max(map(len, labels)) + 8))
    figure.legend(series, [*map(as_is, labels)], loc="outside upper center", ncols=min(columns, len(labels)))

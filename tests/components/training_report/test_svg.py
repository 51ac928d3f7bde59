"""Pictures show on light and on dark pages."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from components.training_report.svg import COLOURS, LINES, MARKERS, Picture, draw, line_style


def paint(figure: Figure) -> None:
    panel = figure.add_subplot()
    panel.plot([0, 1], [0, 1], label="a < b", **line_style(0))
    panel.set_title("x < y & z")


PICTURE = draw("figure-9", "A <title> & more", "A caption.", (4, 3), paint)


def elements(picture: Picture) -> Iterator[ElementTree.Element]:
    return ElementTree.fromstring(picture.file).iter()


def test_the_file_is_well_formed_and_carries_its_title():
    root, *_ = elements(PICTURE)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.attrib["role"] == "img"
    (title,) = (part for part in elements(PICTURE) if part.attrib.get("id") == root.attrib["aria-labelledby"])
    assert title.text == "A <title> & more"
    assert "x < y & z" in [part.text for part in elements(PICTURE)]
    # An inch is 72 pixels.
    assert (root.attrib["width"], root.attrib["height"], root.attrib["viewBox"]) == ("288", "216", "0 0 288 216")


def test_the_ink_is_the_colour_of_the_text_around_and_nothing_else_is_black():
    colours = set(re.findall(r"(?:fill|stroke): (#?\w+)", PICTURE.file))
    assert colours == {"none", "currentColor", COLOURS[0]}
    texts = [part for part in elements(PICTURE) if part.tag.endswith("}text")]
    rules = dict(re.findall(r"\.(s\d+)\{([^}]*)\}", PICTURE.file))
    assert texts and all("fill: currentColor" in rules[text.attrib["class"]] for text in texts)
    assert "prefers-color-scheme:dark" in PICTURE.file
    # The font is the page's, and not Matplotlib's.
    assert re.findall(r"font-family: ?[^;}]*", PICTURE.file) == ["font-family:system-ui,sans-serif"]


def test_the_same_drawing_gives_the_same_bytes():
    assert draw("figure-9", "A <title> & more", "A caption.", (4, 3), paint) == PICTURE


def luminance(colour: str) -> float:
    """WCAG 2's relative luminance of #rrggbb."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_every_colour_stands_out_from_a_light_and_from_a_dark_page():
    for colour in COLOURS:
        for page in ("#ffffff", "#15181c"):
            low, high = sorted([luminance(colour), luminance(page)])
            assert (high + 0.05) / (low + 0.05) >= 3, (colour, page)


def test_series_differ_in_colour_dashes_and_marker():
    assert len(set(COLOURS)) == len(set(MARKERS)) == 7
    assert len(set(LINES)) == 5
    assert len({str(line_style(index)) for index in range(35)}) == 35

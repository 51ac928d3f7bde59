"""What the pictures show, and that they show on light and on dark pages."""

import base64
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib.figure import Figure

from components.training_report.svg import COLOURS, LINES, MARKERS, Picture, draw, line_style
from experiments.cell import Cell
from experiments.experiment import Row
from experiments.report.figures import EPSILONS, density_figure, score_derivative
from schemas.training_history import Epoch, ScoreCounts, TrainingHistory

# SVG


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
    (title,) = (one for one in elements(PICTURE) if one.attrib.get("id") == root.attrib["aria-labelledby"])
    assert title.text == "A <title> & more"
    assert "x < y & z" in [one.text for one in elements(PICTURE)]


def test_the_ink_is_the_colour_of_the_text_around_and_nothing_else_is_black():
    colours = set(re.findall(r"(?:fill|stroke): (#?\w+)", PICTURE.file))
    assert colours == {"none", "currentColor", COLOURS[0]}
    for one in elements(PICTURE):
        if one.tag.endswith("}text"):
            assert "fill: currentColor" in one.attrib["style"]
    assert "prefers-color-scheme:dark" in PICTURE.file


def test_texts_are_in_the_page_s_font_and_not_in_matplotlib_s():
    assert re.findall(r"font-family: ?[^;}]*", PICTURE.file) == ["font-family:system-ui,sans-serif"]


def test_an_inch_is_72_pixels_and_the_file_says_so():
    root, *_ = elements(PICTURE)
    assert (PICTURE.width, PICTURE.height) == (4 * 72, 3 * 72)
    assert (root.attrib["width"], root.attrib["height"], root.attrib["viewBox"]) == ("288", "216", "0 0 288 216")


def test_the_address_holds_the_file():
    kind, _, content = PICTURE.address.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(content).decode() == PICTURE.file


def test_the_same_drawing_gives_the_same_bytes():
    assert draw("figure-9", "A <title> & more", "A caption.", (4, 3), paint) == PICTURE


def luminance(colour: str) -> float:
    """WCAG 2's relative luminance of #rrggbb."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("page", ["#ffffff", "#15181c"])
@pytest.mark.parametrize("colour", COLOURS)
def test_every_colour_stands_out_from_a_light_and_from_a_dark_page(colour, page):
    low, high = sorted([luminance(colour), luminance(page)])
    assert (high + 0.05) / (low + 0.05) >= 3


def test_series_differ_in_colour_dashes_and_marker():
    assert len(set(COLOURS)) == len(set(MARKERS)) == 7
    assert len(set(LINES)) == 5
    assert len({str(line_style(place)) for place in range(35)}) == 35


# The similarity


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_derivative_is_that_of_the_formula_and_keeps_its_bound(epsilon):
    axis = np.linspace(-2, 2, 21, dtype=np.float32)
    x1, x2 = np.meshgrid(axis, axis)
    norm, other = np.hypot(x1, x2), np.sqrt(2)
    away = norm > 0
    # r = (x1 + x2) / ((|x| + epsilon) (sqrt 2 + epsilon))
    with np.errstate(invalid="ignore"):
        slope = (1 - (x1 + x2) * x1 / (norm * (norm + epsilon))) / ((norm + epsilon) * (other + epsilon))
    found = score_derivative(epsilon, x1, x2)
    assert found[away] == pytest.approx(slope[away], abs=1e-4)
    assert np.abs(found).max() <= 1 / epsilon


@pytest.mark.parametrize("with_train", [True, False])
def test_the_densities_are_of_the_train_split_as_in_the_paper_and_of_the_eval_split(with_train):
    scores = ScoreCounts(limit=1, counts={grade: [1] * 40 for grade in "012"})
    training = TrainingHistory(
        train_pairs=4,
        best_epoch=1,
        best_value=0.5,
        history=[Epoch(epoch=1, scores=scores)],
        pairs_per_second=9.0,
        steps=6,
        theta=None,
        train_scores=scores if with_train else None,
    )
    cell = Cell("one", {"loss.name": "sosl"}, status="done", training=training)
    picture = density_figure([Row({"loss.name": "sosl"}, (cell,))])
    texts = [one.text for one in elements(picture)]
    assert ("train split" in texts, "eval split" in texts) == (with_train, True)
    assert ("as in the paper" in picture.caption) == with_train


def test_there_is_no_density_without_a_finished_row():
    assert density_figure([]) is None

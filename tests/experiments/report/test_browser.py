"""The page in a real browser: it fits narrow and wide windows, and follows the reader's colour scheme."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH: the page is not looked at in a browser"),
]
MEASURE = """
const page = document.querySelector("iframe").contentDocument;
const root = page.documentElement;
const style = (element) => element.ownerDocument.defaultView.getComputedStyle(element);
const boxes = [...page.querySelectorAll(".box")];
const images = [...page.querySelectorAll("figure img")];
const draw = (image) => {
  const bytes = Uint8Array.from(atob(image.src.split(",")[1]), (sign) => sign.charCodeAt(0));
  const holder = page.createElement("div");
  holder.innerHTML = new TextDecoder().decode(bytes);
  page.body.append(holder);
  return holder.firstElementChild;
};
const measured = {
  width: root.clientWidth,
  content: root.scrollWidth,
  scrolling: boxes.filter((box) => box.scrollWidth > box.clientWidth).length,
  hidden: boxes.filter((box) => style(box).overflowX !== "auto").length,
  paper: style(page.body).backgroundColor,
  ink: style(page.body).color,
  broken: images.filter((image) => image.naturalWidth !== image.width || image.naturalHeight !== image.height).length,
  places: images.map((image) => image.getBoundingClientRect()).map((box) => [box.left, box.top, box.right, box.bottom]),
};
const drawings = images.map(draw);
document.body.textContent = JSON.stringify({
  ...measured,
  inks: drawings.flatMap((svg) => [...svg.querySelectorAll("text")]).map((text) => style(text).fill),
  cut: drawings.flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => {
      const box = text.getBoundingClientRect();
      return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
    }).map((text) => text.textContent);
  }),
});
"""


PAPER_AND_INK = {"light": ((255, 255, 255), (27, 27, 27)), "dark": ((21, 24, 28), (232, 232, 232))}


def browse(page: str, width: int, scheme: str, folder: Path, onload: str, *arguments: str) -> str:
    """Lays a page out in a frame of a width, which may be narrower than a browser's window can be."""
    wrapper = folder / "wrapper.html"
    wrapper.write_text(
        '<meta charset="utf-8"><body style="margin: 0">'
        f'<iframe width="{width}" height="6000" style="border: 0; color-scheme: {scheme}" '
        f"onload='{html.escape(onload)}' srcdoc=\"{html.escape(page)}\"></iframe>"
    )
    return subprocess.run(
        [
            str(CHROMIUM),
            *("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"),
            f"--blink-settings=preferredColorScheme={ {'dark': 0, 'light': 1}[scheme] }",
            *("--window-size=1600,6000", "--virtual-time-budget=20000", *arguments, wrapper.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


def measure(page: str, width: int, scheme: str, folder: Path) -> dict[str, Any]:
    """The sizes, colours and places of what stands on a page, and what is cut off."""
    found = re.search(r"<body[^>]*>(\{.*\})", output := browse(page, width, scheme, folder, MEASURE, "--dump-dom"))
    assert found, output[:500]
    measured: dict[str, Any] = json.loads(html.unescape(found[1]))
    return measured


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (1200, "light"), (1200, "dark")])
@pytest.mark.parametrize("name", ["losses", "epsilon", "nothing done"])
def test_the_page_fits_its_window_and_follows_the_colour_scheme(
    reported: Callable[[str], Path], tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    found = measure((reported(name) / "report.html").read_text(), width, scheme, tmp_path)
    assert found["width"] == pytest.approx(width, abs=20)  # but for a scroll bar
    assert found["content"] == found["width"]
    assert found["hidden"] == 0
    # Wide tables and pictures scroll in boxes of their own, and only where they must.
    assert (found["scrolling"] > 0) == (width == 360)
    assert found["cut"] == []
    assert found["broken"] == 0
    paper, ink = (f"rgb{colour}" for colour in PAPER_AND_INK[scheme])
    assert (found["paper"], found["ink"]) == (paper, ink)
    assert set(found["inks"]) == {ink}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pictures_are_seen_in_the_page_s_ink_on_its_paper(
    reported: Callable[[str], Path], tmp_path: Path, scheme: str
) -> None:
    page = (reported("losses") / "report.html").read_text()
    places = measure(page, 1200, scheme, tmp_path)["places"]
    browse(page, 1200, scheme, tmp_path, "", f"--screenshot={tmp_path / 'seen.png'}")
    seen = np.rint(imread(tmp_path / "seen.png")[..., :3] * 255)
    assert len(places) == 4
    for left, top, right, bottom in (map(round, place) for place in places):
        for colour in PAPER_AND_INK[scheme]:
            # The letters' edges are in between.
            is_of_colour = (np.abs(seen[top:bottom, left:right] - colour) <= 10).all(axis=-1)
            assert is_of_colour.sum() > 20, (colour, top)

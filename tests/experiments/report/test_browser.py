"""The page in a real browser: it fits narrow and wide windows, and follows the reader's colour scheme."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
document.body.textContent = JSON.stringify({
  width: root.clientWidth,
  content: root.scrollWidth,
  scrolling: boxes.filter((box) => box.scrollWidth > box.clientWidth).length,
  hidden: boxes.filter((box) => style(box).overflowX !== "auto").length,
  paper: style(page.body).backgroundColor,
  ink: style(page.body).color,
  pictures: [...page.querySelectorAll("svg text")].map((text) => style(text).fill),
  cut: [...page.querySelectorAll("svg")].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => {
      const box = text.getBoundingClientRect();
      return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
    }).map((text) => text.textContent);
  }),
});
"""


def measure(page: str, width: int, scheme: str, folder: Path) -> dict[str, Any]:
    """Lays a page out in a frame of a width, which may be narrower than a browser's window can be."""
    wrapper = folder / "wrapper.html"
    wrapper.write_text(
        f'<meta charset="utf-8"><body><iframe width="{width}" height="800" style="border: 0; color-scheme: {scheme}" '
        f"onload='{html.escape(MEASURE)}' srcdoc=\"{html.escape(page)}\"></iframe>"
    )
    done = subprocess.run(
        [
            str(CHROMIUM),
            *("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"),
            f"--blink-settings=preferredColorScheme={ {'dark': 0, 'light': 1}[scheme] }",
            *("--window-size=1600,1000", "--virtual-time-budget=20000", "--dump-dom", wrapper.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r"<body>(\{.*\})", done.stdout)
    assert found, done.stdout[:500]
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
    expected = {"light": ("rgb(255, 255, 255)", "rgb(27, 27, 27)"), "dark": ("rgb(21, 24, 28)", "rgb(232, 232, 232)")}
    assert (found["paper"], found["ink"]) == expected[scheme]
    assert set(found["pictures"]) == {found["ink"]}

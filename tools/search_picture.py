"""Draws docs/images/results.png and search.png: the page of a running service in a browser.

clir serve runs/sample --port 8080
python tools/search_picture.py http://127.0.0.1:8080 docs/images
"""

import os
import sys
from typing import Final
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

_QUERY: Final = "molten rock that flows down a mountain"
_CHROMIUM: Final = "/usr/bin/chromium"


def draw(url: str, folder: str) -> None:
    """Writes a picture of the first results, and another with the explanation of the first result."""
    with sync_playwright() as playwright:
        # Chromium's own sandbox refuses to start for root.
        sandbox = [] if os.getuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=sandbox)
        page = browser.new_page(viewport={"width": 1100, "height": 1010}, color_scheme="light")
        page.goto(f"{url}/?{urlencode({'q': _QUERY})}")
        page.locator("summary").first.wait_for()
        page.reload()  # the first answer of a service is slower than all others
        page.locator("summary").nth(2).wait_for()
        page.screenshot(path=f"{folder}/results.png", clip={"x": 0, "y": 0, "width": 1100, "height": 480})
        page.locator("summary").first.click()
        page.locator(".whole").first.wait_for()
        page.locator("h1").click(trial=True)
        page.screenshot(path=f"{folder}/search.png")
        browser.close()


if __name__ == "__main__":
    draw(*sys.argv[1:])

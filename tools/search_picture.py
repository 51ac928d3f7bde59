"""Draws docs/images/search.png: the page of a running service in a browser.

clir serve runs/sample --port 8080
python tools/search_picture.py http://127.0.0.1:8080 docs/images/search.png
"""

import os
import sys
from typing import Final
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

_QUERY: Final = "molten rock that flows down a mountain"
_CHROMIUM: Final = "/usr/bin/chromium"


def draw(url: str, path: str) -> None:
    """Writes a picture of the first results, with the first one explained."""
    with sync_playwright() as playwright:
        # Chromium's own sandbox refuses to start for root.
        sandbox = [] if os.getuid() else ["--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=sandbox)
        page = browser.new_page(viewport={"width": 1100, "height": 1010}, color_scheme="light")
        page.goto(f"{url}/?{urlencode({'q': _QUERY})}")
        page.locator("summary").first.click()
        page.locator(".whole").first.wait_for()
        page.locator("h1").click(trial=True)
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    draw(*sys.argv[1:])

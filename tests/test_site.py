"""The documentation site, built as `make docs` builds it."""

import doctest
import html
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.test_imports import MAY_IMPORT
from tools.site import docstrings

ROOT = Path(__file__).parents[1]
# None in place of TensorFlow: whoever imports it fails.
MKDOCS = "import sys; sys.modules['tensorflow'] = None; from mkdocs.__main__ import cli; cli()"
LOADED = {
    *((tag, "src") for tag in ("audio", "embed", "iframe", "img", "input", "script", "source", "video")),
    ("link", "href"),
    ("object", "data"),
}
"""The tags and attributes that a browser fetches by itself."""
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]*)""")


class Html(HTMLParser):
    """The files that a page loads, its links, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes note of a tag."""
        named = {name: value or "" for name, value in attrs}
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        for name, value in named.items():
            if (tag, name) in LOADED and named.get("rel") not in ("canonical", "next", "prev"):
                self.loaded.append(value)
            elif (tag, name) in (("a", "href"), ("link", "href")):
                self.links.append(value)
        self.loaded += [part.split()[0] for part in named.get("srcset", "").split(",") if part.strip()]


def faults(site: Path) -> list[str]:
    """The faults of a built site: links to missing pages or anchors, and files that are loaded from outside."""
    pages = {path: Html(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    sentences = []
    for path, page in pages.items():
        for target in dict.fromkeys(page.links + page.loaded):
            parts = urlsplit(target)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if target in page.loaded:
                    sentences.append(f"{path.relative_to(site)} loads {target}")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            # The page for addresses that are not there is shown anywhere, so that its links start at the root.
            file = site / parts.path.lstrip("/") if parts.path.startswith("/") and path.name == "404.html" else file
            file = file / "index.html" if file.is_dir() else file
            # `#__` is the theme's own.
            anchor = unquote("" if parts.fragment.startswith("__") else parts.fragment)
            if not file.is_file() or (anchor and file in pages and anchor not in pages[file].anchors):
                sentences.append(f"{path.relative_to(site)} links to {target}")
    for path in [*site.rglob("*.css"), *site.rglob("*.html"), *site.rglob("*.svg")]:
        styles = path.read_text(encoding="utf-8")
        sentences += [f"{path.relative_to(site)} loads {address}" for address in IN_STYLES.findall(styles)]
    return sentences


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    folder = tmp_path_factory.mktemp("built") / "site"
    build = subprocess.run(
        [sys.executable, "-c", MKDOCS, "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={"PATH": "", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stderr
    assert [line for line in build.stderr.splitlines() if not line.startswith("INFO ")] == []
    return folder


def test_examples_of_the_docstring_rewriter_show_what_they_say() -> None:
    assert doctest.testmod(docstrings) == (0, 1)


def test_a_broken_link_and_a_loaded_font_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<link rel='stylesheet' href='a.css'><script src='//cdn.example.org/a.js'></script><h1 id='here'>A</h1>"
        "<a href='#here'></a><a href='b.html#there'></a><a href='b.html#gone'></a><a href='c.html'></a>"
        "<a href='https://example.org'></a><img src='data:image/png;base64,'><img src='https://example.org/a.png'>"
    )
    (tmp_path / "a.css").write_text("@import 'https://example.org/b.css'; a { background: url(local.png) }")
    (tmp_path / "b.html").write_text("<p id='there'>B</p>")
    assert faults(tmp_path) == [
        "a.html links to b.html#gone",
        "a.html links to c.html",
        "a.html loads //cdn.example.org/a.js",
        "a.html loads https://example.org/a.png",
        "a.css loads https://example.org/b.css",
    ]


@pytest.mark.long
def test_no_link_is_broken_nothing_is_loaded_from_outside_and_every_module_has_a_page(site: Path) -> None:
    assert faults(site) == []
    files = [path.relative_to(ROOT) for room in MAY_IMPORT for path in (ROOT / room).rglob("[a-z]*.py")]
    assert [path for path in files if not (site / "api" / path.with_suffix(".html")).is_file()] == []


@pytest.mark.long
def test_pages_show_their_sources_with_links_pointed_to_pages(site: Path) -> None:
    front = (site / "index.html").read_text(encoding="utf-8")
    assert "models that rank documents in one language for queries in another" in front
    links = set(Html(front).links)
    assert {"results.html", "contributing.html", "api/models/losses/sosl.html"} <= links
    assert not [link for link in links if link.endswith((".md", ".py")) and "://" not in link]

    module = (site / "api" / "models" / "losses" / "sosl.html").read_text(encoding="utf-8")
    for part in (
        "loss(r, y) = relu(r - theta_y)^2 + relu(theta_{y-1} - r)^2,   theta_0 &lt; theta_1",
        "Eq. 2 for each document: grade int [...], score float [...] -&gt; float [...].",
        "float [batch, list_size], scores between the ends.",
        ">Call arguments:<",
        '<span class="gp">&gt;&gt;&gt; </span>',
    ):
        assert part in module

    path = Path("configs/experiments/table_2_ntrex_en_fr.yaml")
    assert (ROOT / path).read_text(encoding="utf-8") in text_of(site / "files" / f"{path}.html")
    notebook = json.loads((ROOT / "docs" / "notebooks" / "from_python.ipynb").read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    printed = next(output["text"] for output in outputs if "text" in output)
    assert "".join(printed).rstrip() in text_of(site / "notebooks" / "from_python.html")


def text_of(page: Path) -> str:
    """The text of a page, without its tags."""
    return html.unescape(re.sub("<[^>]*>", "", page.read_text(encoding="utf-8")))

"""The links of the Markdown files lead somewhere: to files and folders that are there, and to headings in them."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RECORDS = [ROOT / "CITATION.cff", ROOT / "pyproject.toml"]
"""Files with addresses that are no Markdown."""
HOST = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}|localhost|127\.0\.0\.1", re.IGNORECASE)


def tokens(markdown: str) -> Iterator[Token]:
    """Every token of a text as GitHub reads it, inner ones too."""
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        yield token
        yield from token.children or []


def targets(markdown: str) -> Iterator[str]:
    """Where the links and pictures of a text lead."""
    for token in tokens(markdown):
        if token.type in ("link_open", "image"):
            yield str(token.attrs.get("href", token.attrs.get("src")))
        elif token.type in ("html_block", "html_inline"):
            yield from re.findall(r"""\s(?:href|src)=["']([^"']*)["']""", token.content)


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page: its headings by GitHub's rule, and `id` or `name` of its HTML."""
    names: set[str] = set()
    counts: dict[str, int] = {}
    parsed = [*tokens(page.read_text(encoding="utf-8"))]
    for token, inner in zip(parsed, parsed[1:], strict=False):
        if token.type == "heading_open":
            slug = re.sub(r"[^\w\- ]", "", heading_text(inner).strip().lower()).replace(" ", "-")
            names.add(f"{slug}-{counts[slug]}" if slug in counts else slug)
            counts[slug] = counts.get(slug, 0) + 1
        elif token.type in ("html_block", "html_inline"):
            names.update(re.findall(r"""\s(?:id|name)=["']([^"']*)["']""", token.content))
    return frozenset(names)


def heading_text(inline: Token) -> str:
    """A heading as a reader sees it, without marks and pictures."""
    return "".join(token.content for token in inline.children or [] if token.type in ("text", "code_inline"))


def fault(target: str, page: Path, root: Path) -> str | None:
    """Why a link of a page leads nowhere, if so; an address on the web is only read, not asked."""
    parts = urlsplit(target)
    if parts.scheme:
        return None if well_formed(target) else "no address"
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if parts.path.startswith("/") or not path.is_relative_to(root.resolve()):
        return "outside the repository"
    if not path.exists():
        return "no such file"
    if not parts.fragment:
        return None
    if path.suffix == ".md":
        return None if unquote(parts.fragment) in anchors(path) else "no such heading"
    lines = re.fullmatch(r"L(\d+)(?:-L(\d+))?", parts.fragment)
    if lines is None or path.is_dir():
        return "no such heading"
    last = int(lines[2] or lines[1])
    return None if last <= len(path.read_text(encoding="utf-8").splitlines()) else "no such line"


def well_formed(address: str) -> bool:
    """Whether an address is one of the web with a host, or of mail."""
    parts = urlsplit(address)
    if parts.scheme == "mailto":
        return "@" in parts.path
    return parts.scheme in ("http", "https") and bool(HOST.fullmatch(parts.hostname or "")) and " " not in address


def broken(page: Path, root: Path) -> list[str]:
    """The links of a page that lead nowhere, each with why."""
    links = dict.fromkeys(targets(page.read_text(encoding="utf-8")))
    return [f"{page.relative_to(root)}: {link}: {why}" for link in links if (why := fault(link, page, root))]


def addresses(text: str) -> list[str]:
    """The texts that start like an address, in a file that is no Markdown."""
    return re.findall(r"https?:[^\s\"'<>,)]*", text)


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page, ROOT) == []


def test_the_pages_that_people_start_from_are_checked() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in PAGES}
    assert names >= {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/results.md", "docs/experiments/README.md"}


@pytest.mark.parametrize("record", RECORDS, ids=[record.name for record in RECORDS])
def test_every_address_of_the_metadata_is_well_formed(record: Path) -> None:
    assert [address for address in addresses(record.read_text(encoding="utf-8")) if not well_formed(address)] == []


def test_a_broken_link_of_every_kind_is_found_and_a_good_one_passes(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "code.py").write_text("one = 1\ntwo = 2\n")
    (tmp_path / "docs" / "other page.md").write_text("# A `code_name`, and more\n\n## Twice\n\n## Twice\n")
    page = tmp_path / "docs" / "page.md"
    page.write_text(
        "# Here we are\n\n<a id='mark'></a>\n\n"
        "[a](#here-we-are) [b](#mark) [c](../code.py) [d](../code.py#L2) [e](..) [f](https://example.org/a#b)\n"
        "[g](other%20page.md#a-code_name-and-more) [h](<other page.md#twice-1>) [i](mailto:a@example.org)\n"
        "`[no link](nowhere.md)`\n\n```\n[no link](nowhere.md)\n```\n\n"
        "[1](gone.md) ![2](gone.svg) [3](#gone) [4](other%20page.md#twice-2) [5](../code.py#L3) [6](../../etc)\n"
        "[7](https:/example.org) [8](http://nohost/) [9](/code.py) [10][ref] <img src='gone.png'>\n\n"
        "| a | b |\n| --- | --- |\n| [11](in_a_table.md) | c |\n\n[ref]: gone_too.md\n"
    )
    assert broken(page, tmp_path) == [
        "docs/page.md: gone.md: no such file",
        "docs/page.md: gone.svg: no such file",
        "docs/page.md: #gone: no such heading",
        "docs/page.md: other%20page.md#twice-2: no such heading",
        "docs/page.md: ../code.py#L3: no such line",
        "docs/page.md: ../../etc: outside the repository",
        "docs/page.md: https:/example.org: no address",
        "docs/page.md: http://nohost/: no address",
        "docs/page.md: /code.py: outside the repository",
        "docs/page.md: gone_too.md: no such file",
        "docs/page.md: gone.png: no such file",
        "docs/page.md: in_a_table.md: no such file",
    ]
    assert addresses('url = "https://example.org/a"\nrepo = "http://b c"') == ["https://example.org/a", "http://b"]

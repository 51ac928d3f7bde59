"""What a report consists of, whatever it is written as: HTML or Markdown."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote

from components.training_report.svg import Picture
from pipeline.layout import FIGURES

NOTHING: Final = "–"
"""What stands where there is no value."""


class Entry(NamedTuple):
    """What stands at one place of a table."""

    text: str
    note: str = ""
    """In small print below; may have several lines."""
    is_best: bool = False
    is_published: bool = False
    """Not ours: the paper's."""


class Line(NamedTuple):
    """A line of a table; the first entry is its head."""

    entries: tuple[Entry, ...]
    kind: str = "ours"
    """ours or baseline."""


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Link(NamedTuple):
    """A paragraph that ends in a link to another page."""

    text: str
    label: str
    address: str


class Table(NamedTuple):
    """A table with one line of heads."""

    caption: str
    head: tuple[str, ...]
    lines: tuple[Line, ...]


class Listing(NamedTuple):
    """A text as it is, folded under its summary."""

    summary: str
    text: str


Block = Text | Link | Table | Listing | Picture


class Section(NamedTuple):
    """Blocks under a heading."""

    id: str
    title: str
    blocks: tuple[Block, ...]


class Page(NamedTuple):
    """A whole report."""

    title: str
    sections: tuple[Section, ...]


def as_markdown(page: Page) -> str:
    """The same content as the HTML page. Text is escaped: none of it is taken for markup."""
    parts = [f"# {_escape(page.title)}"]
    for section in page.sections:
        parts.append(f"## {_escape(section.title)}")
        for block in section.blocks:
            parts.append("\n".join(_lines(block)))
    return "\n\n".join(parts) + "\n"


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Text):
        yield _escape(block.text)
    elif isinstance(block, Link):
        yield f"{_escape(block.text)} [{_escape(block.label)}](<{quote(block.address)}>)."
    elif isinstance(block, Table):
        yield f"{_escape(block.caption)}\n"
        yield _row(map(_escape, block.head))
        yield _row("---" for _ in block.head)
        yield from (_row(map(_entry_text, line.entries)) for line in block.lines)
    elif isinstance(block, Listing):
        # A fence must be longer than any within the text.
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", block.text))])
        yield f"{_escape(block.summary)}:\n\n{fence}text\n{block.text.rstrip()}\n{fence}"
    else:
        yield f"![{_escape(block.title)}]({FIGURES}/{block.name}.svg)\n"
        yield f"{_escape(block.title)}. {_escape(block.caption)}"


def _entry_text(entry: Entry) -> str:
    text = f"**{_escape(entry.text)}**" if entry.is_best else _escape(entry.text)
    return "<br>".join([text, *map(_escape, entry.note.splitlines())])


def _row(entries: Iterator[str]) -> str:
    return f"| {' | '.join(entries)} |"


def _escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", text)

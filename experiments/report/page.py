"""What a report consists of, whatever it is written as: HTML or Markdown."""

from typing import Final, NamedTuple

from components.training_report.svg import Picture

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

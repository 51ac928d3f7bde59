"""Writes the parts of a report as Markdown; escapes text, so that none is taken for markup."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from components.training_report.svg import Picture
from pipeline.layout import FIGURES

NOTHING: Final = "–"
"""The sign for a missing value."""


class Entry(NamedTuple):
    """An entry of a table that is more than a text."""

    text: str
    note: str = ""
    """The lines below the text."""
    is_best: bool = False


def paragraph(text: str) -> str:
    """Escapes text, so that Markdown shows it as it is, on a line."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", text)


def table(caption: str, head: Sequence[str], lines: Iterable[Sequence[str | Entry]]) -> str:
    """Makes a table with a line of heads, below its caption."""
    rows = [map(paragraph, head), ("---" for _ in head), *(map(_entry, line) for line in lines)]
    return "\n".join([f"{paragraph(caption)}\n", *(f"| {' | '.join(row)} |" for row in rows)])


def listing(summary: str, text: str) -> str:
    """Makes a block that shows a text as it is, below its summary."""
    # A fence must be longer than any within the text.
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{paragraph(summary)}:\n\n{fence}text\n{text.rstrip()}\n{fence}"


def picture(shown: Picture) -> str:
    """Makes a picture, whose file is in `FIGURES` in the report's folder."""
    title = paragraph(shown.title)
    return f"![{title}]({FIGURES}/{shown.name}.svg)\n\n{title}. {paragraph(shown.caption)}"


def _entry(entry: str | Entry) -> str:
    if isinstance(entry, str):
        return paragraph(entry)
    text = f"**{paragraph(entry.text)}**" if entry.is_best else paragraph(entry.text)
    return "<br>".join([text, *map(paragraph, entry.note.splitlines())])

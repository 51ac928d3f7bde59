"""A report as Markdown, whose pictures are files beside it."""

import re
from collections.abc import Iterator
from urllib.parse import quote

from experiments.report.page import Block, Entry, Link, Listing, Page, Table, Text
from pipeline.layout import FIGURES


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
        yield from (_row(map(_entry, line.entries)) for line in block.lines)
    elif isinstance(block, Listing):
        # A fence must be longer than any within the text.
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", block.text))])
        yield f"{_escape(block.summary)}:\n\n{fence}text\n{block.text.rstrip()}\n{fence}"
    else:
        yield f"![{_escape(block.title)}]({FIGURES}/{block.name}.svg)\n"
        yield f"{_escape(block.title)}. {_escape(block.caption)}"


def _entry(entry: Entry) -> str:
    text = f"**{_escape(entry.text)}**" if entry.is_best else _escape(entry.text)
    return "<br>".join([text, *map(_escape, entry.note.splitlines())])


def _row(entries: Iterator[str]) -> str:
    return f"| {' | '.join(entries)} |"


def _escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", text)

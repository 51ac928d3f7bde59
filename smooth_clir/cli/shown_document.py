"""Shows a document of a search or a ranking: a line with its title, and a piece of its text below."""

import os
import shutil
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import click

from schemas.wording import printable, relevant_percentage
from smooth_clir.cli.terminal import FIELD, show

if TYPE_CHECKING:
    from smooth_clir.retrieval.snippet import Snippet

_INDENT: Final = " " * 5
_BEFORE: Final = "… "
_AFTER: Final = " …"
_FIRST_WORDS: Final = 60
"""Largest number of characters of a text that replace a missing title."""
_WIDTH: Final = 100
"""Longest line with a piece of a text, in characters, if the output is not a terminal."""
_MIN_CHARACTERS: Final = 20
"""Smallest number of characters of a piece of a text; a narrower terminal breaks the line."""


def snippet_characters() -> int:
    """Returns the length of the longest snippet that `show_document` shows on a line."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
    return max(_MIN_CHARACTERS, width - len(_INDENT + _BEFORE + _AFTER))


def shown_id(doc_id: str, passage: int | None) -> str:
    """Returns a document's id, with the number of its best passage if there is one, from 1."""
    return doc_id if passage is None else f"{doc_id}, passage {passage + 1}"


def show_document(
    rank: int,
    score: float,
    share: float | None,
    doc_id: str,
    title: str,
    text: str,
    snippet: "Snippet | None",
    fields: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Prints a document's rank, score, id and title, or its first words without a title; below, its snippet.

    Matching words are bold on a terminal, unless NO_COLOR is set. Elsewhere they are not marked, because any mark could
    also occur in the text. `--json` says which words match.

    Args:
      rank: position among the documents, from 1.
      score, doc_id, text: the document's.
      title: the document's title; may be empty.
      share: the share of relevant documents among those with this score; None shows none.
      snippet: a piece of the text, of at most `snippet_characters()`; None shows none.
      fields: the document's values by the names of fields.
    """
    name = printable(title, FIELD) if title.strip() else printable(text.strip(), _FIRST_WORDS)
    share_text = "" if share is None else f"{relevant_percentage(share):>14}  "
    values = ", ".join(f"{field} {printable(value, FIELD)}" for field, value in fields.items())
    show(f"{rank:3}  {score:7.4f}  {share_text}{printable(doc_id, FIELD)}  {name}{f'  ({values})' if values else ''}")
    if snippet is None:
        return
    has_bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    line = _INDENT if snippet.is_beginning else _INDENT + _BEFORE
    for piece in snippet.pieces:
        shown = printable(piece.text, len(piece.text))
        # Styled after escaping, and not printed by `show`, which would escape the style.
        line += click.style(shown, bold=True) if piece.is_match and has_bold else shown
    click.echo(line if snippet.is_end else line + _AFTER)

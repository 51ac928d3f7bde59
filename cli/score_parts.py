"""The parts of a score, in lines for a person."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from cli.terminal import FIELD
from schemas.printable import printable

if TYPE_CHECKING:
    from models.score_parts import ScorePart

MOST_WORDS: Final = 8
"""Lines for the words of a channel; the parts of the others are summed."""


def describe_parts(parts: "tuple[ScorePart, ...]") -> Iterator[str]:
    """A line for each part, and below it for each of its words, with the numbers under those of `clir rank`."""
    for one in parts:
        yield _line(one.part, one.name)
        for word in one.words[:MOST_WORDS]:
            answer, asked = (printable(term, FIELD) for term in (word.document_term, word.query_term))
            yield _line(word.part, f"  {asked} <- {answer}")
        if others := one.words[MOST_WORDS:]:
            yield _line(sum(word.part for word in others), f"  {len(others)} others")


def _line(part: float, text: str) -> str:
    return f"     {part:7.4f}  {text}"

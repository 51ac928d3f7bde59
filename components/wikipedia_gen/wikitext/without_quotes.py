"""Takes the apostrophes of bold and italics out of a line."""

import re
from typing import Final

_RUN: Final = re.compile("('{2,})")


def without_quotes(line: str) -> str:
    """A line without its marks of bold and italics.

    As MediaWiki reads them: of four apostrophes the first is text, of more than five all but the last five; and where
    both bold and italics stay open, one bold mark is an apostrophe and italics, first of all one after a word of one
    letter.

    Example:
      >>> without_quotes("L''''Ain''' est l'''Isère'' des ''Alpes''.")
      "L'Ain est l'Isère des Alpes."
    """
    if "''" not in line:
        return line
    parts = _RUN.split(line)
    bold, italics = [], 0
    for place in range(1, len(parts), 2):
        length = len(parts[place])
        if length == 4 or length > 5:
            parts[place - 1] += "'" * (1 if length == 4 else length - 5)
            length = 3 if length == 4 else 5
        if length != 2:
            bold.append(place)
        italics += length != 3
        parts[place] = "'" * length
    if len(bold) % 2 and italics % 2 and (marks := [place for place in bold if len(parts[place]) == 3]):
        parts[min(marks, key=lambda place: _rank(parts[place - 1])) - 1] += "'"
    return "".join(parts[::2])


def _rank(before: str) -> int:
    """How likely a bold mark is an apostrophe and italics, the likeliest first, by the text before it."""
    if before[-1:] == " ":
        return 2
    return 0 if before[-2:-1] == " " else 1

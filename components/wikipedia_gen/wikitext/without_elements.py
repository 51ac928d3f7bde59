"""Takes elements of wikitext, such as <ref>...</ref>, out with what they hold."""

import re
from collections.abc import Callable, Iterable
from typing import Final

MARK: Final = "\0"
"""Stands in a text where something was that its reader would have seen; no XML can hold it."""


class Elements:
    """The elements of some names.

    Args:
      names: of the elements, in lower case.
    """

    def __init__(self, names: Iterable[str]) -> None:
        choice = "|".join(sorted(names))
        # Their content is not matched here, for one that never ends would be searched again from each beginning.
        self.opening: Final = re.compile(rf"<({choice})\b[^<>]*>", re.IGNORECASE)
        self.closing: Final = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in choice.split("|")}


def without_elements(
    wikitext: str, elements: Elements, is_whole: bool = True, instead: Callable[[str, str], str] | None = None
) -> str:
    """Takes elements out, in one pass; an element ends with the first end of its name, as MediaWiki has it.

    Args:
      wikitext: of a page.
      elements: those to take out.
      is_whole: whether the page ends with this text. An element that the page never ends loses the rest of its line;
        one that may end in the rest of a page ends this text.
      instead: of an element's name and content, what shall stand in its place; None leaves nothing.

    Example:
      >>> without_elements("A<ref name=a>[[b]]</ref> is <REF/>c.", Elements(["ref"]))
      'A is c.'
    """
    pieces: list[str] = []
    endless: set[str] = set()
    at = 0
    while start := elements.opening.search(wikitext, at):
        pieces.append(wikitext[at : start.start()])
        at = start.end()
        if start[0].endswith("/>"):
            continue
        name = start[1].lower()
        end = None if name in endless else elements.closing[name].search(wikitext, at)
        if end:
            if instead:
                pieces.append(instead(name, wikitext[at : end.start()]))
            at = end.end()
            continue
        if not is_whole:
            return "".join(pieces)
        endless.add(name)
        if not instead:
            line_end = wikitext.find("\n", at)
            at = len(wikitext) if line_end < 0 else line_end
    pieces.append(wikitext[at:])
    return "".join(pieces)

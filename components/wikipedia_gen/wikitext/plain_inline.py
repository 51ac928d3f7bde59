"""A paragraph's plain text, once its templates and links are gone."""

import html
import re
from typing import Final

from components.wikipedia_gen.wikitext.conventions import Conventions
from components.wikipedia_gen.wikitext.keep_group import keep_group
from components.wikipedia_gen.wikitext.without_quotes import without_quotes
from components.wikipedia_gen.wikitext.without_shells import without_shells

_EXTERNAL: Final = re.compile(r"\[(?:https?:|ftp:|mailto:|news:|irc:)?//([^\[\]\n]*)\]", re.IGNORECASE)
_BLOCKS: Final = frozenset(
    "blockquote br center dd div dl dt hr li ol p poem table tbody td th thead tr ul h1 h2 h3 h4 h5 h6".split()
)
_TAGS: Final = sorted(
    _BLOCKS
    | frozenset(
        """
        a abbr b bdi bdo big caption cite code data del dfn em embed font i ins kbd mark noinclude nowiki onlyinclude q
        rb rbc rp rt rtc ruby s samp section small span strike strong sub sup time tt u var wbr ref references gallery
        includeonly math translate tvar languages indicator
        """.split()
    )
)
_TAG: Final = re.compile(rf"</?({'|'.join(_TAGS)})\b[^<>]*>", re.IGNORECASE)
_SWITCH: Final = re.compile(r"__\w+?__")
# Controls, soft hyphens, spaces of no width, direction marks; joiners stay, for they belong to some scripts' words.
_INVISIBLE: Final = re.compile(
    "[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ud800-\udfff\ufeff]"
)
_MARKUP: Final = re.compile(r"\[\[|\]\]|\{\{|\}\}|</?ref\b[^<>]*>?", re.IGNORECASE)

# Where a reference stood between a word and its comma; no language puts a space there.
_SPACE_BEFORE: Final = re.compile(r" ([,.،。、])(?= |$)")


def plain_inline(paragraph: str, conventions: Conventions) -> str:
    """The text of a paragraph, all on one line.

    Args:
      paragraph: as `skeleton` leaves it.
      conventions: of the wiki.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> plain_inline("The '''[http://a.example Ain]'''<br>is&nbsp;H<sub>2</sub>O.", conventions_for("en", {}))
      'The Ain is H2O.'
    """
    text = "\n".join(map(without_quotes, paragraph.split("\n"))) if "''" in paragraph else paragraph
    if "//" in text:
        text = _EXTERNAL.sub(_label, text)
    if "<" in text:
        text = _TAG.sub(_space, text)
    if "__" in text:
        text = _SWITCH.sub(_shown, text)
    if "&" in text:
        text = html.unescape(text)
    if not text.isprintable():
        text = _INVISIBLE.sub("", text)
    text = without_shells(text, conventions)
    # Markup that entities spell, or that others' removal brought together: no text shall look like markup.
    if _MARKUP.search(text):
        text = _MARKUP.sub(" ", text)
    return keep_group(_SPACE_BEFORE, " ".join(text.split()))


def _label(found: re.Match[str]) -> str:
    """An external link's text: none, if it would be a number."""
    return found[1].partition(" ")[2]


def _space(found: re.Match[str]) -> str:
    """What stands in a tag's place."""
    return " " if found[1].lower() in _BLOCKS else ""


def _shown(found: re.Match[str]) -> str:
    """What a word between two lines shows: nothing if it is a switch, which is in capitals or in no case at all."""
    return "" if found[0] == found[0].upper() else found[0]

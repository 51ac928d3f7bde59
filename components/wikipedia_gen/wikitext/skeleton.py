"""A page's wikitext without templates, tables, files and the brackets of links."""

import re
from typing import Final

from components.wikipedia_gen.wikitext.conventions import Conventions
from components.wikipedia_gen.wikitext.keep_group import keep_group
from components.wikipedia_gen.wikitext.render_template import render_template
from components.wikipedia_gen.wikitext.too_costly import Limit, TooCostly
from components.wikipedia_gen.wikitext.without_elements import MARK, Elements, without_elements
from schemas.languages import LANGUAGES

MOST_OPEN: Final = 100
"""Templates, tables and links that may stand open at one place; MediaWiki itself expands templates 100 deep at most."""

# A table's marks stand at the start of a line; that of its end may be the end of a template's last argument, too.
_TOKEN: Final = re.compile(r"\{\{|\}\}|\[\[|\]\]|\n[ \t:*#;]*\{\||\n[ \t:]*\|\}(?!\})")
_TEMPLATE, _TABLE, _LINK = "{{", "{|", "[["
_OPENERS: Final = frozenset([_TEMPLATE, _TABLE, _LINK])
# Most links: a title without a prefix, perhaps a label, and no other markup in either.
_PLAIN_LINK: Final = re.compile(r"\[\[(?:[^\[\]{}|:\n]+\|)?([^\[\]{}|:\n]+)\]\]")
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n|\n=|\Z")
_DROPPED: Final = Elements("ref references gallery imagemap table style rt rp inputbox categorytree".split())
# Prefixes of Wikipedia's other editions, which are in lower case; those of two letters are codes of ISO 639-1.
_EDITION: Final = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,}){0,2}|simple")
_NO_EDITIONS: Final = frozenset("doi rfc wmf voy iso pmid".split())


def skeleton(wikitext: str, conventions: Conventions, is_whole: bool = True) -> str:
    """The lines of a page as they are read, with the marks of headings, lists, bold and italics still in them.

    One pass over the tokens of markup. A template becomes its text, or a `MARK`; a link its label; tables,
    references, galleries, files and categories go. What the page leaves open goes, too: of a template or table the
    rest of its paragraph, of a file the rest of its line, of a link the brackets.

    Args:
      wikitext: the page or its beginning, as `visible` leaves it.
      conventions: of the wiki.
      is_whole: whether the page ends with this text. If not, it is read up to the last line that what follows cannot
        change.

    Raises:
      TooCostly: more than `MOST_OPEN` templates, tables and links stand open.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> skeleton("{{a|{{b}}}}[[File:c|[[d]]]]'''E''' is an [[f|g]].", conventions_for("en", {}))
      "\\x00'''E''' is an g."
    """
    text = without_elements(wikitext, _DROPPED, is_whole) if "<" in wikitext else wikitext
    text = keep_group(_PLAIN_LINK, "\n" + text)
    pieces: list[str] = []
    still_open: list[tuple[str, int]] = []
    at = 0
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        token = text[end - 2 : end]
        pieces.append(text[at:start])
        at = end
        if token in _OPENERS:
            if len(still_open) == MOST_OPEN:
                raise TooCostly(Limit.OPEN_MARKUP, MOST_OPEN)
            if token == _TABLE:
                pieces.append("\n")
            still_open.append((token, len(pieces)))
        elif token == "]]":
            if still_open and still_open[-1][0] == _LINK:
                _, first = still_open.pop()
                label = _label("".join(pieces[first:]), conventions)
                pieces[first:] = [label]
        else:
            opener = _TEMPLATE if token == "}}" else _TABLE
            place = next((place for place in reversed(range(len(still_open))) if still_open[place][0] == opener), None)
            if place is None:
                continue
            _, first = still_open[place]
            del still_open[place:]
            if opener == _TABLE:
                pieces[first:] = ["\n"]
            else:
                content = "".join(pieces[first:])
                rendered = render_template(content, conventions)
                pieces[first:] = [MARK if rendered is None else rendered]
                # A template's own parameter has three braces at either end.
                at += content.startswith("{") and text.startswith("}", end)
    if is_whole:
        pieces.append(text[at:])
        return _closed(pieces, still_open, conventions)[1:]
    if still_open:
        del pieces[still_open[0][1] :]
    else:
        pieces.append(text[at:])
    return "".join(pieces)[1:].rpartition("\n")[0]


def _label(content: str, conventions: Conventions) -> str:
    """What a link shows, of what stands between its brackets."""
    target, bar, label = content.partition("|")
    target = target.strip()
    if target.startswith("http"):
        return f"[{content}]"
    prefix, colon, rest = target.partition(":")
    if colon and prefix:
        if prefix.strip().lower() in conventions.hidden_namespaces or _is_edition(prefix):
            return ""
    elif colon:
        target = rest
    if label.strip():
        return label
    # An empty label is one that the wiki makes of the title when a page is saved.
    return target.partition(":")[2].partition("(")[0].strip() or target.partition("(")[0] if bar else target


def _is_edition(prefix: str) -> bool:
    """Whether a link's prefix is that of another edition, so that the link shows nothing in the text."""
    if len(prefix) == 2:
        return prefix in LANGUAGES
    return _EDITION.fullmatch(prefix) is not None and prefix not in _NO_EDITIONS


def _closed(pieces: list[str], still_open: list[tuple[str, int]], conventions: Conventions) -> str:
    """The text of a page at whose end something is open."""
    for kind, first in reversed(still_open):
        rest = "".join(pieces[first:])
        if kind == _LINK:
            line = rest.partition("\n")[0]
            target, bar, _ = line.partition("|")
            is_hidden = target.partition(":")[0].strip().lower() in conventions.hidden_namespaces
            kept = len(line) if ":" in target and is_hidden else len(target) + 1 if bar else 0
        else:
            end = _PARAGRAPH_END.search(rest)
            kept = end.start() if end else len(rest)
        pieces[first:] = ["" if kind == _LINK else MARK, rest[kept:]]
    return "".join(pieces)

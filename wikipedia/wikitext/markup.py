"""Takes markup out of a page: comments, elements, templates, tables, and the brackets of links."""

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final

from schemas.languages import LANGUAGES
from wikipedia.wikitext.conventions import Conventions


class Limit(Enum):
    """What a page may hold, so that none takes long; a page's limits are known before its text is cleaned."""

    LEAD = "a lead of more than {:,} characters"
    OPEN_MARKUP = "more than {:,} templates, tables and links that stand open at one place"


class TooCostly(Exception):  # noqa: N818  it is a fate of a page, counted by its limit, and no error of anybody's
    """A page passes a limit.

    Args:
      limit: the one.
      most: what it allows.

    Attributes:
      limit: the one.
    """

    def __init__(self, limit: Limit, most: int) -> None:
        super().__init__(limit.value.format(most))
        self.limit = limit


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


def keep_group(pattern: re.Pattern[str], text: str) -> str:
    r"""What `pattern.sub(r"\1", text)` is, in a fifth of its time.

    Args:
      pattern: with one group, which is part of every match.
      text: any.

    Example:
      >>> keep_group(re.compile(" (,)"), "one , two ,")
      'one, two,'
    """
    return "".join(pattern.split(text))


# A comment that never ends takes the rest of the page.
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

_NOWIKI: Final = "nowiki"
# No later step takes these for markup, until entities are decoded.
_AS_ENTITIES: Final = {ord(sign): f"&#{ord(sign)};" for sign in "&<>[]{}|'=*#:;_"} | {ord("\n"): " "}
_RAW: Final = Elements(
    """
    nowiki includeonly math chem ce pre syntaxhighlight source timeline score hiero graph mapframe maplink templatedata
    templatestyles
    """.split()
)


def visible(wikitext: str) -> str:
    """The wikitext of a page without what MediaWiki does not read as wikitext.

    Comments, formulas, code and the like go; what stands in <nowiki> stays, as entities. References, tables and
    galleries stay, for their links are links of the page.

    Example:
      >>> visible("A<!-- [[b]] --> is <nowiki>''c''</nowiki><math>[[</math>.")
      'A is &#39;&#39;c&#39;&#39;.'
    """
    if MARK in wikitext:
        wikitext = wikitext.replace(MARK, "")
    if "\r" in wikitext:
        wikitext = wikitext.replace("\r\n", "\n").replace("\r", "\n")
    if "<!--" in wikitext:
        wikitext = _COMMENT.sub("", wikitext)
    return without_elements(wikitext, _RAW, instead=_shown) if "<" in wikitext else wikitext


def _shown(name: str, content: str) -> str:
    """What an element shows as text."""
    return content.translate(_AS_ENTITIES) if name == _NOWIKI else ""


_PLACE: Final = re.compile(r"\{([^{}]+)\}")


def render_template(content: str, conventions: Conventions) -> str | None:
    """The text of a template, or None if nothing of it is kept.

    Args:
      content: what stands between its braces, in which other templates and links are text by now.
      conventions: of the wiki.

    Example:
      >>> from wikipedia.wikitext.conventions import conventions_for
      >>> render_template("convert|5|km|mi", conventions_for("en", {}))
      '5 km'
    """
    name, bar, rest = content.partition("|")
    pattern = conventions.kept_template(name)
    if pattern is None:
        # A parser function has its first argument after a colon.
        name, colon, first = name.partition(":")
        pattern = conventions.kept_template(f"{name}:") if colon else None
        if pattern is None:
            return None
        rest, bar = f"{first}{bar}{rest}", "|"
    if "{" not in pattern:
        return pattern
    arguments = _arguments(rest) if bar else {}
    for choice in pattern.split("|"):
        places = _PLACE.findall(choice)
        if all(place in arguments for place in places):
            return _PLACE.sub(lambda found: arguments[found[1]], choice)
    return None


def _arguments(rest: str) -> dict[str, str]:
    """A template's arguments that are not empty, those without a name by their number."""
    arguments: dict[str, str] = {}
    number = 0
    for argument in rest.split("|"):
        # An attribute in a tag has an equals sign, too.
        name, equals, value = argument.partition("=")
        if not equals or "<" in name:
            number += 1
            name, value = str(number), argument
        if value := value.strip():
            arguments[name.strip().lower()] = value
    return arguments


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
      >>> from wikipedia.wikitext.conventions import conventions_for
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

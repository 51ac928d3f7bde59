"""Removes markup from a page: comments, elements, templates, tables, and the brackets of links."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from schemas.languages import LANGUAGES
from smooth_clir.wikipedia.wikitext.conventions import Conventions

MARK: Final = "\0"
"""The placeholder for something visible that was removed. No XML can contain it."""

MAX_OPEN: Final = 100
"""Largest number of open templates, tables and links. MediaWiki itself expands templates at most 100 deep."""


class TooCostly(Exception):  # noqa: N818  not an error: the page is left out and counted
    """A page exceeds a limit, so that reading it would take too long."""


class Elements:
    """The elements with these names, such as <ref>...</ref>.

    Args:
      names: the elements' names, in lower case.
    """

    def __init__(self, names: Iterable[str]) -> None:
        choice = "|".join(sorted(names))
        # Leaves out the content: an unclosed element's would be searched again from each opening tag.
        self.opening: Final = re.compile(rf"<({choice})\b[^<>]*>", re.IGNORECASE)
        self.closing: Final = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in choice.split("|")}


def without_elements(
    wikitext: str, elements: Elements, is_whole: bool = True, instead: Callable[[str, str], str] | None = None
) -> str:
    """Removes elements, in one pass; as in MediaWiki, the first closing tag of its name ends an element.

    Args:
      wikitext: a page or its beginning.
      elements: the elements to remove.
      is_whole: whether the page ends with this text. An unclosed element removes the rest of its line from a whole
        page, and the rest of the text from a page's beginning.
      instead: maps an element's name and content to its replacement; None leaves nothing.

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
    r"""Returns `pattern.sub(r"\1", text)`, in a fifth of the time; the pattern's only group must be part of each match.

    Example:
      >>> keep_group(re.compile(" (,)"), "one , two ,")
      'one, two,'
    """
    return "".join(pattern.split(text))


# A comment that is not closed takes the rest of the page.
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

_NOWIKI: Final = "nowiki"
# No later step reads these as markup, until entities are decoded.
_AS_ENTITIES: Final = {ord(sign): f"&#{ord(sign)};" for sign in "&<>[]{}|'=*#:;_"} | {ord("\n"): " "}
_RAW: Final = Elements(
    """
    nowiki includeonly math chem ce pre syntaxhighlight source timeline score hiero graph mapframe maplink templatedata
    templatestyles
    """.split()
)


def visible(wikitext: str) -> str:
    """Removes from a page all that MediaWiki does not read as wikitext: comments, formulas, code and the like.

    Keeps the content of <nowiki>, as entities; and references, tables and galleries, because their links are links of
    the page.

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
    return content.translate(_AS_ENTITIES) if name == _NOWIKI else ""


# A table's marks are at the start of a line; its end may also be the end of a template's last argument.
_TOKEN: Final = re.compile(r"\{\{|\}\}|\[\[|\]\]|\n[ \t:*#;]*\{\||\n[ \t:]*\|\}(?!\})")
_TEMPLATE, _TABLE, _LINK = "{{", "{|", "[["
_OPENERS: Final = frozenset([_TEMPLATE, _TABLE, _LINK])
# Most links: a title without a prefix, perhaps a label, and no other markup in either.
_PLAIN_LINK: Final = re.compile(r"\[\[(?:[^\[\]{}|:\n]+\|)?([^\[\]{}|:\n]+)\]\]")
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n|\n=|\Z")
_DROPPED: Final = Elements("ref references gallery imagemap table style rt rp inputbox categorytree blockquote".split())
# Prefixes of Wikipedia's other editions, in lower case; those of two letters are codes of ISO 639-1.
_EDITION: Final = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,}){0,2}|simple")
_NO_EDITIONS: Final = frozenset("doi rfc wmf voy iso pmid".split())


def skeleton(wikitext: str, conventions: Conventions, is_whole: bool = True) -> str:
    """Returns the lines of a page that a reader sees, still with the marks of headings, lists, bold and italics.

    Makes one pass over the tokens of markup. A template becomes its text, or a `MARK`; a link becomes its label;
    tables, references, galleries, files and categories are removed. So is unclosed markup: a template or table with the
    rest of its paragraph, a file with the rest of its line, the brackets of a link.

    Args:
      wikitext: the page or its beginning, from `visible`.
      conventions: the wiki's conventions.
      is_whole: whether the page ends with this text. Otherwise reads up to the last line that the rest of the page
        cannot change.

    Raises:
      TooCostly: more than `MAX_OPEN` templates, tables and links are open.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> skeleton("{{a|{{b}}}}[[File:c|[[d]]]]'''E''' is an [[f|g]].", conventions_for("en", {}))
      "\\x00'''E''' is an g."
    """
    text = without_elements(wikitext, _DROPPED, is_whole) if "<" in wikitext else wikitext
    text = keep_group(_PLAIN_LINK, "\n" + text)
    pieces: list[str] = []
    still_open: list[tuple[str, int]] = []
    at = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        token = text[end - 2 : end]
        pieces.append(text[at:start])
        at = end
        if token in _OPENERS:
            if len(still_open) == MAX_OPEN:
                raise TooCostly(f"more than {MAX_OPEN:,} open templates, tables and links")
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
            index = next((index for index in reversed(range(len(still_open))) if still_open[index][0] == opener), None)
            if index is None:
                continue
            _, first = still_open[index]
            del still_open[index:]
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
    """Returns the text that a link shows; `content` is the text between its brackets."""
    target, bar, label = content.partition("|")
    target = target.strip()
    if target.startswith("http"):
        return f"[{content}]"
    prefix, colon, name = target.partition(":")
    if colon and prefix:
        if conventions.hides(target) or _is_edition(prefix):
            return ""
    elif colon:
        target = name
    if label.strip():
        return label
    # The wiki fills an empty label from the title when a page is saved.
    return target.partition(":")[2].partition("(")[0].strip() or target.partition("(")[0] if bar else target


def _is_edition(prefix: str) -> bool:
    """Returns whether a prefix is that of another edition, so that its link shows nothing in the text."""
    if len(prefix) == 2:
        return prefix in LANGUAGES
    return _EDITION.fullmatch(prefix) is not None and prefix not in _NO_EDITIONS


def _closed(pieces: list[str], still_open: list[tuple[str, int]], conventions: Conventions) -> str:
    """Returns the text of a page that ends with unclosed markup."""
    for kind, first in reversed(still_open):
        content = "".join(pieces[first:])
        if kind == _LINK:
            line = content.partition("\n")[0]
            target, bar, _ = line.partition("|")
            kept = len(line) if ":" in target and conventions.hides(target) else len(target) + 1 if bar else 0
        else:
            end = _PARAGRAPH_END.search(content)
            kept = end.start() if end else len(content)
        pieces[first:] = ["" if kind == _LINK else MARK, content[kept:]]
    return "".join(pieces)


_ARGUMENT: Final = re.compile(r"\{(\??)([^{}=]+)(?:=([^{}]*))?\}")


def render_template(content: str, conventions: Conventions) -> str | None:
    """Returns the text of a template; None if nothing of it is kept.

    Args:
      content: the text between its braces, with other templates and links already rendered.
      conventions: the wiki's conventions.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> render_template("convert|5|km|mi", conventions_for("en", {}))
      '5 km'
    """
    name, bar, argument_text = content.partition("|")
    text = conventions.kept_template(name)
    if text is None:
        # A parser function has its first argument after a colon.
        name, colon, first = name.partition(":")
        text = conventions.kept_template(f"{name}:") if colon else None
        if text is None:
            return None
        argument_text, bar = f"{first}{bar}{argument_text}", "|"
    if not isinstance(text, tuple):
        return text(_arguments(argument_text) if bar else {})
    if "{" not in text[0]:
        return text[0]
    arguments = _arguments(argument_text) if bar else {}
    arguments["0"] = name.strip()
    for pattern in text:
        if all(name in arguments and value in ("", arguments[name]) for name, value in _needed(pattern)):
            return _ARGUMENT.sub(lambda match: "" if match[1] else arguments[match[2]], pattern)
    return None


@lru_cache(maxsize=1024)
def _needed(pattern: str) -> tuple[tuple[str, str], ...]:
    """Returns the names of the arguments that a pattern needs, each with the needed value, or ""."""
    return tuple((name, value) for _, name, value in _ARGUMENT.findall(pattern))


def _arguments(argument_text: str) -> dict[str, str]:
    """Returns a template's arguments that are not empty; unnamed arguments by their number."""
    arguments: dict[str, str] = {}
    number = 0
    for argument in argument_text.split("|"):
        # An attribute in a tag has an equals sign, too.
        name, equals, value = argument.partition("=")
        if not equals or "<" in name:
            number += 1
            name, value = str(number), argument
        if value := value.strip():
            arguments[name.strip().lower()] = value
    return arguments

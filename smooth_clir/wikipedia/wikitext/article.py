"""Reads a page's wikitext: its lead, text, links and kind, or the target of a redirect."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final, Literal, NamedTuple, get_args

from smooth_clir.wikipedia.wikitext.conventions import Conventions
from smooth_clir.wikipedia.wikitext.kept_templates import TITLE
from smooth_clir.wikipedia.wikitext.markup import MARK, TooCostly, skeleton, visible
from smooth_clir.wikipedia.wikitext.plain_text import plain_inline
from smooth_clir.wikipedia.wikitext.sentences import may_end, split_sentences
from smooth_clir.wikipedia.wikitext.words import count_words, first_words, name_of

Kind = Literal["article", "disambiguation", "list"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

MAX_LEAD: Final = 20_000
"""Longest lead in characters, without its templates; long leads have 5,000."""

_FIRST_READ: Final = 6_000
"""Characters of a page that are first read for its text; four times as many if they are not enough, and so on."""

_MAX_READ: Final = 1 << 18
"""Largest number of characters of a page that are read for its text: a sixth of a second of the worst markup."""

_LIKELY_LENGTH: Final = 6
"""Characters of a word and the space after it."""


class Wanted(NamedTuple):
    """The parts of articles that are read; the others stay empty, and take no time."""

    lead: bool = True
    text: bool = True
    links: bool = True


_ALL: Final = Wanted()


@dataclass(frozen=True)
class Article:
    """The parts of a page that a collection uses.

    Attributes:
      lead: the sentences above the first heading.
      text: the article's text from its start, cut to its first words.
      words: the number of the text's words as `count_words` counts them, at most the limit.
      link_targets: see `link_targets`.
      kind: whether the page is an article at all.
    """

    lead: tuple[str, ...]
    text: str
    words: int
    link_targets: tuple[str, ...]
    kind: Kind


def read_article(
    wikitext: str, title: str, conventions: Conventions, max_tokens: int = 200, wanted: Wanted = _ALL
) -> Article:
    """Reads a page that is not a redirect.

    Cleans only as much of a long page's beginning as the lead and the words take; searches all of it for links.

    Args:
      wikitext: the page.
      title: the page's title, which may show its kind.
      conventions: the wiki's conventions.
      max_tokens: largest number of words of the text, as `first_words` counts them.
      wanted: the parts to read.

    Raises:
      TooCostly: the page exceeds a limit.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> page = "{{Infobox}}The '''wolf''' is a [[mammal]].\\n\\nIt howls.\\n== Diet ==\\nIt eats [[meat]]."
      >>> read_article(page, "Wolf", conventions_for("en", {}), max_tokens=9)
      Article(lead=('The wolf is a mammal.', 'It howls.'), text='The wolf is a mammal. It howls. It eats', words=9, \
link_targets=('mammal', 'meat'), kind='article')
    """
    page = visible(wikitext)
    lead, text, words = _texts(page, title, conventions, max_tokens if wanted.text else 0)
    names = dict.fromkeys((name_of(title), *lead.names))
    paragraphs = lead.paragraphs if wanted.lead else []
    sentences = (split_sentences(paragraph, conventions.language, names) for paragraph in paragraphs)
    return Article(
        lead=tuple(chain.from_iterable(sentences)),
        text=text,
        words=words,
        link_targets=link_targets(page, conventions) if wanted.links else (),
        kind=_kind(page, title, conventions),
    )


class _Lead(NamedTuple):
    """The texts of a lead's paragraphs, and the bold names of the first paragraph within which a sentence might end."""

    paragraphs: list[str]
    names: list[str]


# A longer text in bold is not a name.
_BOLD: Final = re.compile("'''([^'\n][^\n]{0,80}?)'''")


def _texts(page: str, title: str, conventions: Conventions, max_tokens: int) -> tuple[_Lead, str, int]:
    """Returns the lead, the article's first words, and the number of these words."""
    read = _FIRST_READ
    while True:
        is_whole = read >= min(len(page), _MAX_READ)
        lines = skeleton(page[: min(read, _MAX_READ)], conventions, is_whole)
        page_prose = prose(lines.replace(TITLE, title), conventions)
        if sum(map(len, page_prose.lead)) > MAX_LEAD:
            raise TooCostly(f"a lead of more than {MAX_LEAD:,} characters")
        if is_whole or page_prose.has_sections:
            names = [name for name in _BOLD.findall(page_prose.lead[0]) if may_end(name)] if page_prose.lead else []
            lead = _Lead(_plain(page_prose.lead, conventions), _plain(names, conventions) if names else [])
            if max_tokens == 0:
                return lead, "", 0
            text, is_cut = _first_words(lead.paragraphs, page_prose.sections, conventions, max_tokens)
            if is_whole or is_cut:
                # A text whose last word goes beyond the limit counts as many words as the limit, cut or not.
                return lead, text, max_tokens if is_cut else min(count_words(text), max_tokens)
        read *= 4


def _plain(paragraphs: list[str], conventions: Conventions) -> list[str]:
    """Returns the texts of those paragraphs that have a word."""
    texts = (plain_inline(paragraph, conventions) for paragraph in paragraphs)
    return [text for text in texts if any(map(str.isalnum, text))]


def _first_words(lead: list[str], sections: list[str], conventions: Conventions, max_tokens: int) -> tuple[str, bool]:
    """Returns an article's first words, and whether more follow; cleans hardly more paragraphs than necessary."""
    texts = list(lead)
    length, likely = sum(map(len, texts)), _LIKELY_LENGTH * max_tokens
    for paragraph in sections:
        if length >= likely:
            text, is_cut = first_words(" ".join(texts), max_tokens)
            if is_cut:
                return text, True
            likely = 2 * length
        texts += _plain([paragraph], conventions)
        length += len(texts[-1]) if texts else 0
    return first_words(" ".join(texts), max_tokens)


def _kind(page: str, title: str, conventions: Conventions) -> Kind:
    """Returns the kind of a page, by its templates, switches and title."""
    if (
        conventions.disambiguation_titles.search(title)
        or conventions.disambiguation_templates.search(page)
        or ("__" in page and any(switch in page for switch in conventions.disambiguation_switches))
    ):
        return "disambiguation"
    return "list" if conventions.list_titles.match(title) else "article"


_DEEPEST: Final = 6
_RULE: Final = re.compile("-{4,}")
_QUOTATION: Final = {"«": "»", "„": "“”", "“": "”", '"': '"', "「": "」"}
_NO_WORDS: Final = f" \t{MARK}"


class Prose(NamedTuple):
    """A page's paragraphs, with their line ends, bold, italics, tags and entities.

    Attributes:
      lead: the paragraphs above the first heading.
      sections: the paragraphs below it.
      has_sections: whether there is a heading, so that the lead is complete.
    """

    lead: list[str]
    sections: list[str]
    has_sections: bool


def prose(skeleton: str, conventions: Conventions) -> Prose:
    """Returns the paragraphs of a page that are prose.

    A paragraph is a run of lines. Leaves out lists, indented lines (hatnotes, formulas, quotations), rows of tables
    that lost their beginning, lines entirely in italics (handmade hatnotes) or quotation marks, headings, and the
    sections that `Conventions.skipped_headings` names, with their subsections.

    Args:
      skeleton: the result of `skeleton`.
      conventions: the wiki's conventions.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> prose("A is\\nb.\\n* c\\n== D ==\\nE.\\n== See also ==\\nF.", conventions_for("en", {}))
      Prose(lead=['A is\\nb.'], sections=['E.'], has_sections=True)
    """
    lead: list[str] = []
    sections: list[str] = []
    paragraphs = lead
    lines: list[str] = []
    skipped_level = 0
    for raw in [*skeleton.split("\n"), ""]:
        line = raw.strip(_NO_WORDS)
        level = _level_of(line) if line[:1] == "=" else 0
        if line and not level and not _is_no_prose(line):
            if not skipped_level:
                # Keeps the marks, which `without_shells` needs later.
                lines.append(raw.strip())
            continue
        if lines and (line or not raw.strip()):
            paragraphs.append("\n".join(lines))
            lines = []
        if level:
            paragraphs = sections
            if not skipped_level or level <= skipped_level:
                skipped_level = level if _name_of(line[level:-level]) in conventions.skipped_headings else 0
    return Prose(lead, sections, paragraphs is sections)


def _level_of(line: str) -> int:
    """Returns a heading's level: the number of equals signs at both ends of its name; 0 for another line."""
    before, behind = (len(line) - len(stripped) for stripped in (line.lstrip("="), line.rstrip("=")))
    return min(before, behind, (len(line) - 1) // 2, _DEEPEST)


def _is_no_prose(line: str) -> bool:
    """Returns whether a line is part of a list or table, a rule, a hatnote or a quotation."""
    if line[0].isalnum():
        return False
    if line[0] in "*#:;|":
        return True
    if (closing := _QUOTATION.get(line[0])) and line[-1] in closing and len(line) > 2:
        return not any(sign in line[1:-1] for sign in closing)
    if line[0] == "'" and line.startswith("''") and line.endswith("''") and line[2:3] != "'":
        return "''" not in line[2:-2]
    return line[0] == "-" and _RULE.match(line) is not None


def _name_of(heading: str) -> str:
    """Returns a heading as the conventions list it."""
    return heading.replace("'", "").replace("’", "").replace(MARK, "").strip().lower()


# A label contains no other link, so each part of a page is searched at most twice, even with unclosed markup.
_LINK: Final = re.compile(r"\[\[([^\[\]|{}<>\n]+)(?:\|[^\[\]]*(?:(?:\](?!\])|\[(?!\[))[^\[\]]*)*)?\]\]")


def link_targets(wikitext: str, conventions: Conventions) -> tuple[str, ...]:
    """Returns the distinct targets of all links of a page, in order.

    Targets are as written, with sections, colons and underscores, and include other projects and languages, but not
    files and categories. A link in a template's argument counts, because it is in the wikitext; links that the template
    itself adds do not count.

    Args:
      wikitext: the result of `visible`.
      conventions: the wiki's conventions.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> link_targets("[[File:A.jpg|of [[b#c|d]]]] {{e|[[f_g]]}} [[b#c]]", conventions_for("en", {}))
      ('b#c', 'f_g')
    """
    targets = dict.fromkeys(_LINK.findall(wikitext))
    return tuple(target for target in targets if ":" not in target or not conventions.hides(target))


def redirect_target(wikitext: str, conventions: Conventions) -> str | None:
    """Returns the page to which a redirect leads, as written; None if the page is not a redirect.

    Args:
      wikitext: the page.
      conventions: the wiki's conventions, for its word; the English word is valid in every wiki.

    Example:
      >>> from smooth_clir.wikipedia.wikitext.conventions import conventions_for
      >>> redirect_target("#WEITERLEITUNG [[Köln#Lage|x]]", conventions_for("de", {}))
      'Köln#Lage'
    """
    # The first character shows that most pages are not redirects.
    beginning = wikitext[:1024].lstrip()
    if beginning[:1] not in ("#", "＃"):
        return None
    match = _redirect(conventions.redirect_words).match(beginning)
    return match[1].strip().removeprefix(":").strip() or None if match else None


@lru_cache(maxsize=16)
def _redirect(words: tuple[str, ...]) -> re.Pattern[str]:
    choice = "|".join(map(re.escape, words))
    return re.compile(rf"(?:{choice})\s*:?\s*\[\[([^\[\]|{{}}<>\n]+)(?:\|[^\n\]]*)?\]\]", re.IGNORECASE)

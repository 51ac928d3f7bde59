"""From a page's wikitext to what a collection takes of it."""

from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, NamedTuple, get_args

from components.wikipedia_gen.wikitext.conventions import Conventions
from components.wikipedia_gen.wikitext.count_words import count_words
from components.wikipedia_gen.wikitext.first_words import first_words
from components.wikipedia_gen.wikitext.link_targets import link_targets
from components.wikipedia_gen.wikitext.plain_inline import plain_inline
from components.wikipedia_gen.wikitext.prose import prose
from components.wikipedia_gen.wikitext.sentences import split_sentences
from components.wikipedia_gen.wikitext.skeleton import skeleton
from components.wikipedia_gen.wikitext.too_costly import Limit, TooCostly
from components.wikipedia_gen.wikitext.visible import visible

_LIKELY_LENGTH: Final = 6
"""Characters of a word and the space behind it."""

Kind = Literal["article", "disambiguation", "list"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

MOST_LEAD: Final = 20_000
"""Characters of a lead, without its templates; a long one has 5,000."""

_FIRST_READ: Final = 6_000
"""Characters of a page that are read for its text at first; four times as many if they are not enough, and so on."""

_MOST_READ: Final = 1 << 18
"""Characters of a page that are read for its text at most: a sixth of a second of the worst markup."""


class Wanted(NamedTuple):
    """What is read of articles: the rest is left empty, and takes no time."""

    lead: bool = True
    text: bool = True
    links: bool = True


ALL: Final = Wanted()


@dataclass(frozen=True)
class Article:
    """What a collection takes of a page.

    Attributes:
      lead: the sentences above the first heading.
      text: of the article from its start, cut to its first words.
      words: of the text.
      link_targets: see `link_targets`.
      kind: whether it is an article at all.
    """

    lead: tuple[str, ...]
    text: str
    words: int
    link_targets: tuple[str, ...]
    kind: Kind


def read_article(
    wikitext: str, title: str, conventions: Conventions, max_tokens: int | None = 200, wanted: Wanted = ALL
) -> Article:
    """Reads a page that is no redirect.

    Of a long page only the beginning is cleaned, as much as the lead and the words take; all of it is searched for
    links.

    Args:
      wikitext: of the page.
      title: of the page, which may tell its kind.
      conventions: of the wiki.
      max_tokens: words of the text at most, as `models.texts.tokens` counts them; None takes all.
      wanted: what is read.

    Raises:
      TooCostly: the page passes a limit.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> page = "{{Infobox}}The '''wolf''' is a [[mammal]].\\n\\nIt howls.\\n== Diet ==\\nIt eats [[meat]]."
      >>> read_article(page, "Wolf", conventions_for("en", {}), max_tokens=9)
      Article(lead=('The wolf is a mammal.', 'It howls.'), text='The wolf is a mammal. It howls. It eats', words=9, \
link_targets=('mammal', 'meat'), kind='article')
    """
    page = visible(wikitext)
    paragraphs, text, words = _texts(page, conventions, max_tokens if wanted.text else 0)
    sentences = (split_sentences(paragraph, conventions.language) for paragraph in paragraphs) if wanted.lead else ()
    return Article(
        lead=tuple(chain.from_iterable(sentences)),
        text=text,
        words=words,
        link_targets=link_targets(page, conventions) if wanted.links else (),
        kind=_kind(page, title, conventions),
    )


def _texts(page: str, conventions: Conventions, max_tokens: int | None) -> tuple[list[str], str, int]:
    """The lead's paragraphs, the article's first words, and how many these are."""
    read = _FIRST_READ if max_tokens is not None else _MOST_READ
    while True:
        is_whole = read >= min(len(page), _MOST_READ)
        found = prose(skeleton(page[: min(read, _MOST_READ)], conventions, is_whole), conventions)
        if sum(map(len, found.lead)) > MOST_LEAD:
            raise TooCostly(Limit.LEAD, MOST_LEAD)
        if is_whole or found.has_sections:
            lead = _plain(found.lead, conventions)
            if max_tokens == 0:
                return lead, "", 0
            text, is_cut = _first_words(lead, found.sections, conventions, max_tokens)
            if is_whole or is_cut:
                return lead, text, max_tokens if is_cut and max_tokens else count_words(text)
        read *= 4


def _plain(paragraphs: list[str], conventions: Conventions) -> list[str]:
    """Paragraphs' texts, of those that have any word."""
    texts = (plain_inline(paragraph, conventions) for paragraph in paragraphs)
    return [text for text in texts if any(map(str.isalnum, text))]


def _first_words(
    lead: list[str], sections: list[str], conventions: Conventions, max_tokens: int | None
) -> tuple[str, bool]:
    """An article's first words, and whether more follow; few more paragraphs are cleaned than they take."""
    if max_tokens is None:
        return " ".join([*lead, *_plain(sections, conventions)]), False
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
    """What a page is, by its templates, switches and title."""
    if (
        conventions.disambiguation_titles.search(title)
        or conventions.disambiguation_templates.search(page)
        or ("__" in page and any(switch in page for switch in conventions.disambiguation_switches))
    ):
        return "disambiguation"
    return "list" if conventions.list_titles.match(title) else "article"

"""The conventions of a wiki, by which its pages are read."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from components.wikipedia_gen.wikitext import kept_templates
from components.wikipedia_gen.wikitext.documented import ENGLISH, OF_LANGUAGE, Documented
from schemas.languages import LANGUAGES

_FILE_NAMESPACE, _CATEGORY_NAMESPACE = 6, 14
_NO_NAMES: Final = Documented()


@dataclass(frozen=True)
class Conventions:
    """By what the pages of a wiki are read.

    Attributes:
      language: of the wiki, ISO 639-1.
      is_general: whether nothing is documented here of this wiki, so that only what holds in all is known.
      hidden_namespaces: names of the file and category namespaces, in lower case: links to them show nothing.
      redirect_words: what begins a page that is a redirect, in lower case.
      disambiguation_templates: finds the template of a disambiguation page.
      disambiguation_switches: such as `__DISAMBIG__`.
      disambiguation_titles: finds a disambiguation page's title.
      list_titles: finds a list's title.
      skipped_headings: of sections without prose, in lower case.
      templates: the text of templates that are kept, see `kept_templates`.
      shell_words: words that say nothing once the template behind them is dropped, in lower case.
    """

    language: str
    is_general: bool
    hidden_namespaces: frozenset[str]
    redirect_words: tuple[str, ...]
    disambiguation_templates: re.Pattern[str]
    disambiguation_switches: tuple[str, ...]
    disambiguation_titles: re.Pattern[str]
    list_titles: re.Pattern[str]
    skipped_headings: frozenset[str]
    templates: Mapping[str, str]
    shell_words: frozenset[str]

    def kept_template(self, name: str) -> str | None:
        """The pattern of a template's text, or None if the template is dropped.

        Args:
          name: as it stands between the braces.
        """
        name = name.strip().replace("_", " ").lower()
        if (pattern := self.templates.get(name)) is not None:
            return pattern
        return next((text for prefix, text in kept_templates.PREFIXES.items() if name.startswith(prefix)), None)


def conventions_for(language: str, namespaces: Mapping[int, str]) -> Conventions:
    """The conventions of a language's wiki.

    Args:
      language: ISO 639-1 code.
      namespaces: number to local name, as the dump has them; the English names hold in every wiki.

    Raises:
      ValueError: the code is not of ISO 639-1.

    Example:
      >>> conventions_for("fr", {6: "Fichier", 14: "Catégorie"}).kept_template("unité")
      '{1} {2}|{1}'
      >>> conventions_for("br", {}).is_general
      True
    """
    if language not in LANGUAGES:
        raise ValueError(f"a wiki's language must be an ISO 639-1 code; got {language!r}. Take that of its domain.")
    own = OF_LANGUAGE.get(language, _NO_NAMES)
    local = (namespaces.get(number, "") for number in (_FILE_NAMESPACE, _CATEGORY_NAMESPACE))
    templates = _either(own.disambiguation_templates, ENGLISH.disambiguation_templates)
    words = _either(own.disambiguation_titles, ENGLISH.disambiguation_titles)
    beginnings = _either(own.list_beginnings, ENGLISH.list_beginnings)
    # A template's name has spaces or underscores.
    names = _choice(templates).replace(r"\ ", "[ _]")
    endings = f"|.*(?:{_choice(own.list_endings.split('|'))})$" if own.list_endings else ""
    return Conventions(
        language=language,
        is_general=language not in OF_LANGUAGE,
        hidden_namespaces=frozenset(
            name.lower() for name in (*local, *_either(own.file_names, ENGLISH.file_names)) if name
        ),
        redirect_words=_either(own.redirect_words, ENGLISH.redirect_words),
        disambiguation_templates=re.compile(rf"\{{\{{\s*(?:{names})\s*[|}}]", re.IGNORECASE),
        disambiguation_switches=_either(own.disambiguation_switch, ENGLISH.disambiguation_switch),
        disambiguation_titles=re.compile(rf"\((?:{_choice(words)})\)$", re.IGNORECASE),
        list_titles=re.compile(rf"(?:{_choice(beginnings)}){endings}"),
        skipped_headings=frozenset(_either(own.skipped_headings, ENGLISH.skipped_headings)),
        templates={**kept_templates.EVERYWHERE, **kept_templates.OF_LANGUAGE.get(language, {})},
        shell_words=frozenset(_either(own.shell_words, ENGLISH.shell_words)),
    )


def _either(*names: str) -> tuple[str, ...]:
    """All of several lists, each once."""
    return tuple(dict.fromkeys(name for some in names for name in some.split("|") if name))


def _choice(names: Iterable[str]) -> str:
    """A pattern that matches any of some names."""
    return "|".join(map(re.escape, names))

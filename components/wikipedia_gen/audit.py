"""What a collection gives away: words of the pages' names in queries, and documents that stand in two splits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_STEM: Final = 4
"""Letters of a word that begins like a word of the title: `wolves`, of Wolf, does not; `planets`, of Planet, does."""
_WORD: Final = re.compile(r"\w+")


@dataclass
class QueryAudit:
    """Counts queries in which words of their pages' names are left.

    Attributes:
      queries: looked at.
      title_words: with a word of the title. The words are removed, so that this must be 0.
      alike: with a word that begins as one of the title does, in four letters or all of it.
      redirect_words: with a word of four letters or more of a redirect to the page.
    """

    queries: int = 0
    title_words: int = 0
    alike: int = 0
    redirect_words: int = 0

    def add(self, query: str, title: str, redirects: Sequence[str]) -> None:
        """Looks at a query."""
        words, names = _words(query), _words(title)
        self.queries += 1
        self.title_words += not words.isdisjoint(names)
        stems = {name[:_STEM] for name in names if len(name) >= _STEM}
        self.alike += any(word[:_STEM] in stems for word in words)
        others = {word for name in redirects for word in _words(name) if len(word) >= _STEM}
        self.redirect_words += not words.isdisjoint(others - names)


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}

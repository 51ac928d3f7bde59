"""Where a redirect leads."""

import re
from functools import lru_cache

from components.wikipedia_gen.wikitext.conventions import Conventions


def redirect_target(wikitext: str, conventions: Conventions) -> str | None:
    """The page that a redirect names, as it stands there; None if the page is no redirect.

    Args:
      wikitext: of the page.
      conventions: of the wiki, for its word; the English one holds in every wiki.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> redirect_target("#WEITERLEITUNG [[Köln#Lage|x]]", conventions_for("de", {}))
      'Köln#Lage'
    """
    # Few pages are redirects, and those of most others are seen by their first sign.
    beginning = wikitext[:1024].lstrip()
    if beginning[:1] not in ("#", "＃"):
        return None
    found = _redirect(conventions.redirect_words).match(beginning)
    return found[1].strip().removeprefix(":").strip() or None if found else None


@lru_cache(maxsize=16)
def _redirect(words: tuple[str, ...]) -> re.Pattern[str]:
    choice = "|".join(map(re.escape, words))
    return re.compile(rf"(?:{choice})\s*:?\s*\[\[([^\[\]|{{}}<>\n]+)(?:\|[^\n\]]*)?\]\]", re.IGNORECASE)

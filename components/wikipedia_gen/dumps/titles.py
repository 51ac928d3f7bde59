"""Titles of a wiki's articles in the one form in which they are compared."""

import re
import unicodedata
from collections.abc import Collection
from html import unescape
from typing import Final
from urllib.parse import unquote_to_bytes

from components.wikipedia_gen.dumps.interwiki import INTERWIKI
from components.wikipedia_gen.dumps.namespace_names import ALIASES, CANONICAL
from components.wikipedia_gen.dumps.site_info import SiteInfo

_SPACES: Final = "_\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BIDI: Final = "\u200e\u200f\u202a-\u202e"
_CHANGED: Final = re.compile(f"[{_SPACES}{_BIDI}]")
"""What is written otherwise in a title."""

_ODD: Final = re.compile(rf"[\x00-\x1f#%&:<>\[\]{{|}}~\x7f\ufffd{_SPACES}{_BIDI}]")
"""What makes a link's target more than a title."""

_RUN_OF_SPACES: Final = re.compile(f"[ {_SPACES}]+")
_RUN_OF_BIDI: Final = re.compile(f"[{_BIDI}]+")
_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,8}|[A-Za-z][A-Za-z0-9]{1,40});")
_ILLEGAL: Final = re.compile(
    r"[\x00-\x1f#<>\[\]{|}\x7f\ufffd]"
    r"|%[0-9A-Fa-f]{2}|&(?:#[0-9]+|#x[0-9A-Fa-f]+|[A-Za-z0-9\x80-\U0010ffff]+);"
    r"|~~~|(?:^|/)\.\.?(?:/|$)"
)
_MOST_BYTES: Final = 255
_MOST_PLAIN: Final = _MOST_BYTES // 4
"""Characters that come to no more bytes than a title may have."""

_DOTTED: Final = frozenset(["az", "kaa", "tr"])
"""Languages in which the capital of i has a dot."""


class Titles:
    """Brings titles and links of one wiki into the form that the titles of its pages have, as MediaWiki does.

    Args:
      site: of the wiki.
      interwiki: lower-case prefixes of links that lead to other wikis.

    Example:
      >>> titles = Titles(SiteInfo("frwiki", "fr", True, {0: "", 6: "Fichier"}, "0.11"))
      >>> titles.normal("loup_gris"), titles.of_link(" loup&nbsp;gris#Habitat "), titles.of_link("2001: l'odyssée")
      ('Loup gris', 'Loup gris', "2001: l'odyssée")
      >>> titles.of_link("fichier:Loup.jpg"), titles.of_link("File:Loup.jpg"), titles.of_link(":en:Wolf")
      (None, None, None)
    """

    def __init__(self, site: SiteInfo, interwiki: Collection[str] = INTERWIKI) -> None:
        self._first_letter = site.first_letter
        self._dotted = site.language in _DOTTED
        own = (name.lower() for name in site.namespaces.values() if name)
        self._prefixes = {*own, *CANONICAL, *ALIASES.get(site.language, ()), *interwiki}
        self._own_code = site.code
        if self._own_code:
            self._prefixes.add(self._own_code)

    def normal(self, title: str) -> str:
        """A title, of the main namespace, in the form of the page's own.

        Underscores and any other spaces become single ones, marks of the writing's direction go, the text is in NFC,
        and begins with a capital where the wiki has it so.
        """
        if _CHANGED.search(title) or "  " in title:
            title = _RUN_OF_SPACES.sub(" ", _RUN_OF_BIDI.sub("", title))
        return self._capital(_nfc(title.strip(" ")))

    def of_link(self, target: str) -> str | None:
        """The article to which a link leads.

        Args:
          target: what stands in `[[target]]` or `[[target|...]]`.

        Returns:
          its title, whether there is such a page or not; None for a section of the same page, for what leads to
          another namespace or wiki, and for what MediaWiki shows as plain text.
        """
        # Nine in ten links are plain titles, and a page has dozens: these take the short way.
        if len(target) > _MOST_PLAIN or _ODD.search(target) or "  " in target or "/." in target:
            return self._of_odd_link(target)
        if target[:1] in " ." or target[-1:] == " ":
            return self._of_odd_link(target)
        return self._capital(_nfc(target))

    def _of_odd_link(self, target: str) -> str | None:
        decoded = _decoded(target)
        if decoded is None:
            return None
        title = _RUN_OF_SPACES.sub(" ", _RUN_OF_BIDI.sub("", decoded)).strip(" ")
        title = title.removeprefix(":").lstrip(" ")
        while ":" in title:
            prefix, _, rest = title.partition(":")
            prefix = prefix.rstrip(" ").lower()
            if prefix not in self._prefixes:
                break
            if prefix != self._own_code:
                return None
            title = rest.lstrip(" ")
        return self._checked(title.partition("#")[0].rstrip(" "))

    def _checked(self, title: str) -> str | None:
        """A title, unless none can be like this."""
        if (
            not title
            or title[0] == ":"
            or _ILLEGAL.search(title)
            or len(title.encode("utf-8", "replace")) > _MOST_BYTES
        ):
            return None
        return self._capital(_nfc(title))

    def _capital(self, title: str) -> str:
        first = title[:1]
        if not self._first_letter or not first.islower():
            return title
        if first == "i" and self._dotted:
            return f"İ{title[1:]}"
        # MediaWiki keeps a letter whose capital is two, and those of Georgian.
        capital = first.upper()
        return title if len(capital) > 1 or "\u10d0" <= first <= "\u10ff" else capital + title[1:]


def _nfc(title: str) -> str:
    return title if title.isascii() else unicodedata.normalize("NFC", title)


def _decoded(target: str) -> str | None:
    """A link's target without percent escapes and entities; None if the bytes so escaped are no text."""
    if "%" in target and _ESCAPE.search(target):
        try:
            target = unquote_to_bytes(target).decode()
        except UnicodeDecodeError:
            return None
    return _ENTITY.sub(lambda found: unescape(found.group()), target) if "&" in target else target

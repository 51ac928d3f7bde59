"""Takes out what a dropped template leaves empty: parentheses, commas, spaces."""

import re
from typing import Final

from components.wikipedia_gen.wikitext.conventions import Conventions
from components.wikipedia_gen.wikitext.keep_group import keep_group
from components.wikipedia_gen.wikitext.without_elements import MARK

_PARENTHESIS: Final = re.compile(r"\(([^()（）]*)\)|（([^()（）]*)）")
_SEPARATOR: Final = re.compile(r"([;,،؛；、，])")
_MOST_NESTED: Final = 3
# In brackets or between slashes, with a sign that only phonetic writing has: U+0250 to U+02AF, stress and length marks.
_PHONETIC: Final = re.compile(r"\[[^\[\]]*\]|/[^/\[\]]*[ɐ-ʯˈˌː][^/\[\]]*/")
_PHONETIC_SIGN: Final = re.compile("[ɐ-ʯˈˌː]")
_EMPTY: Final = re.compile(r"[\s;,:.،؛；、，–—-]*")
_BETWEEN_COMMAS: Final = re.compile(rf"([,،、，;；])\s?{MARK}[\s{MARK}]*[,،、，;；]")
_GAP: Final = re.compile(rf"\s*{MARK}[\s{MARK}]*(?P<sign>(?<!\s)[,.;:!?)،؛؟。、，）»”]|)")
_NO_WORDS: Final = f" \n{MARK}"


def without_shells(text: str, conventions: Conventions) -> str:
    """A text without what is left where templates were dropped, and without pronunciations.

    A parenthesis is read as parts between commas and semicolons. A part goes
      - if nothing is left in it but punctuation,
      - if a template was dropped there, and what is left ends with a colon ("French:") or has no words but those that
        lead up to such templates ("born", "pronounced");
      - if it holds phonetic writing in brackets or between slashes;
    and the parenthesis goes with its last part.

    Args:
      text: with a `MARK` where a template was.
      conventions: of the wiki, for the words.

    Example:
      >>> from components.wikipedia_gen.wikitext.conventions import conventions_for
      >>> without_shells("France (French: [fʁɑ̃s]; \\0, born 5 May) is \\0.", conventions_for("en", {}))
      'France (born 5 May) is.'
    """
    for _ in range(_MOST_NESTED):
        if "(" not in text and "（" not in text:
            break
        cleaned = _PARENTHESIS.sub(lambda found: _kept(found, conventions), text)
        if cleaned == text:
            break
        text = cleaned
    if MARK in text:
        text = _GAP.sub(_closed, keep_group(_BETWEEN_COMMAS, text))
    return text


def _kept(found: re.Match[str], conventions: Conventions) -> str:
    """What stays of a parenthesis: a mark if nothing does."""
    whole = found[0]
    content = whole[1:-1]
    if MARK not in content and not _PHONETIC_SIGN.search(content) and not _EMPTY.fullmatch(content):
        return whole
    parts = _SEPARATOR.split(content)
    kept = ""
    for place in range(0, len(parts), 2):
        part = parts[place]
        if not _is_shell(part, conventions):
            kept += (parts[place - 1] if kept else "") + part
    return f"{whole[0]}{kept.strip(_NO_WORDS)}{whole[-1]}" if kept else MARK


def _is_shell(part: str, conventions: Conventions) -> bool:
    """Whether a part of a parenthesis has nothing to say."""
    if phonetic := _PHONETIC.search(part):
        return bool(_PHONETIC_SIGN.search(phonetic[0])) or MARK in phonetic[0]
    rest = part.replace(MARK, " ")
    if _EMPTY.fullmatch(rest):
        return True
    if MARK not in part:
        return False
    return part.rstrip(f" {MARK}").endswith((":", "：")) or all(
        word in conventions.shell_words for word in rest.lower().split()
    )


def _closed(found: re.Match[str]) -> str:
    """What stands where a template was: a space, if there was one, but none before punctuation that followed it."""
    if found["sign"]:
        return found["sign"]
    return " " if found[0].strip(MARK) else ""

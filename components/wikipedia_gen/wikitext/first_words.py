"""The first words of a text."""

import re
from functools import lru_cache
from typing import Any, Final

import regex

# As `models.texts.tokens` parts words, but for NFKC, which makes two words of ½: runs of digits; each character
# of a script written without spaces, with the marks that belong to it; runs of other letters, their marks and joiners.
_SPACELESS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
WORD: Final = (
    rf"(?:[[\p{{L}}\p{{M}}]--[{_SPACELESS}]][[\p{{L}}\p{{M}}\u200c\u200d]--[{_SPACELESS}]]*+"
    rf"|\p{{N}}++|[{_SPACELESS}][\p{{M}}\u30fc]*+)"
)
_NO_WORD: Final = r"[^\p{L}\p{M}\p{N}]*+"
_OPENING: Final = " ([{<«„“‚（［｛「『【〈《〔"

# The same for texts of Latin, Greek, Cyrillic and Armenian letters that no marks follow, and the usual punctuation,
# in a fifth of the time: there `re` knows what a letter is.
IS_PLAIN: Final = re.compile("[\0-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2060]*")
PLAIN_WORD: Final = r"(?:[^\W\d_²³¹¼-¾]+|[\d²³¹¼-¾]+)"
_PLAIN_NO_WORD: Final = r"[\W_]*"


def first_words(text: str, count: int) -> tuple[str, bool]:
    """The beginning of a text that has so many words, with the punctuation behind the last.

    Args:
      text: clean.
      count: of words, at most.

    Returns:
      the beginning, and whether more words follow it.

    Example:
      >>> first_words("Un arbre, (un chêne)", 2)
      ('Un arbre,', True)
      >>> first_words("東京 2020.", 3)
      ('東京 2020.', False)
    """
    found = _words(count, bool(IS_PLAIN.fullmatch(text))).match(text)
    if found is None or found.end() == len(text):
        return text, False
    return str(found[0]).rstrip(_OPENING), True


@lru_cache(maxsize=8)
def _words(count: int, is_plain: bool) -> Any:
    """So many words at most, and what stands between and behind them."""
    if is_plain:
        return re.compile(rf"(?:{_PLAIN_NO_WORD}{PLAIN_WORD}){{0,{count}}}{_PLAIN_NO_WORD}")
    return regex.compile(rf"(?:{_NO_WORD}{WORD}){{0,{count}}}+{_NO_WORD}", regex.VERSION1)

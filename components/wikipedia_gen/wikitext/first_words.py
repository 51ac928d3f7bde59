"""The first words of a text."""

from functools import lru_cache
from typing import Final

import regex

# As `models.tokens.tokenize` parts words, but for NFKC, which makes two words of ½: runs of digits; each character
# of a script written without spaces, with the marks that belong to it; runs of other letters and their marks.
_SPACELESS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD: Final = rf"(?:[[\p{{L}}\p{{M}}]--[{_SPACELESS}]]++|\p{{N}}++|[{_SPACELESS}][\p{{M}}\u30fc]*+)"
_NO_WORD: Final = r"[^\p{L}\p{M}\p{N}]*+"


def first_words(text: str, count: int) -> tuple[str, int]:
    """The beginning of a text that has so many words, with the punctuation behind the last.

    Args:
      text: clean.
      count: of words, at most.

    Returns:
      the beginning, and how many words it lacks.

    Example:
      >>> first_words("Un arbre, (un chêne)", 2)
      ('Un arbre,', 0)
      >>> first_words("東京 2020.", 4)
      ('東京 2020.', 1)
    """
    found = _words(count).match(text)
    if found is None or found.end() == len(text):
        return text, count - len(_every_word().findall(text)) if found else count
    return regex.sub(r"[\s\p{Ps}]+$", "", found[0]), 0


@lru_cache(maxsize=8)
def _words(count: int) -> "regex.Pattern[str]":
    """So many words at most, and what stands between and behind them."""
    return regex.compile(rf"(?:{_NO_WORD}{_WORD}){{0,{count}}}+{_NO_WORD}", regex.VERSION1)


@lru_cache(maxsize=1)
def _every_word() -> "regex.Pattern[str]":
    return regex.compile(_WORD, regex.VERSION1)

"""The words of a clean text: the first ones, their number, and a sentence without those of a title."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import regex

from schemas.word_characters import (
    APOSTROPHE_LETTERS,
    APOSTROPHES,
    NUMBERS_IN_SIGNS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
)

# Words as `models.texts.tokens.tokenize` separates them, without NFKC, which makes two words of ½: runs of digits; each
# character of a script written without spaces, with its marks; runs of other letters, their marks, and characters that
# are to be ignored. No word begins with a mark.
_SCRIPTS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_SPACELESS: Final = rf"[[{_SCRIPTS}]--[\p{{M}}\p{{P}}\p{{S}}]]"
_PARTING: Final = rf"{APOSTROPHE_LETTERS}\u200b"
_WORD: Final = (
    rf"(?:[\p{{L}}--[{_SCRIPTS}{_PARTING}\p{{DI}}]][[\p{{L}}\p{{M}}\p{{DI}}]--{_SPACELESS}--[{_PARTING}]]*+"
    rf"|[{SUPERSCRIPTS}]++|[{SUBSCRIPTS}]++|[{NUMBERS_IN_SIGNS}]"
    rf"|[\p{{N}}--[{SUPERSCRIPTS}{SUBSCRIPTS}{NUMBERS_IN_SIGNS}]]++|{_SPACELESS}[\p{{M}}\u30fc]*+)"
)
_NO_WORD: Final = rf"[[^\p{{L}}\p{{N}}]{_PARTING}\p{{DI}}]*+"
_OPENING: Final = " ([{<«„“‚（［｛「『【〈《〔"

# The same for texts of Latin, Greek, Cyrillic and Armenian letters without combining marks and with the usual
# punctuation, in a fifth of the time: there `re` knows what a letter is.
_IS_PLAIN: Final = re.compile(
    "[\0-\xac\xae-\u02b8\u0370-\u0373\u0375-\u0482\u048a-\u0558\u055a-\u058f\u2010-\u2029\u202f-\u205f]*"
)
_PLAIN_WORD: Final = r"(?:[^\W\d_²³¹¼-¾]+|\d+|[²³¹]+|[¼-¾])"
_PLAIN_NO_WORD: Final = r"[\W_]*"


def first_words(text: str, count: int) -> tuple[str, bool]:
    """Returns the beginning of a text with at most so many words, and whether more words follow.

    The punctuation after the last word belongs to the beginning.

    Example:
      >>> first_words("Un arbre, (un chêne)", 2)
      ('Un arbre,', True)
      >>> first_words("東京 2020.", 3)
      ('東京 2020.', False)
    """
    found = _first(count, bool(_IS_PLAIN.fullmatch(text))).match(text)
    if found is None or found.end() == len(text):
        return text, False
    return str(found[0]).rstrip(_OPENING), True


def count_words(text: str) -> int:
    """Returns the number of a text's words.

    Example:
      >>> count_words("Un arbre, (un chêne)"), count_words("東京 2020.")
      (4, 3)
    """
    return len(_word(bool(_IS_PLAIN.fullmatch(text))).findall(text))


@lru_cache(maxsize=8)
def _first(count: int, is_plain: bool) -> Any:
    """Returns a pattern of at most so many words, and the text between and after them."""
    if is_plain:
        return re.compile(rf"(?:{_PLAIN_NO_WORD}{_PLAIN_WORD}){{0,{count}}}{_PLAIN_NO_WORD}")
    return regex.compile(rf"(?:{_NO_WORD}{_WORD}){{0,{count}}}+{_NO_WORD}", regex.VERSION1)


@lru_cache(maxsize=2)
def _word(is_plain: bool) -> Any:
    return re.compile(_PLAIN_WORD) if is_plain else regex.compile(_WORD, regex.VERSION1)


_IN_PARENTHESIS: Final = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_ASCII_WORD: Final = re.compile(r"\w+", re.ASCII)
"""A word whose letters have at most one other case."""
_EDGES: Final = ' ,.;:!?"()[]«»„“”、。・،؛؟'
# Scripts written without spaces between words, so that words have no boundaries.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_HAS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
_APOSTROPHE: Final = re.compile(f"[{APOSTROPHES}]")
"""Any apostrophe in an escaped word: pages do not write the one of their titles."""


def name_of(title: str) -> str:
    """Returns a title without the parenthesis at its end, which is not part of the name.

    Example:
      >>> name_of("Mercury (planet)"), name_of("(a)")
      ('Mercury', '(a)')
    """
    return (title.endswith((")", "）")) and _IN_PARENTHESIS.sub("", title)) or title


def without_title(sentence: str, titles: Sequence[str]) -> str:
    """Takes the words of one or more titles out of a sentence, in any case.

    A title is read as `name_of` gives it. Its words are separated by white space and have no punctuation at their
    edges. They go where they are whole words. In scripts written without spaces (Han, kana, Thai, Lao, Burmese, Khmer)
    a word of two or more characters goes everywhere, even within another word, because otherwise most sentences would
    keep the title; a single character goes only where it stands by itself.

    Args:
      sentence: a clean sentence.
      titles: the page's title, and perhaps those of its redirects.

    Returns:
      the rest, with single spaces.

    Example:
      >>> without_title("The Grey Wolf is a wolf of woods.", ["Wolf (animal)", "Grey wolf"])
      'The is a of woods.'
    """
    words = dict.fromkeys(word.strip(_EDGES) for title in titles for word in name_of(title).split())
    words.pop("", None)
    if sentence.isascii() and all(map(_ASCII_WORD.fullmatch, words)):
        # The same in a tenth of the time: to compile a page's pattern takes longer than all else.
        lower = {word.lower() for word in words}
        rest = _ASCII_WORD.sub(lambda found: "" if found[0].lower() in lower else found[0], sentence)
    else:
        choices = "|".join(map(_pattern, words))
        # `re` caches its last patterns, so all sentences of one page share theirs.
        rest = re.sub(choices, "", sentence, flags=re.IGNORECASE) if choices else sentence
    return " ".join(rest.split())


def _pattern(word: str) -> str:
    """Returns the pattern of a title's word in a sentence."""
    escaped = _APOSTROPHE.sub(f"[{APOSTROPHES}]", re.escape(word))
    if not _HAS_UNSPACED.search(word):
        return rf"\b{escaped}\b"
    return escaped if len(word) > 1 else rf"(?<![{_UNSPACED}]){escaped}(?![{_UNSPACED}])"

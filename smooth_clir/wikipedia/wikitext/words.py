"""Cuts a clean text after its first words, counts its words, and removes a title's words from a sentence."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import regex

from schemas.word_characters import (
    APOSTROPHE_LETTERS,
    APOSTROPHES,
    HAN,
    KANA,
    NUMBERS_IN_SIGNS,
    PARTS,
    PARTS_OF_HAN,
    PARTS_OF_KANA,
    PARTS_OF_SYLLABIC,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    SYLLABIC,
    WITHIN_WORDS,
)


def _class(scripts: Sequence[str]) -> str:
    """Returns a regular expression's class of all characters of scripts."""
    return "[" + "".join(rf"\p{{{script}}}" for script in scripts) + "]"


# Words as `models.texts.tokens.tokenize` separates them, without NFKC, which makes two words of ½ and two letters of
# the Lao ໜ: runs of digits; runs of letters of scripts with spaces, their marks, and ignored characters; runs of
# characters of scripts without spaces, each with its marks, which `_runs` divides. No word begins with a mark.
_SCRIPTS: Final = _class([*HAN, *KANA, *SYLLABIC])
_NO_LETTERS: Final = r"[\p{M}\p{P}\p{S}\p{N}]"
_SPACELESS: Final = rf"[{_SCRIPTS}--{_NO_LETTERS}]"
_PARTING: Final = rf"{APOSTROPHE_LETTERS}\u200b"
# Characters that belong to the one before. U+30FC prolongs a kana; in NFKC the half-width signs become it or marks.
_BEHIND: Final = rf"[[\p{{M}}\p{{DI}}{WITHIN_WORDS}\u30fc\uff70\uff9e\uff9f]--\u200b]*+"
_WORD: Final = (
    rf"(?:[\p{{L}}--[{_SCRIPTS}{_PARTING}\p{{DI}}]][[\p{{L}}\p{{M}}\p{{DI}}{WITHIN_WORDS}]--{_SPACELESS}--[{_PARTING}]]*+"
    rf"|[{SUPERSCRIPTS}]++|[{SUBSCRIPTS}]++|[{NUMBERS_IN_SIGNS}]"
    rf"|[\p{{N}}--[{SUPERSCRIPTS}{SUBSCRIPTS}{NUMBERS_IN_SIGNS}]]++)"
)
_KINDS: Final = ((HAN, 0, PARTS_OF_HAN), (KANA, 1, PARTS_OF_KANA), (SYLLABIC, 1, PARTS_OF_SYLLABIC))
"""Scripts without spaces, the number of characters that their words share with the next word, and a word's parts."""
_RUNS: Final = "|".join(rf"((?:[{_class(scripts)}--{_NO_LETTERS}]{_BEHIND})++)" for scripts, _, _ in _KINDS)
_NO_WORD: Final = rf"[[^\p{{L}}\p{{N}}]{_PARTING}\p{{DI}}]*+"
_OPENING: Final = " ([{<«„“‚（［｛「『【〈《〔"

# A shortcut for texts of Latin, Greek, Cyrillic and Armenian letters without marks and with the usual punctuation: `re`
# knows these letters, and takes a fifth of the time.
_IS_PLAIN: Final = re.compile(
    "[\0-\xac\xae-\u02b8\u0370-\u0373\u0375-\u0482\u048a-\u0558\u055a\u055d\u055f-\u058f\u2010-\u2029\u202f-\u205f]*"
)
_PLAIN_WORD: Final = r"(?:[^\W\d_²³¹¼-¾]+|\d+|[²³¹]+|[¼-¾])"
_PLAIN_NO_WORD: Final = r"[\W_]*"


def first_words(text: str, count: int) -> tuple[str, bool]:
    """Returns the beginning of a text with at most `count` words, and whether more words follow.

    In scripts written without spaces, words are shorter, so the limit is counted in parts. A word of another script and
    a number have 6 parts, a Han character 3. In kana, and in Thai, Lao, Khmer and Burmese, each two consecutive
    characters are a word, of 3 and of 2 parts, and so is a single character. The last word that begins within the limit
    is kept whole, with the punctuation after it.

    Example:
      >>> first_words("Un arbre, (un chêne)", 2)
      ('Un arbre,', True)
      >>> first_words("東京都 2020.", 1), first_words("東京 2020.", 2)
      (('東京', True), ('東京 2020.', False))
      >>> first_words("ひらがな", 1)  # the words are ひら, らが and がな
      ('ひらが', True)
    """
    is_plain = bool(_IS_PLAIN.fullmatch(text))
    end = int(_first(count, is_plain).match(text).end())
    if not is_plain and _unit().match(text, end):
        end = _end_of_first(text, PARTS * count)
    return (text, False) if end == len(text) else (text[:end].rstrip(_OPENING), True)


def count_words(text: str) -> int:
    """Returns the number of a text's words: its parts, as `first_words` counts them, divided by six and rounded up.

    Translations have about the same number, so the same limit suits all languages. A beginning from `first_words` may
    have a word more than its limit, because its last word is whole.

    Example:
      >>> count_words("Un arbre, (un chêne)"), count_words("東京 2020."), count_words("ひらがな")
      (4, 2, 2)
    """
    is_plain = bool(_IS_PLAIN.fullmatch(text))
    if is_plain or not _unit().search(text):
        return len(_word(is_plain).findall(text))
    return -(-sum(run.words * run.parts for run in _runs(text)) // PARTS)


class _Run(NamedTuple):
    """A run of characters of a script without spaces, or a single word of another script.

    Attributes:
      start: the run's offset in the text.
      units: the run's characters with their marks, or the single word.
      shared: the number of units that a word shares with the next word.
      parts: the parts of each word.
    """

    start: int
    units: list[str]
    shared: int
    parts: int

    @property
    def words(self) -> int:
        return max(len(self.units) - self.shared, 1)


def _runs(text: str) -> Iterator[_Run]:
    for match in _word_or_run().finditer(text):
        if match.lastindex is None:
            yield _Run(match.start(), [match[0]], 0, PARTS)
        else:
            _, shared, parts = _KINDS[match.lastindex - 1]
            yield _Run(match.start(), _unit().findall(match[0]), shared, parts)


def _end_of_first(text: str, parts: int) -> int:
    """Returns the end of the words that begin within the first `parts` parts, and of the punctuation after them."""
    for run in _runs(text):
        if parts <= 0:
            return run.start
        words = -(-parts // run.parts)
        if words < run.words:
            return run.start + sum(map(len, run.units[: words + run.shared]))
        parts -= run.words * run.parts
    return len(text)


@lru_cache(maxsize=8)
def _first(count: int, is_plain: bool) -> Any:
    """Returns a pattern of at most `count` words of scripts with spaces, and the text between and after them."""
    if is_plain:
        return re.compile(rf"(?:{_PLAIN_NO_WORD}{_PLAIN_WORD}){{0,{count}}}{_PLAIN_NO_WORD}")
    return regex.compile(rf"(?:{_NO_WORD}{_WORD}){{0,{count}}}+{_NO_WORD}", regex.VERSION1)


@lru_cache(maxsize=2)
def _word(is_plain: bool) -> Any:
    return re.compile(_PLAIN_WORD) if is_plain else regex.compile(_WORD, regex.VERSION1)


@lru_cache(maxsize=1)
def _word_or_run() -> Any:
    """Returns a pattern of words and runs; its groups are the runs, in the order of `_KINDS`."""
    return regex.compile(f"{_WORD}|{_RUNS}", regex.VERSION1)


@lru_cache(maxsize=1)
def _unit() -> Any:
    """Returns a pattern of a character of a script without spaces, with its marks; two Thai or Lao e count as one."""
    return regex.compile(rf"(?:เเ|ເເ|{_SPACELESS}){_BEHIND}", regex.VERSION1)


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
"""Any apostrophe in an escaped word, because pages often write another apostrophe than their titles."""


def name_of(title: str) -> str:
    """Returns a title without the parenthesis at its end, which is not part of the name.

    Example:
      >>> name_of("Mercury (planet)"), name_of("(a)")
      ('Mercury', '(a)')
    """
    return (title.endswith((")", "）")) and _IN_PARENTHESIS.sub("", title)) or title


def without_title(sentence: str, titles: Sequence[str]) -> str:
    """Removes the words of one or more titles from a sentence, in any case.

    The words of a title are those of `name_of`, without punctuation at their edges. Only whole words are removed. But
    in scripts written without spaces (Han, kana, Thai, Lao, Burmese, Khmer) a word of two or more characters is removed
    even within another word, because otherwise most sentences would keep the title; a single character is removed only
    where it is isolated.

    Args:
      sentence: a clean sentence.
      titles: the page's title, and perhaps the titles of redirects to it.

    Returns:
      the rest, with single spaces.

    Example:
      >>> without_title("The Grey Wolf is a wolf of woods.", ["Wolf (animal)", "Grey wolf"])
      'The is a of woods.'
    """
    words = dict.fromkeys(word.strip(_EDGES) for title in titles for word in name_of(title).split())
    words.pop("", None)
    if sentence.isascii() and all(map(_ASCII_WORD.fullmatch, words)):
        # A shortcut, in a tenth of the time: compiling a page's pattern takes longest.
        lower = {word.lower() for word in words}
        remaining = _ASCII_WORD.sub(lambda match: "" if match[0].lower() in lower else match[0], sentence)
    else:
        choices = "|".join(map(_pattern, words))
        # `re` caches its last patterns, so all sentences of a page share theirs.
        remaining = re.sub(choices, "", sentence, flags=re.IGNORECASE) if choices else sentence
    return " ".join(remaining.split())


def _pattern(word: str) -> str:
    """Returns the pattern of a title's word in a sentence."""
    escaped = _APOSTROPHE.sub(f"[{APOSTROPHES}]", re.escape(word))
    if not _HAS_UNSPACED.search(word):
        return rf"\b{escaped}\b"
    return escaped if len(word) > 1 else rf"(?<![{_UNSPACED}]){escaped}(?![{_UNSPACED}])"

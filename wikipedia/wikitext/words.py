"""Words of a clean text: its first words, their number, and a sentence without those of a title."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import regex

# As `models.texts.tokens.tokenize` parts words, but for NFKC, which makes two words of ½: runs of digits; each sign
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


def count_words(text: str) -> int:
    """The words of a text, as `first_words` counts them.

    Example:
      >>> count_words("Un arbre, (un chêne)"), count_words("東京 2020.")
      (4, 3)
    """
    return len(_word(bool(IS_PLAIN.fullmatch(text))).findall(text))


@lru_cache(maxsize=2)
def _word(is_plain: bool) -> Any:
    return re.compile(PLAIN_WORD) if is_plain else regex.compile(WORD, regex.VERSION1)


_IN_PARENTHESIS: Final = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
"""A word whose letters have one other case at most."""
_EDGES: Final = ' ,.;:!?"()[]«»„“”、。・،؛؟'
# Scripts whose words no space parts: no boundary can be asked for there.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_HAS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")


def without_title(sentence: str, titles: Sequence[str]) -> str:
    """A sentence without the words of one or more titles, in whichever case.

    A title is read without the parenthesis at its end, which tells pages apart and is no part of the name ("Mercury
    (planet)"). Its words are what white space parts, without punctuation at their edges; they go where they stand as
    whole words. In scripts written without spaces (Han, kana, Thai, Lao, Burmese, Khmer) a word of two characters and
    more goes wherever it stands, within another one, too, for else the title would be left in most sentences; a
    single character goes only where it stands by itself.

    Args:
      sentence: clean.
      titles: of the page, and perhaps of its redirects.

    Returns:
      the rest, with single spaces.

    Example:
      >>> without_title("The Grey Wolf is a wolf of woods.", ["Wolf (animal)", "Grey wolf"])
      'The is a of woods.'
    """
    words = dict.fromkeys(
        word.strip(_EDGES) for title in titles for word in (_IN_PARENTHESIS.sub("", title) or title).split()
    )
    words.pop("", None)
    if sentence.isascii() and all(map(_PLAIN.fullmatch, words)):
        # As below, in a tenth of the time: to compile a page's pattern takes longer than all else.
        lower = {word.lower() for word in words}
        rest = _PLAIN.sub(lambda found: "" if found[0].lower() in lower else found[0], sentence)
    else:
        choices = "|".join(map(_pattern, words))
        # `re` keeps the last patterns, so that the sentences of one page make theirs once.
        rest = re.sub(choices, "", sentence, flags=re.IGNORECASE) if choices else sentence
    return " ".join(rest.split())


def _pattern(word: str) -> str:
    """What a title's word looks like in a sentence."""
    escaped = re.escape(word)
    if not _HAS_UNSPACED.search(word):
        return rf"\b{escaped}\b"
    return escaped if len(word) > 1 else rf"(?<![{_UNSPACED}]){escaped}(?![{_UNSPACED}])"

"""A sentence without the words of its page's title."""

import re
from collections.abc import Sequence
from typing import Final

_IN_PARENTHESIS: Final = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_PLAIN: Final = re.compile(r"\w+", re.ASCII)
"""A word whose letters have one other case at most."""
_EDGES: Final = ' ,.;:!?"()[]«»„“”、。・،؛؟'
# Scripts whose words no space parts: no boundary can be asked for there.
_SPACELESS: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_HAS_SPACELESS: Final = re.compile(f"[{_SPACELESS}]")


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
    if not _HAS_SPACELESS.search(word):
        return rf"\b{escaped}\b"
    return escaped if len(word) > 1 else rf"(?<![{_SPACELESS}]){escaped}(?![{_SPACELESS}])"

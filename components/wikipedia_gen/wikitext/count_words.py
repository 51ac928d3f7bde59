"""How many words a text has."""

import re
from functools import lru_cache
from typing import Any

import regex

from components.wikipedia_gen.wikitext.first_words import IS_PLAIN, PLAIN_WORD, WORD


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

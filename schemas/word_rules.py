"""The rules by which texts are parted into words: two settings of the data that many stages share."""

from typing import Final

from schemas.settings import Settings

ALL: Final = 2**31 - 1
"""No limit: no text has as many words."""


class WordRules(Settings):
    """How a text is parted into words, and how many of them count; see `models.texts.tokens.tokenize`."""

    max_tokens: int = ALL
    """Number of words that count of a text, from its beginning."""
    segmented: bool = False
    """Whether white space alone parts words, in every script."""

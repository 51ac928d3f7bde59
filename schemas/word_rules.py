"""The rules for splitting texts into words: two settings of the data that many stages share."""

from typing import Final

from schemas.settings import Settings

ALL: Final = 2**31 - 1
"""No limit, as a number that a text's words never reach."""


class WordRules(Settings):
    """The rules for splitting a text into words; see `models.texts.tokens.tokenize`."""

    max_tokens: int = ALL
    """Number of words that are read from the beginning of a text."""
    segmented: bool = False
    """Whether words are split only at white space, in every script."""

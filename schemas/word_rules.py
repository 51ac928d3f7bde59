"""What the words of a text are: two settings of the data that many stages share."""

from typing import Final

from schemas.settings import Settings

ALL: Final = 2**31 - 1
"""No limit: no text has as many words."""


class WordRules(Settings):
    """What the words of a text are, and how many of them count; see `models.texts.tokens.tokenize`."""

    max_tokens: int = ALL
    """Number of words that count of a text, from its beginning."""
    segmented: bool = False
    """Whether white space alone parts words, in every script."""

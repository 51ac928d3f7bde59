"""Where a training's `custom_config` tells of the lexicon."""

from typing import Final

LEXICON_KEY: Final = "lexicon"
TEXTS_KEY: Final = "texts"

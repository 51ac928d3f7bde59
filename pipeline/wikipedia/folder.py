"""The folder that `clir wikipedia` writes."""

import re
from typing import Final

from pipeline.layout import CONFIG_FILE
from pipeline.output_folder import Made
from schemas.wikiclir import CANDIDATES_FILE, CARD_FILE, MANIFEST_FILE, PAIRS_FILE

ACCOUNT_FILE: Final = "wikipedia.json"
"""Tells that a folder is one of ours, and which files in it are."""

_SHARD: Final = r"(?:-\d{5}-of-\d{5})?"
_FIXED: Final = (CANDIDATES_FILE, CARD_FILE, MANIFEST_FILE, PAIRS_FILE, CONFIG_FILE)
_PAIR: Final = re.compile("[a-z]{2}_[a-z]{2}")
_NAMES: Final = (
    rf"wiki_[a-z]{{2}}\.(?:queries|documents){_SHARD}",
    rf"[a-z]{{2}}2[a-z]{{2}}\.rel{_SHARD}",
    rf"{re.escape(CANDIDATES_FILE)}{_SHARD}",
    *map(re.escape, _FIXED),
)

WIKIPEDIA_MADE: Final = Made("wikipedia", "collection from dumps", ACCOUNT_FILE, re.compile("|".join(_NAMES)), _PAIR)

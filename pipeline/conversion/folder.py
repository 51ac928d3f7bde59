"""The folder that a conversion writes."""

import re
from pathlib import Path
from typing import Final

from pipeline.layout import CONFIG_FILE
from pipeline.made_folder import Made, MadeFolder, made_fault

QUERIES_FILE: Final = "queries.tsv"
DOCUMENTS_FILE: Final = "documents.tsv"
JUDGMENTS_FILE: Final = "judgments.tsv"
CANDIDATES_FILE: Final = "candidates.tsv"
ACCOUNT_FILE: Final = "conversion.json"
"""The account of the conversion; it also tells that a folder is a conversion's, and which files are."""

_NAMES: Final = (QUERIES_FILE, DOCUMENTS_FILE, JUDGMENTS_FILE, CANDIDATES_FILE, CONFIG_FILE)
_CONVERSION: Final = Made("conversion", "conversion", ACCOUNT_FILE, re.compile("|".join(map(re.escape, _NAMES))))


def conversion_fault(output: str) -> str | None:
    """Why a folder cannot be a conversion's output, if so."""
    return made_fault(output, _CONVERSION)


class ConversionFolder(MadeFolder):
    """A conversion's folder. The caller holds it (see `pipeline.run_lock`).

    Args:
      path: the folder.

    Raises:
      DataError: it is no folder of ours, or a file of the user's has one of our names.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, _CONVERSION)

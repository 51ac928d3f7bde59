"""The queries that a model's version offers on the search page."""

import os
import re
from pathlib import Path

from schemas.errors import DataError
from schemas.json_files import parse_json
from schemas.served_versions import EXAMPLES_FILE


def read_example_queries(model: str) -> tuple[str, ...]:
    """Reads the examples beside a model; none where it has no such file.

    Args:
      model: the folder of its version.

    Raises:
      DataError: the file is no list of texts.
    """
    path = Path(os.path.join(model, EXAMPLES_FILE))
    if not path.is_file():
        return ()
    try:
        content = parse_json(path.read_bytes())
    except ValueError:
        content = None
    if not isinstance(content, list) or not all(_is_query(value) for value in content):
        raise DataError(f"{path} must be a JSON list of queries, which are not empty; mend the file, or remove it.")
    return tuple(content)


def _is_query(value: object) -> bool:
    """Whether a value is a text that is not blank, and has no half of a surrogate pair, which no answer can carry."""
    return isinstance(value, str) and bool(value.strip()) and re.search("[\ud800-\udfff]", value) is None

"""The numbered versions of a model in a serving folder, as TF Serving watches it."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from schemas.errors import DataError
from schemas.json_files import parse_json

GRAPH_FILE: Final = "saved_model.pb"
"""The file that makes a folder a SavedModel; a push to an object store writes it last."""
SUMS_FILE: Final = "SHA256SUMS"
"""The digests of a model's own files."""
CARD_FILE: Final = "MODEL_CARD.md"
"""The model's card, which no server reads."""
EXTRA_FOLDER: Final = "assets.extra/"
"""The folder of the files that a push adds for servers; they are not part of the model."""
WARM_UP_FILE: Final = f"{EXTRA_FOLDER}tf_serving_warmup_requests"
"""The requests that TF Serving answers before it serves the model. The name is TF Serving's."""
EXAMPLES_FILE: Final = f"{EXTRA_FOLDER}example_queries.json"
"""Queries that the search page offers: a list of texts, which may be edited."""

MODEL_NAME: Final = "clir"
"""The model's name in TF Serving."""

NEWEST_PROPERTY: Final = "newest_version"
"""Property of a blessing: the newest version when the model was judged; empty if there was none."""
PUSHED_PROPERTY: Final = "is_pushed"
"""Property of a blessing: 1 where the newest version is the judged model itself."""

WAS_PUSHED_PROPERTY: Final = "pushed"
"""Property of a pushed model, named as in TFX's Pusher: 1 where the model is now a version."""
DESTINATION_PROPERTY: Final = "pushed_destination"
"""Property of a pushed model, named as in TFX's Pusher: the version's folder."""
VERSION_PROPERTY: Final = "pushed_version"
"""Property of a pushed model, named as in TFX's Pusher: the version's number."""


def served_versions(names: Iterable[str]) -> list[str]:
    """Returns the versions among the names in a serving folder, sorted by number.

    Example:
      >>> served_versions(["10", "9", "²", "007", ".incoming", "9/"])
      ['9', '9', '10']
    """
    plain = (name.rstrip("/") for name in names)
    return sorted((name for name in plain if re.fullmatch("0|[1-9][0-9]*", name)), key=int)


def newest_version(names: Iterable[str]) -> str | None:
    """The highest number of a version; None where there is none."""
    return max(served_versions(names), key=int, default=None)


def read_example_queries(model: str) -> tuple[str, ...]:
    """Reads the queries that a model's version offers on the search page; none without their file.

    Args:
      model: the folder of the version.

    Raises:
      DataError: the file is not a list of texts.
    """
    path = Path(model) / EXAMPLES_FILE
    if not path.is_file():
        return ()
    try:
        content = parse_json(path.read_bytes())
    except ValueError:
        content = None
    if not isinstance(content, list) or not all(_is_query(value) for value in content):
        raise DataError(f"{path} must be a JSON list of queries that are not empty. Mend the file, or remove it.")
    return tuple(content)


def _is_query(value: object) -> bool:
    """Returns whether a value is a text that is not blank, and without lone surrogates, which no answer can carry."""
    return isinstance(value, str) and bool(value.strip()) and re.search("[\ud800-\udfff]", value) is None

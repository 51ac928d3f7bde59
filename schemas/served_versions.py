"""The numbered versions of a model in a serving folder, as TF Serving watches it."""

import re
from collections.abc import Iterable
from typing import Final

GRAPH_FILE: Final = "saved_model.pb"
"""The file without which no folder is a SavedModel; a push to an object store writes it last."""
SUMS_FILE: Final = "SHA256SUMS"
"""The digests of a model's own files."""
CARD_FILE: Final = "MODEL_CARD.md"
"""The model's card, which no server reads."""
EXTRA_FOLDER: Final = "assets.extra/"
"""The folder of what a push adds for servers; nothing in it belongs to the model."""
WARM_UP_FILE: Final = f"{EXTRA_FOLDER}tf_serving_warmup_requests"
"""The requests that TF Serving answers to itself before it answers others. The name is TF Serving's."""
EXAMPLES_FILE: Final = f"{EXTRA_FOLDER}example_queries.json"
"""Queries that the search page offers: a list of texts, which anyone may edit."""

MODEL_NAME: Final = "clir"
"""The name under which a TF Serving serves the versions."""

NEWEST_PROPERTY: Final = "newest_version"
"""Property of a blessing: the newest version when the model was judged; empty where there was none."""
PUSHED_PROPERTY: Final = "is_pushed"
"""Property of a blessing: 1 where the newest version is the judged model itself."""

WAS_PUSHED_PROPERTY: Final = "pushed"
"""Property of a pushed model, with the name of TFX's own Pusher: 1 where the model is now a version."""
DESTINATION_PROPERTY: Final = "pushed_destination"
"""Property of a pushed model, likewise: the version's folder."""
VERSION_PROPERTY: Final = "pushed_version"
"""Property of a pushed model, likewise: the version's number."""


def served_versions(names: Iterable[str]) -> list[str]:
    """The versions among the names in a serving folder, in the order of their numbers.

    Example:
      >>> served_versions(["10", "9", "²", "007", ".incoming", "9/"])
      ['9', '9', '10']
    """
    plain = (name.rstrip("/") for name in names)
    return sorted((name for name in plain if re.fullmatch("0|[1-9][0-9]*", name)), key=int)


def newest_version(names: Iterable[str]) -> str | None:
    """The highest number of a version; None where there is none."""
    return max(served_versions(names), key=int, default=None)

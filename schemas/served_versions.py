"""The numbered versions of a model in a serving folder, as TF Serving watches it."""

import re
from collections.abc import Iterable
from typing import Final

CARD_FILE: Final = "MODEL_CARD.md"
"""Beside `saved_model.pb` in a version: the model's card, which no server reads."""
WARM_UP_FILE: Final = "assets.extra/tf_serving_warmup_requests"
"""In a version: the requests that TF Serving answers for itself before it lets others ask. The name is TF Serving's."""
BESIDE_MODEL: Final = (CARD_FILE, WARM_UP_FILE)
"""What a push adds to a model's own files."""

MODEL_NAME: Final = "clir"
"""The name under which a TF Serving serves the versions."""

NEWEST_PROPERTY: Final = "newest_version"
"""Of a blessing: the newest version when the model was judged; empty where there was none."""
PUSHED_PROPERTY: Final = "is_pushed"
"""Of a blessing: 1 where the newest version is the judged model itself."""

WAS_PUSHED_PROPERTY: Final = "pushed"
"""Of a pushed model, as TFX's own Pusher names it: 1 where it is a version now."""
DESTINATION_PROPERTY: Final = "pushed_destination"
"""Likewise: the version's folder."""
VERSION_PROPERTY: Final = "pushed_version"
"""Likewise: its number."""


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

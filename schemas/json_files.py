"""A file that is one JSON value, read whole within a bound."""

import json
import zlib
from typing import Any, BinaryIO, Final

from schemas.drops import Drop
from schemas.wikiclir import Reason

MAX_JSON_BYTES: Final = 1 << 30
"""The largest unpacked size of such a file, which is held in memory with several times its size."""


def read_json(content: BinaryIO, file: str, reason: Reason, remedy: str, **options: Any) -> Any | Drop:
    """Reads the value, or returns one fatal drop.

    Args:
      content: the unpacked file.
      file: the file's name, for the drop.
      reason: the reason for a drop of what is no JSON.
      remedy: what a user can do with a larger file.
      options: those of `json.loads`.
    """
    try:
        data = content.read(MAX_JSON_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        return Drop(Reason.UNREADABLE, file, 1, str(error))
    if len(data) > MAX_JSON_BYTES:
        why = f"it holds more than {MAX_JSON_BYTES / 2**20:,.0f} MiB; {remedy}"
        return Drop(Reason.UNREADABLE, file, 1, why)
    try:
        return json.loads(data.decode("utf-8-sig"), **options)
    except json.JSONDecodeError as error:
        return Drop(reason, file, error.lineno, f"{error.msg} (column {error.colno})")
    except UnicodeDecodeError as error:
        return Drop(reason, file, 1, f"not valid UTF-8 at byte {error.start:,}")
    except ValueError as error:  # a whole number of thousands of digits
        return Drop(reason, file, 1, str(error))
    except RecursionError:
        return Drop(reason, file, 1, "too many objects or lists within each other")

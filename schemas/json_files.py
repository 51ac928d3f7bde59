"""Reads untrusted JSON within bounds. Nothing else in the project parses JSON."""

import json
import zlib
from typing import Any, BinaryIO, Final

from schemas.drops import Drop
from schemas.wikiclir import Reason

MAX_JSON_BYTES: Final = 1 << 30
"""The largest unpacked size of a file; parsing takes several times as much memory."""

MAX_DEPTH: Final = 100
"""The largest number of objects and lists within each other; each level takes a part of Python's stack."""

_HOLDERS: Final = (dict, list, tuple)


def parse_json(text: str | bytes | bytearray, **options: Any) -> Any:
    """Parses a JSON text.

    Args:
      text: the text, or its bytes.
      options: those of `json.loads`.

    Raises:
      ValueError: the text is not JSON, is too deep or too large for the memory, or has an integer of thousands of
        digits.

    Example:
      >>> parse_json("[" * 200_000 + "]" * 200_000)
      Traceback (most recent call last):
      ValueError: more than 100 objects or lists within each other
    """
    too_deep = ValueError(f"more than {MAX_DEPTH} objects or lists within each other")
    try:
        content = json.loads(text, **options)  # noqa: TID251
    except MemoryError:
        raise ValueError(f"{len(text):,} characters need more memory than there is") from None
    except RecursionError:
        raise too_deep from None
    level = [content] if isinstance(content, _HOLDERS) else []
    for _ in range(MAX_DEPTH):
        level = [
            value
            for holder in level
            for value in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(value, _HOLDERS)
        ]
    if level:
        raise too_deep
    return content


def read_json(content: BinaryIO, file: str, reason: Reason, remedy: str, **options: Any) -> Any | Drop:
    """Reads a JSON file; returns a drop with a fatal reason if that fails.

    Args:
      content: the unpacked file.
      file: the file's name, for the drop.
      reason: the drop's reason where the content is not JSON.
      remedy: what a user can do with a file that is too large.
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
        return parse_json(data.decode("utf-8-sig"), **options)
    except json.JSONDecodeError as error:
        return Drop(reason, file, error.lineno, f"{error.msg} (column {error.colno})")
    except UnicodeDecodeError as error:
        return Drop(reason, file, 1, f"not valid UTF-8 at byte {error.start:,}")
    except ValueError as error:
        return Drop(reason, file, 1, str(error))

"""Values as MySQL's dumps write them."""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from components.wikipedia_gen.dumps.sql_table import Kind

Value: TypeAlias = bytes | int | float | None

_STRING: Final = rb"'[^'\\]*(?:\\.[^'\\]*)*'"
_ANY_STRING: Final = rb"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'(?!')"
"""A quote that is not followed by another ends it, so that there is one way to read it: no backtracking."""

_ANY_NUMBER: Final = rb"[-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?"
_OTHER: Final = rb"NULL|0x[0-9A-Fa-f]+|[xX]'[0-9A-Fa-f]*'|[bB]'[01]*'"
PLAIN_VALUES: Final[dict[Kind, bytes]] = {
    "int": rb"-?[0-9]+|NULL",
    "float": rb"-?[0-9.]+(?:[eE][-+]?[0-9]+)?|NULL",
    "bytes": _STRING + rb"|NULL",
}
"""What matches the values of a kind of column as they nearly always are."""

ANY_VALUE: Final = b"|".join([rb"(?:_binary\s*)?" + _ANY_STRING, _OTHER, _ANY_NUMBER])
"""What matches a value of any kind in any way of writing it."""

_ESCAPED: Final = re.compile(rb"\\(.)|''", re.DOTALL)
_QUOTE: Final = ord("'")
_BACKSLASH: Final = ord("\\")
_MEANT: Final = {
    b"0": b"\0",
    b"b": b"\b",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"Z": b"\x1a",
    b"%": b"\\%",
    b"_": b"\\_",
}


def values_of(kind: Kind, tokens: Sequence[bytes]) -> list[Value]:
    """The values that tokens of one column stand for.

    Raises:
      ValueError: a number is expected, and there is none.

    Example:
      >>> values_of("bytes", [rb"'it\\'s'", b"NULL", b"0x6162"]), values_of("int", [b"-7", b"NULL"])
      ([b"it's", None, b'ab'], [-7, None])
    """
    if kind == "bytes":
        # Most strings are as they stand. (To look for a number among bytes is five times as fast as for bytes.)
        return [
            token[1:-1] if token[0] == _QUOTE and _BACKSLASH not in token and token.count(b"'") == 2 else _bytes(token)
            for token in tokens
        ]
    convert: Callable[[bytes], int | float] = int if kind == "int" else float
    try:
        return [*map(convert, tokens)]
    except ValueError:
        return [_number(token, convert) for token in tokens]


def _number(token: bytes, convert: Callable[[bytes], int | float]) -> Value:
    if token == b"NULL":
        return None
    if token.lower().startswith(b"0x"):
        return int(token, 16)
    return convert(_bytes(token) or b"")


def _bytes(token: bytes) -> bytes | None:
    if token[:1] == b"'":
        inner = token[1:-1]
        if b"\\" in inner or b"''" in inner:
            return _ESCAPED.sub(_meant, inner)
        return inner
    return _of_other(token)


def _meant(escaped: re.Match[bytes]) -> bytes:
    character = escaped[1]
    return b"'" if character is None else _MEANT.get(character, character)


def _of_other(token: bytes) -> bytes | None:
    """What is written in another way than as a string in quotes."""
    if token == b"NULL":
        return None
    if token.startswith(b"_binary"):
        return _bytes(token[len(b"_binary") :].lstrip())
    digits = token[2:].strip(b"'")
    if token[:2].lower() in (b"0x", b"x'"):
        return bytes.fromhex((b"0" * (len(digits) % 2) + digits).decode())
    if token[:2].lower() == b"b'":
        number = int(digits or b"0", 2)
        return number.to_bytes((len(digits) + 7) // 8, "big")
    return token

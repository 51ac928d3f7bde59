"""Where the streams of a bzip2 file begin."""

import re
from typing import Any, Final

HEAD_BYTES: Final = 10
"""Of a stream: its magic number and level, and the magic number of its first block."""

_HEAD: Final = re.compile(rb"BZh[1-9]1AY&SY")
_FOOT: Final = 0x177245385090
"""Ends a stream's last block. A checksum of 32 bits follows, and up to seven bits that fill the last byte."""

_FOOT_BYTES: Final = 11
_BLOCK: Final = 1 << 20


def begins_stream(head: bytes) -> bool:
    """Whether bytes are the first `HEAD_BYTES` of a stream that holds something.

    Example:
      >>> import bz2
      >>> begins_stream(bz2.compress(b"a")[:HEAD_BYTES])
      True
    """
    return _HEAD.fullmatch(head) is not None


def next_stream_start(stream: Any, place: int) -> int | None:
    """The first byte at or after a place at which one stream ends and another begins; None if there is none.

    Both signs have to stand there, 128 bits in all: that compressed content shows them by chance is less likely than
    a fault of the disk. (Were it so, unpacking would find no end of a stream there, and fail.)

    Args:
      stream: of the file.
      place: in bytes of the file.
    """
    place = max(place, _FOOT_BYTES)
    stream.seek(place - _FOOT_BYTES)
    data, begin = b"", place - _FOOT_BYTES
    while block := stream.read(_BLOCK):
        data += block
        for found in _HEAD.finditer(data, _FOOT_BYTES):
            if _ends_stream(data[found.start() - _FOOT_BYTES : found.start()]):
                return begin + found.start()
        # Enough stays for a head that the next block completes, and for the foot before it.
        kept = min(len(data), _FOOT_BYTES + HEAD_BYTES - 1)
        begin += len(data) - kept
        data = data[-kept:]
    return None


def _ends_stream(foot: bytes) -> bool:
    """Whether bytes are the last of a stream, which ends at some bit of the last one."""
    bits = int.from_bytes(foot, "big")
    return any(bits >> (32 + filled) & (1 << 48) - 1 == _FOOT for filled in range(8))

"""The lines of a file, read many at a time: a TensorFlow file takes its time over each that it is asked for."""

from collections.abc import Iterator
from typing import BinaryIO, Final

_BYTES_OF_A_BLOCK: Final = 1 << 20


def raw_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, without their ends.

    Args:
      stream: whose lines end with a line feed, which the last may lack; a carriage return is of the line.

    Example:
      >>> from io import BytesIO
      >>> list(raw_lines(BytesIO(b"a\\n\\nb\\r")))
      [b'a', b'', b'b\\r']
    """
    begun = b""
    while block := stream.read(_BYTES_OF_A_BLOCK):
        *lines, begun = (begun + block).split(b"\n")
        yield from lines
    if begun:
        yield begun

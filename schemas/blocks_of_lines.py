"""Lines of a file, many at a time: a remote or TensorFlow file takes its time over each that it is asked for."""

from collections.abc import Iterator
from typing import BinaryIO, Final

_BYTES_OF_A_BLOCK: Final = 1 << 20


def blocks_of_lines(stream: BinaryIO) -> Iterator[list[bytes]]:
    """The lines of a file, without their ends, in lists.

    Args:
      stream: whose lines end with a line feed, which the last may lack; a carriage return is of the line.

    Example:
      >>> from io import BytesIO
      >>> list(blocks_of_lines(BytesIO(b"a\\n\\nb\\r")))
      [[b'a', b''], [b'b\\r']]
    """
    begun = b""
    while block := stream.read(_BYTES_OF_A_BLOCK):
        *lines, begun = (begun + block).split(b"\n")
        yield lines
    if begun:
        yield [begun]

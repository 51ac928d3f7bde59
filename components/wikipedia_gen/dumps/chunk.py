"""A piece of a dump file that can be read by itself."""

from typing import NamedTuple

from components.wikipedia_gen.dumps.unpacked_blocks import Packing


class Chunk(NamedTuple):
    """The pages whose `<page>` stands in a part of a file.

    Attributes:
      path: of the file.
      packing: how it is packed.
      start, end: the part, in bytes of the file as it is stored. A page that begins in it may end beyond it.
      size: of the file, in bytes.
    """

    path: str
    packing: Packing
    start: int
    end: int
    size: int

    @property
    def is_first(self) -> bool:
        """Whether it has the file's header."""
        return self.start == 0

    @property
    def is_last(self) -> bool:
        """Whether it has the file's end."""
        return self.end == self.size

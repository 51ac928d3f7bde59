"""Opens the files of a collection from a Beam step."""

import os
from typing import BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems


def collection_file(folder: str, name: str) -> BinaryIO:
    """Opens a file of a collection, local or remote."""
    stream: BinaryIO = FileSystems.open(os.path.join(folder, name), compression_type=CompressionTypes.UNCOMPRESSED)
    return stream

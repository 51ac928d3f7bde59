"""The SHA-256 of a stream of bytes."""

import hashlib
from typing import Final, Protocol

_BLOCK: Final = 1 << 20


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def stream_sha256(stream: _Readable) -> str:
    """The SHA-256 of what is left of a stream, in hexadecimal.

    Example:
      >>> import io
      >>> stream_sha256(io.BytesIO(b"abc"))[:8]
      'ba7816bf'
    """
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()

"""The digest of an input that may be several files."""

import hashlib
from collections.abc import Sequence


def input_digest(digests: Sequence[str]) -> str:
    """The digest of an input: its file's, or where there are several, one of all of them in their order.

    Args:
      digests: SHA-256 of each file, in hexadecimal.

    Example:
      >>> input_digest(["3a"]), input_digest(["3a", "3b"])[:8]
      ('3a', 'bd8c769d')
    """
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()

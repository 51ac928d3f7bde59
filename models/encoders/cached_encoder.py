"""An encoder that encodes repeated texts once."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors

_MAX_VECTORS: Final = 1 << 16
"""The largest number of vectors that are held: 128 MB of 512 numbers each."""


class CachedEncoder(PretrainedEncoder):
    """Holds the vectors of the texts that were encoded, and forgets all of them when they are many.

    Args:
      encoder: encodes the texts that are not held.
    """

    def __init__(self, encoder: PretrainedEncoder) -> None:
        self._encoder = encoder
        self._held: dict[tuple[Role, str], npt.NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts, each distinct one once: float32 [texts, dim]."""
        if len(self._held) > _MAX_VECTORS:
            self._held.clear()
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self._held]
        if new:
            self._held |= zip([(role, text) for text in new], self._encoder.encode(new, role), strict=True)
        return np.stack([self._held[role, text] for text in texts])

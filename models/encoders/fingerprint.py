"""The fingerprint of an encoder: few numbers by which another model behind the same address is noticed."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from models.encoders.pretrained_encoder import Vectors

_TOLERANCE: Final = 0.003
"""The largest difference of two numbers of one encoder: batches, devices and number formats round in their own ways."""


def fingerprint(vectors: Vectors) -> tuple[float, ...]:
    """Returns the length of the vectors, the cosine of each two of them, and the first component of each over its norm.

    The cosines alone would be the same for vectors that are turned, beside which no stored vector could stand.

    Args:
      vectors: of fixed texts, see `EndpointEncoder.probe`.

    Returns:
      numbers rounded to four decimals.

    Example:
      >>> fingerprint(np.array([[1.0, 0.0], [1.0, 1.0]], np.float32))
      (2.0, 0.7071, 1.0, 0.7071)
    """
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return float(vectors.shape[1]), *np.round([*cosines, *unit[:, 0]], 4).tolist()


def fingerprint_fault(expected: Sequence[float], actual: Sequence[float]) -> str | None:
    """Returns the reason why a fingerprint is not that of the same encoder, or None.

    Example:
      >>> fingerprint_fault((2.0, 0.7), (2.0, 0.9))
      'its vectors of fixed texts differ by 0.2000'
    """
    if len(expected) != len(actual):
        return f"its fingerprint has {len(actual)} numbers and must have {len(expected)}"
    if expected[0] != actual[0]:
        return f"its vectors have {actual[0]:.0f} numbers and must have {expected[0]:.0f}"
    difference = max(abs(old - new) for old, new in zip(expected[1:], actual[1:], strict=True))
    return f"its vectors of fixed texts differ by {difference:.4f}" if difference > _TOLERANCE else None

"""How fast this machine is, beside the one on which the costs were measured."""

import gzip
import time
from collections import Counter
from typing import Final

import numpy as np
import tensorflow as tf

from models.texts.tokens import tokenize

_REFERENCE_SECONDS: Final = 0.17
_ROUNDS: Final = 3
_TEXTS: Final = 4_000


def machine_factor() -> float:
    """How many times as long as the reference this machine takes for some of what the data stages do; 2 is slower."""
    return sample_seconds() / _REFERENCE_SECONDS


def sample_seconds() -> float:
    """Seconds of the sample of work, the least of three rounds: what else the machine does is not its speed."""
    generator = np.random.default_rng(0)
    letters = np.array([*"eaisnrtoludcmpvqfbghjxyzéàè "])
    texts = ["".join(letters[row]).encode() for row in generator.integers(0, len(letters), (_TEXTS, 600))]
    return min(_timed(texts) for _ in range(_ROUNDS))


def _timed(texts: list[bytes]) -> float:
    started = time.perf_counter()
    words = tokenize(tf.constant(texts)).flat_values.numpy().tolist()
    number = {word: place for place, word in enumerate(Counter(words))}
    np.sort(np.array([number[word] for word in words]))
    gzip.compress(b"\n".join(texts), 6)
    return time.perf_counter() - started

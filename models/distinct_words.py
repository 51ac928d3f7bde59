"""The words of texts as numbers, for what counts the words of many."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.tokens import tokenize


class DistinctWords(NamedTuple):
    """The words of some texts: most stand in them more than once, and numbers are cheaper than strings.

    Attributes:
      words: each once, in the order in which they come first: UTF-8, [distinct].
      places: of each text's words among those: int32 [words].
      row_splits: where each text's places begin, and the end of the last: int64 [texts + 1].
    """

    words: list[bytes]
    places: npt.NDArray[np.int32]
    row_splits: npt.NDArray[np.int64]

    @property
    def texts(self) -> npt.NDArray[np.int64]:
        """The text of each of `places`: int64 [words]."""
        return np.repeat(np.arange(len(self.row_splits) - 1), np.diff(self.row_splits))


def distinct_words(texts: Sequence[bytes | str], max_tokens: int | None = None) -> DistinctWords:
    """The words of texts, see `models.tokens.tokenize`.

    Example:
      >>> found = distinct_words(["Un loup est un loup"])
      >>> found.words, found.places.tolist(), found.row_splits.tolist()
      ([b'un', b'loup', b'est'], [0, 1, 2, 0, 1], [0, 5])
    """
    words = tokenize(tf.constant(texts, tf.string), max_tokens)
    distinct, place = tf.unique(words.flat_values)
    return DistinctWords(distinct.numpy().tolist(), place.numpy(), words.row_splits.numpy())

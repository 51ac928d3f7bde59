"""Counts given words in texts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.graph_function import graph_function
from models.tokens import tokenize


class WordCounts(NamedTuple):
    """The words that were found in some texts, an entry for each text and word."""

    texts: npt.NDArray[np.int64]
    """The places of the texts, int64 [entries]."""
    words: npt.NDArray[np.int64]
    """The places of the words, int64 [entries]."""
    counts: npt.NDArray[np.int64]
    """How often the text holds the word, int64 [entries]."""
    lengths: npt.NDArray[np.int64]
    """Tokens of each text, those that are not counted among them: int64 [texts]."""


class WordCounter:
    """Counts words as the model's tokens are made.

    Args:
      words: distinct.
      max_tokens: the model's limit on a text; None for none.

    Example:
      >>> counted = WordCounter([b"loup", b"meute"])([b"Un loup est un loup"])
      >>> counted.words.tolist(), counted.counts.tolist(), counted.lengths.tolist()
      ([0], [2], [5])
    """

    def __init__(self, words: Sequence[bytes], max_tokens: int | None = None) -> None:
        # No text holds the empty word: it stands for none, for TensorFlow makes no empty table.
        keys = tf.constant(list(words) or [b""], tf.string)
        size = len(keys)
        place = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.range(size, dtype=tf.int64)), -1)

        @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
        def count(texts: tf.Tensor) -> tuple[tf.Tensor, ...]:
            tokens = tokenize(texts, max_tokens)
            places = place.lookup(tokens.flat_values)
            known = tf.where(places >= 0)[:, 0]
            # A word's key in a text; each stands once among the distinct ones.
            keys = tf.gather(tokens.value_rowids(), known) * size + tf.gather(places, known)
            distinct, _, counts = tf.unique_with_counts(keys, tf.int64)
            return distinct // size, distinct % size, counts, tokens.row_lengths()

        self._count = count
        self._table = place  # the graph does not keep it

    def __call__(self, texts: Sequence[bytes | str]) -> WordCounts:
        """The words of some texts, by text."""
        return WordCounts(*(column.numpy() for column in self._count(tf.constant(texts, tf.string))))

"""Numbers of terms, in variables alone: a SavedModel needs no file or table for them."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

_BUCKETS = 2**63 - 1


class Vocabulary(tf.Module):
    """Distinct terms, numbered in the order of their fingerprints.

    Of two terms with the same fingerprint, which a million have with a probability of 1e-7, one is as if unknown.

    Args:
      terms: UTF-8, distinct, one at least.

    Attributes:
      order: int [terms], the place in `terms` of each number.
    """

    def __init__(self, terms: Sequence[bytes]) -> None:
        super().__init__()
        fingerprints = _fingerprints(tf.constant(terms, tf.string)).numpy()
        self.order = np.argsort(fingerprints, kind="stable")
        self._fingerprints = tf.Variable(fingerprints[self.order], trainable=False, name="fingerprints")
        self._terms = tf.Variable(tf.gather(tf.constant(terms, tf.string), self.order), trainable=False, name="terms")

    def numbers(self, terms: tf.Tensor) -> tf.Tensor:
        """Of terms, string [terms]: int64 [terms], -1 for those that are not known."""
        last = tf.shape(self._fingerprints)[0] - 1
        place = tf.minimum(tf.searchsorted(self._fingerprints, _fingerprints(terms)), last)
        return tf.where(tf.gather(self._terms, place) == terms, tf.cast(place, tf.int64), -1)

    def terms(self, numbers: tf.Tensor) -> tf.Tensor:
        """Of numbers, int [...]: string [...]."""
        return tf.gather(self._terms, numbers)


def _fingerprints(terms: tf.Tensor) -> tf.Tensor:
    return tf.strings.to_hash_bucket_fast(terms, _BUCKETS)

"""Terms of texts with their weights: tf-idf, of unit length or of unit sum (Salton and Buckley 1988)."""

from typing import NamedTuple

import tensorflow as tf

from models.layers.row_sums import weighted_sum


class WeightedTerms(NamedTuple):
    """The distinct terms of texts and their weights, an entry for each term of each text."""

    terms: tf.Tensor
    """The distinct terms of all texts: int [terms]."""
    text: tf.Tensor
    """The text of each entry: int64 [entries]."""
    column: tf.Tensor
    """The index of each entry's term in `terms`: int64 [entries]."""
    weight: tf.Tensor
    """float [entries]."""
    texts: tf.Tensor
    """The number of texts: int64."""

    @classmethod
    def tf_idf(cls, ids: tf.Tensor, text: tf.Tensor, texts: tf.Tensor, idf: tf.Tensor) -> "WeightedTerms":
        """Returns the weight tf(w, text) * idf(w) of each term w of each text.

        Args:
          ids: the terms of all texts, text by text: int [occurrences].
          text: the text of each: int64 [occurrences].
          texts: number of texts, int64.
          idf: inverse document frequency of each term, above 0: float [all terms].
        """
        terms, column, _ = tf.unique_with_counts(ids, tf.int64)  # see `MeanEmbedding._mean`
        size = tf.maximum(tf.size(terms, tf.int64), 1)
        keys, _, count = tf.unique_with_counts(text * size + column)
        text, column = keys // size, keys % size
        weight = tf.cast(count, idf.dtype) * tf.gather(tf.gather(idf, terms), column)
        return cls(terms, text, column, weight, texts)

    def with_unit_length(self) -> "WeightedTerms":
        """Returns the terms with weights whose squares sum to 1 in each text."""
        return self._divided(tf.sqrt(self._sums(tf.square(self.weight))))

    def with_unit_sum(self) -> "WeightedTerms":
        """Returns the terms with weights that sum to 1 in each text."""
        return self._divided(self._sums(self.weight))

    def combine(self, rows: tf.Tensor, training: bool = False) -> tf.Tensor:
        """Returns the sum of each text's rows times their weights.

        Args:
          rows: a row for each of `terms`: float [terms, dim].
          training: whether the rows' gradient is needed.

        Returns:
          float [texts, dim]; zero for a text without terms.
        """
        return weighted_sum(rows, self.column, self.text, self.texts, self.weight, training)

    def _sums(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the sum of each text's values: float [entries] -> float [texts]."""
        return tf.math.unsorted_segment_sum(values, self.text, self.texts)

    def _divided(self, divisors: tf.Tensor) -> "WeightedTerms":
        """Returns the terms with weights divided by their texts' divisors, float [texts]."""
        return self._replace(weight=self.weight / tf.gather(divisors, self.text))

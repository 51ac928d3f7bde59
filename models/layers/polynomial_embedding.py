"""Linear and quadratic maps of tf-idf vectors (Polynomial Semantic Indexing)."""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.graphs import row_ids
from models.layers.text_encoder import TextEncoder
from models.layers.weighted_terms import WeightedTerms


@keras.utils.register_keras_serializable(package="smooth_clir")
class PolynomialEmbedding(TextEncoder):
    """The encoder of Polynomial Semantic Indexing: a map of a text's tf-idf vector x.

        x(w) = tf(w) idf(w) / sqrt(sum over u of (tf(u) idf(u))^2)
        v = V x                    degree 2
        v = V x + (V x) * (Y x)    degree 3, multiplied component by component

    The degree is that of the score: with the inner product and a linear encoder U of queries it is

        f2(q, d) = sum_i (U q)_i (V d)_i
        f3(q, d) = sum_i (U q)_i (V d)_i (Y d)_i + f2(q, d)

    without the identity, which the paper leaves out across languages; within a language the channel `tfidf` is the
    identity. Source: Bai et al. 2009, "Polynomial Semantic Indexing", eqs. 3 and 4. Our V and Y have a row for each
    term, the paper's a column. Other arguments, input and output are those of `TextEncoder`; V starts with `vectors`, Y
    at random.

    Args:
      degree: 2 or 3; only encoders of documents have degree 3.
      idf: inverse document frequency of each term, float [vocabulary_size], above 0; None: 1 each.

    Raises:
      ValueError: the degree is neither 2 nor 3.

    Example:
      >>> encoder = PolynomialEmbedding(vocabulary_size=2, dim=1)
      >>> encoder.build(None)
      >>> encoder.table.assign([[10.0], [20.0]]) is not None
      True
      >>> encoder(tf.ragged.constant([[0, 0, 0, 1, 1, 1, 1]])).numpy().tolist()  # (3 * 10 + 4 * 20) / 5
      [[22.0]]
    """

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        initial_scale: float = 0.03,
        *args: Any,
        degree: int = 2,
        idf: npt.NDArray[np.float32] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocabulary_size, dim, initial_scale, *args, **kwargs)
        if degree not in (2, 3):
            raise ValueError(f"degree must be 2 or 3; got {degree}.")
        self.degree = degree
        self._idf = idf

    def build(self, input_shape: Any) -> None:
        """Creates V, Y for degree 3, and the terms' inverse document frequencies."""
        super().build(input_shape)
        self.idf = self.add_idf("idf", self.vocabulary_size, self._idf)
        if self.degree == 3:
            random = keras.initializers.RandomNormal(stddev=self.initial_scale, seed=self._seed_of("second_table"))
            self.second_table = self.add_weight(name="second_table", shape=self.table.shape, initializer=random)

    def call(self, tokens: tf.RaggedTensor, training: bool = False) -> tf.Tensor:
        """Encodes each text."""
        text = WeightedTerms.tf_idf(tokens.values, row_ids(tokens), tokens.nrows(), self.idf).with_unit_length()
        first = text.combine(self._words(self.table, text.terms, training), training)
        if self.degree == 2:
            return first
        return first + first * text.combine(self._words(self.second_table, text.terms, training), training)

    def word_parts(self, tokens: tf.RaggedTensor) -> tf.Tensor | None:
        """Returns each word's share of a text's vector, float [words, dim]; None for degree 3, which is not a sum.

            part_i = idf(w_i) V[w_i] / sqrt(sum over u of (tf(u) idf(u))^2)

        Args:
          tokens: the ids of each word, int RaggedTensor [words, (tokens)].
        """
        if self.degree == 3:
            return None
        word = row_ids(tokens)
        words = WeightedTerms.tf_idf(tokens.values, word, tokens.nrows(), self.idf)
        text = WeightedTerms.tf_idf(tokens.values, tf.zeros_like(word), tf.constant(1, tf.int64), self.idf)
        parts = words.combine(tf.gather(self.table, words.terms))
        return tf.math.divide_no_nan(parts, tf.norm(text.weight))

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {**super().get_config(), "degree": self.degree}

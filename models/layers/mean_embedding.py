"""Mean pooling of word embeddings and tanh (paper, sections 3.1 and 3.2)."""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.graphs import row_ids
from models.layers.row_sums import segment_mean
from models.layers.text_encoder import TextEncoder
from models.layers.weighted_terms import WeightedTerms


@keras.utils.register_keras_serializable(package="smooth_clir")
class MeanEmbedding(TextEncoder):
    """The paper's average-pooling encoder: tanh of the mean of a text's word embeddings.

        v = tanh(1/t * sum_i E[token_i])

    The mean is over the text's t tokens, as in the paper (its authors' code divides by the padded length). Source:
    arXiv:2011.00701, section 3.2. Our addition are the s stems of the text's words, including words that the vocabulary
    lacks:

        v = tanh(1/t * sum_i E[token_i] + 1/s * sum_j S[stem_j])

    With idf pooling, also ours, both means are weighted by the terms' inverse document frequencies:

        v = tanh(sum_i idf(token_i) E[token_i] / sum_i idf(token_i) + the same for the stems)

    Other arguments, input and output are those of `TextEncoder`.

    Args:
      word_dropout: share of the words, and independently of the stems, that a training step leaves out, in [0, 1). The
        mean is over the remaining ones, without scaling; a text that loses all has the zero vector. Draws come from a
        generator whose state a checkpoint saves.
      stem_vocabulary_size: rows of S; None: no stems.
      pooling: `mean` or `idf`.
      idf, stem_idf: inverse document frequencies for idf pooling, above 0: float [vocabulary_size] and
        [stem_vocabulary_size]; None: 1 each.

    Call arguments:
      stems: int RaggedTensor [batch, (stems)], each id in [0, stem_vocabulary_size); None without stems.

    Raises:
      ValueError: word_dropout lies outside [0, 1), or the pooling is unknown.
    """

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        *args: Any,
        word_dropout: float = 0.0,
        stem_vocabulary_size: int | None = None,
        pooling: str = "mean",
        idf: npt.NDArray[np.float32] | None = None,
        stem_idf: npt.NDArray[np.float32] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocabulary_size, dim, *args, **kwargs)
        if not 0 <= word_dropout < 1:
            raise ValueError(f"word_dropout must lie in [0, 1); got {word_dropout}.")
        if pooling not in ("mean", "idf"):
            raise ValueError(f"pooling must be mean or idf; got {pooling!r}.")
        self.word_dropout = word_dropout
        self.pooling = pooling
        self._initial_idf = idf, stem_idf
        self.stem_vocabulary_size = stem_vocabulary_size
        if word_dropout:
            self._words_generator = tf.random.Generator.from_seed(self._seed_of("word_dropout"))

    def build(self, input_shape: Any) -> None:
        """Creates the embedding tables."""
        super().build(input_shape)
        if self.stem_vocabulary_size is not None:
            random = keras.initializers.RandomNormal(stddev=self.initial_scale, seed=self._seed_of("stem_table"))
            self.stem_table = self.add_weight(
                name="stem_table", shape=(self.stem_vocabulary_size, self.dim), initializer=random
            )
        self.idf = self.stem_idf = None
        if self.pooling == "idf":
            word_idf, stem_idf = self._initial_idf
            self.idf = self.add_idf("idf", self.vocabulary_size, word_idf)
            if self.stem_vocabulary_size is not None:
                self.stem_idf = self.add_idf("stem_idf", self.stem_vocabulary_size, stem_idf)

    def call(self, tokens: tf.RaggedTensor, training: bool = False, stems: tf.RaggedTensor | None = None) -> tf.Tensor:
        """Encodes each text."""
        mean = self._mean(self.table, self.idf, tokens, training)
        return tf.tanh(mean if stems is None else mean + self._mean(self.stem_table, self.stem_idf, stems, training))

    def word_parts(self, tokens: tf.RaggedTensor, stems: tf.RaggedTensor | None = None) -> tf.Tensor:
        """Returns the share of each word, together with its stem, in one text's vector: float [words, dim].

            v = tanh(m) = g * m, with g = tanh(m) / m elementwise, and 1 where m = 0
            part_i = g * (E[token_i] / t + S[stem_i] / s)

        With idf pooling a term's share is idf / (sum of idf) instead of 1 / t or 1 / s. The sum of the parts is the
        text's vector. The factor g depends on the whole text: it would change without any of its words.

        Args:
          tokens, stems: the ids of each word, int RaggedTensor [words, (ids)].
        """
        shares = self._shares(self.table, self.idf, tokens)
        if stems is not None:
            shares += self._shares(self.stem_table, self.stem_idf, stems)
        mean = tf.reduce_sum(shares, axis=0)
        is_zero = mean == 0
        return shares * tf.where(is_zero, 1.0, tf.tanh(mean) / tf.where(is_zero, 1.0, mean))

    def _shares(self, table: tf.Variable, idf: tf.Variable | None, ids: tf.RaggedTensor) -> tf.Tensor:
        """Returns each word's share of the mean of all rows, float [words, dim]."""
        weights = tf.ones(tf.shape(table)[:1]) if idf is None else idf
        words = WeightedTerms.tf_idf(ids.values, row_ids(ids), ids.nrows(), weights)
        return tf.math.divide_no_nan(words.combine(tf.gather(table, words.terms)), tf.reduce_sum(words.weight))

    def _mean(self, table: tf.Variable, idf: tf.Variable | None, tokens: tf.RaggedTensor, training: bool) -> tf.Tensor:
        """Returns the mean of each text's rows of a table, float [batch, dim]; zero for a text without tokens."""
        ids, text = tokens.values, row_ids(tokens)
        if training and self.word_dropout:
            ids, text = self._drop_words(ids, text)
        if idf is not None:
            words = WeightedTerms.tf_idf(ids, text, tokens.nrows(), idf).with_unit_sum()
            return words.combine(self._words(table, words.terms, training), training)
        if training and self.dropout:
            return tf.math.unsorted_segment_mean(self._words(table, ids, training), text, tokens.nrows())
        # First gathers the rows that occur: for an op on the table itself TensorFlow would copy the whole table in
        # every step that changes rows. The counts are unused, but without them Grappler would restore that op.
        rows, row, _ = tf.unique_with_counts(ids)
        return segment_mean(tf.gather(table, rows), row, text, tokens.nrows(), training)

    def _drop_words(self, ids: tf.Tensor, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Drops words, and returns the others with their texts."""
        # A single draw per step, as in `TextEncoder._words`.
        seed = self._words_generator.make_seeds(1)[:, 0]
        kept = tf.where(tf.random.stateless_uniform(tf.shape(ids), seed) >= self.word_dropout)[:, 0]
        return tf.gather(ids, kept), tf.gather(text, kept)

    def get_config(self) -> dict[str, Any]:
        """Returns the layer's arguments."""
        return {
            **super().get_config(),
            "word_dropout": self.word_dropout,
            "stem_vocabulary_size": self.stem_vocabulary_size,
            "pooling": self.pooling,
        }

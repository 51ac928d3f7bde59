"""The distributed network of Duet (Mitra, Diaz and Craswell 2017), a ranker of Cohen et al. 2018."""

import math
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.layers.cnn_encoder import convolve_trigrams
from models.layers.word_embeddings import WordEmbeddings, seed_of
from models.rankers.cos_sim import make_embeddings
from models.rankers.scorer import Bounds, Joint, Scorer, ScorerInputs, Words
from models.rankers.settings import DuetSettings
from schemas import features as f


class DuetDistributed(Scorer):
    """Scores by layers over the products of a query's vector and the vectors of a document's windows.

        h(text)_i = tanh([E[token_{i-1}]; E[token_i]; E[token_{i+1}]] W)    zero vectors beyond the text's ends
        q = tanh(max_i(h(query)_i) U + u)                                   max_i of each component
        d_w = tanh(max_{i in window w}(h(document)_i) V + v)                windows of `window` words, from each word on
        x_0 = max_w(q * d_w)                                                * and max_w of each component
        x_1 = tanh(x_0 A + a),  x_2 = tanh(x_1 B + b)
        score = <x_2, c> + c_0

    Queries and documents have their own E, W and layers U and V. A document that is not longer than a window is a
    single window. The maximum of a text without known words is 0.

    Source: Mitra, Diaz and Craswell 2017, "Learning to match using local and distributed representations of text for
    web search", section 3.2, as changed by Cohen et al. 2018: x_0 is a maximum where Duet concatenates all products,
    and queries have 20 words instead of 8. Duet describes a word by its letter n-graphs, we by an embedding per
    language; its convolution has a bias, ours, that of `CnnEncoder`, has none; its network is 300 wide, ours 128 by
    default, which is faster on a CPU. Dropout, 0 by default, is only on the word embeddings.

    Because q is the same for all windows, max_w(q d_w) = max(q max_w d_w, q min_w d_w), component by component.
    Therefore two vectors represent a document, whatever its number of windows, and it is encoded once for all lists of
    a batch.

    Args:
      query_words, document_words: the words of the two languages.
      settings: the scorer's settings.
      seed: seeds the initial weights and dropout.

    Call arguments:
      features: `query_tokens`, int RaggedTensor [batch, (tokens)]; `doc_tokens`, int RaggedTensor
        [documents, (tokens)]; and `document_index` (see `Scorer`).
      training: whether dropout acts.
    """

    def __init__(
        self,
        query_words: Words,
        document_words: Words,
        settings: DuetSettings,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        filters, self._window = settings.filters, settings.window
        self._filters, self._query_words_used = filters, settings.query_words
        self._seed = seed
        self.query_embeddings, self.document_embeddings = make_embeddings(query_words, document_words, settings, seed)
        self.query_layer, self.document_layer, self.first_layer, self.second_layer = (
            keras.layers.Dense(filters, "tanh", kernel_initializer=self._initial(name), name=name)
            for name in ("query_layer", "document_layer", "first_layer", "second_layer")
        )
        self.score_layer = keras.layers.Dense(1, kernel_initializer=self._initial("score_layer"), name="score_layer")

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "DuetDistributed":
        """Makes the scorer of a configuration."""
        return cls(
            inputs.query_words, inputs.document_words, inputs.settings, inputs.job.training.seed, name=inputs.name
        )

    def build(self, input_shape: Any) -> None:
        """Creates the filters."""
        self.query_convolution, self.document_convolution = (
            self.add_weight(
                name=name, shape=(3 * self.query_embeddings.dim, self._filters), initializer=self._initial(name)
            )
            for name in ("query_convolution", "document_convolution")
        )
        super().build(input_shape)

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self._layers(features, training)[-1]

    def score_and_join(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, Joint | None]:
        """Returns the scores, and the joint representations [x_0; x_1; x_2]."""
        *layers, scores = self._layers(features, training)

        def join(columns: tf.Tensor) -> tf.Tensor:
            return tf.concat([tf.gather(layer, columns, batch_dims=1) for layer in layers], axis=-1)

        return scores, join

    def _layers(self, features: dict[str, Any], training: bool) -> tuple[tf.Tensor, ...]:
        """Returns x_0, x_1 and x_2, float [batch, list_size, filters] each, and scores, float [batch, list_size]."""
        query = self._query_vectors(features[f.QUERY_TOKENS][:, : self._query_words_used], training)[:, tf.newaxis]
        index = tf.maximum(features[f.DOCUMENT_INDEX], 0)
        vectors = self._document_vectors(features[f.DOC_TOKENS], training)
        largest, smallest = (tf.gather(rows, index) for rows in vectors)
        product = tf.maximum(query * largest, query * smallest)
        first = self.first_layer(product)
        second = self.second_layer(first)
        return product, first, second, self.score_layer(second)[:, :, 0]

    def _query_vectors(self, tokens: tf.RaggedTensor, training: bool) -> tf.Tensor:
        """Returns q: int [batch, (tokens)] -> float [batch, filters]."""
        values = self._filtered(tokens, self.query_embeddings, self.query_convolution, training)
        return self.query_layer(tf.tanh(text_maxima(values)))

    def _document_vectors(self, tokens: tf.RaggedTensor, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns max_w d_w and min_w d_w: int [documents, (tokens)] -> float [documents, filters] each."""
        values = self._filtered(tokens, self.document_embeddings, self.document_convolution, training)
        maxima, document = window_maxima(values, self._window)
        vectors, number = self.document_layer(tf.tanh(maxima)), tokens.nrows()
        return (
            tf.math.unsorted_segment_max(vectors, document, number),
            tf.math.unsorted_segment_min(vectors, document, number),
        )

    def _filtered(
        self, tokens: tf.RaggedTensor, embeddings: WordEmbeddings, kernel: tf.Variable, training: bool
    ) -> tf.RaggedTensor:
        """Returns the filters' values, [texts, (words), filters], before tanh, which may follow the maxima."""
        words = tokens.with_values(embeddings(tokens, training=training))
        return words.with_values(convolve_trigrams(words, kernel))

    def _initial(self, name: str) -> keras.initializers.Initializer:
        return keras.initializers.GlorotUniform(seed=seed_of(self._seed, name))

    @property
    def bounds(self) -> Bounds:
        """Infinite, because the last layer is linear; training moves scores to the range of the thresholds."""
        return Bounds(-math.inf, math.inf, theta_ends=(-1.0, 1.0))


def text_maxima(values: tf.RaggedTensor) -> tf.Tensor:
    """Returns the largest of each text's values, 0 for a text without any: float [texts, (words), n] -> [texts, n]."""
    largest = tf.math.unsorted_segment_max(values.values, values.value_rowids(), values.nrows())
    return tf.where(tf.equal(values.row_lengths(), 0)[:, tf.newaxis], 0.0, largest)


def window_maxima(values: tf.RaggedTensor, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the largest values in each window of a text, and the text of each window.

    A window starts at each word that has enough words after it; a shorter text is a single window.

    Args:
      values: float [texts, (words), n].
      window: number of words in a window.

    Returns:
      (float [windows, n], int64 [windows]).

    Example:
      >>> maxima, text = window_maxima(tf.ragged.constant([[[1.0], [5.0], [2.0], [3.0]], [[4.0]]], ragged_rank=1), 2)
      >>> maxima[:, 0].numpy().tolist(), text.numpy().tolist()
      ([4.0, 5.0, 5.0, 3.0], [1, 0, 0, 0])
    """
    is_long = values.row_lengths() > window
    short, long = (tf.where(condition)[:, 0] for condition in (tf.logical_not(is_long), is_long))
    maxima, text = _sliding_maxima(tf.gather(values, long), window)
    return (
        tf.concat([text_maxima(tf.gather(values, short)), maxima], axis=0),
        tf.concat([short, tf.gather(long, text)], axis=0),
    )


def _sliding_maxima(values: tf.RaggedTensor, window: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the maxima for texts of `window` words or more."""
    largest, text = values.values, values.value_rowids()
    position = tf.range(tf.size(text, text.dtype))
    limit = tf.gather(values.row_limits(), text)
    # The maximum of 2 n words is that of the maxima of the first n and the next n: log2(window) steps.
    covered = 1
    while covered < window:
        step = min(covered, window - covered)
        ahead = tf.where((position + step < limit)[:, tf.newaxis], tf.roll(largest, -step, axis=0), largest)
        largest, covered = tf.maximum(largest, ahead), covered + step
    whole = tf.where(position + window <= limit)[:, 0]
    return tf.gather(largest, whole), tf.gather(text, whole)

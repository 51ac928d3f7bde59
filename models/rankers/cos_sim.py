"""The cosine of two texts' states in a shared LSTM (Tan, Xiang and Zhou 2015), a ranker of Cohen et al. 2018."""

from typing import Any

import tensorflow as tf

from models.layers.lstm_encoder import bidirectional_lstm, encode_by_length, encode_padded
from models.layers.smooth_cosine import smooth_unit
from models.layers.word_embeddings import WordEmbeddings
from models.rankers.scorer import Bounds, InnerProduct, ScorerInputs, Words
from models.rankers.settings import CosSimSettings, WordScorerSettings
from schemas import features as f


class CosSim(InnerProduct):
    """Scores by the cosine of a query's and a document's largest LSTM states.

        h_i = [forward LSTM at word i; backward LSTM at word i]
        v = max_i(h_i)                                             max_i of each component
        score = <v_q, v_d> / (|v_q| |v_d|)                         0 where either text has no known word

    Source: the QA-LSTM with max pooling of Tan, Xiang and Zhou 2015, arXiv:1511.04108: both texts go through the same
      two
    LSTMs. We leave out its attention, with which a document's vector would depend on the query and could not be
    indexed. Queries and documents have separate tables of words. Tan et al. have 141 units in each direction, and Cohen
    et al. do not say theirs; ours are 64 by default, which is faster on a CPU. A document in several lists of a batch
    is encoded once.

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
        settings: CosSimSettings,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._units, self._query_words_used = settings.units, settings.query_words
        self.query_embeddings, self.document_embeddings = make_embeddings(query_words, document_words, settings, seed)
        self.lstm = bidirectional_lstm(settings.units, seed, self.dtype, return_sequences=True)

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "CosSim":
        """Makes the scorer of a configuration."""
        return cls(
            inputs.query_words, inputs.document_words, inputs.settings, inputs.job.training.seed, name=inputs.name
        )

    def build(self, input_shape: Any) -> None:
        """Creates the LSTMs' weights."""
        self.lstm.build((None, None, self.query_embeddings.dim))
        super().build(input_shape)

    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the unit vectors of queries, float [batch, 2 * units]; zero for a query without known words."""
        words = self._words(features[f.QUERY_TOKENS][:, : self._query_words_used], self.query_embeddings, training)
        return smooth_unit(encode_padded(words, self._largest_states), epsilon=0.0)

    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the unit vectors of documents, float [documents, 2 * units]; zero for those without known words."""
        words = self._words(features[f.DOC_TOKENS], self.document_embeddings, training)
        return smooth_unit(encode_by_length(words, self._largest_states, 2 * self._units), epsilon=0.0)

    def _words(self, tokens: tf.RaggedTensor, embeddings: WordEmbeddings, training: bool) -> tf.RaggedTensor:
        """Returns the embeddings of texts: int [texts, (tokens)] -> float [texts, (tokens), dim]."""
        return tokens.with_values(embeddings(tokens, training=training))

    def _largest_states(self, words: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Returns v: float [texts, words, dim] and bool [texts, words] -> float [texts, 2 * units]."""
        states = self.lstm(words, mask=mask)
        largest = tf.reduce_max(tf.where(mask[:, :, tf.newaxis], states, states.dtype.min), axis=1)
        return tf.where(tf.reduce_any(mask, axis=1, keepdims=True), largest, 0.0)

    @property
    def bounds(self) -> Bounds:
        """-1 and 1; padding scores as with the two towers' cosines."""
        return Bounds(-1.0, 1.0, padded=-1.0)


def make_embeddings(
    query_words: Words, document_words: Words, settings: WordScorerSettings, seed: int
) -> tuple[WordEmbeddings, WordEmbeddings]:
    """Makes the word embeddings of a scorer without encoders.

    Args:
      query_words, document_words: the words of the two languages.
      settings: the scorer's settings.
      seed: the seed of the queries' words; the documents' words have the next, because their starts must differ.
    """
    arguments: dict[str, Any] = {
        "dim": settings.embedding_dim,
        "initial_scale": settings.initial_scale,
        "dropout": settings.dropout,
    }
    query_embeddings, document_embeddings = (
        WordEmbeddings(
            words.number, seed=seed + number, vectors=words.vectors, train_table=words.train, name=name, **arguments
        )
        for number, (words, name) in enumerate(
            ((query_words, "query_embeddings"), (document_words, "document_embeddings"))
        )
    )
    return query_embeddings, document_embeddings

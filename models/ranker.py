"""The two-tower ranker: one encoder a language, and the similarity of what they make (paper, section 3)."""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.layers.make_encoder import make_encoder
from models.layers.make_similarity import make_similarity
from models.settings import ModelSettings
from schemas import features as f


class Ranker(keras.Model):
    """Scores the documents of query lists.

    Documents that stand in several lists of a batch are given, and encoded, once.

    Args:
      query_vocabulary_size: words of the query language.
      document_vocabulary_size: words of the document language.
      settings: the model's settings.
      seed: seeds the initial weights and dropout.

    Call arguments:
      features: a dict of
        `query_tokens`: int RaggedTensor [batch, (tokens)];
        `doc_tokens`: int RaggedTensor [documents, (tokens)], the distinct documents of the batch;
        `document_index`: int [batch, list_size], the row of `doc_tokens` at each place; negative marks padding.
      training: whether dropout acts.

    Returns:
      scores: float [batch, list_size]; that of a padded place means nothing.
    """

    def __init__(
        self,
        query_vocabulary_size: int,
        document_vocabulary_size: int,
        settings: ModelSettings,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._frozen: tuple[str, ...] = ()
        document_seed = None if seed is None else seed + 1  # the two encoders must not start alike
        self.query_encoder = make_encoder(settings, query_vocabulary_size, seed, "query_encoder")
        self.document_encoder = make_encoder(settings, document_vocabulary_size, document_seed, "document_encoder")
        self.similarity = make_similarity(settings)

    def start_from(self, encoder: keras.layers.Layer, vectors: npt.NDArray[np.float32], train: bool) -> None:
        """Builds the ranker, and puts pre-trained vectors into the first rows of an encoder's table.

        Args:
          encoder: `query_encoder` or `document_encoder`, any with the weight `table`, float [vocabulary_size, dim].
          vectors: float [words, dim], at most as many as the table has rows; those after them stay random.
          train: whether training moves the table.
        """
        word = tf.ragged.constant([[0]], tf.int32)
        self({f.QUERY_TOKENS: word, f.DOC_TOKENS: word, f.DOCUMENT_INDEX: tf.constant([[0]])})
        encoder.table.assign(tf.concat([vectors, encoder.table[len(vectors) :]], axis=0))
        if not train:
            self._frozen = (*self._frozen, encoder.name)

    @property
    def trainable_weights(self) -> list[tf.Variable]:
        """What training moves: all weights but the tables that `start_from` froze."""
        encoders = (self.query_encoder, self.document_encoder)
        frozen = {id(encoder.table) for encoder in encoders if encoder.name in self._frozen}
        return [weight for weight in super().trainable_weights if id(weight) not in frozen]

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self.similarity(*self.encode(features, training))

    def encode(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, tf.Tensor]:
        """The vectors that `similarity` compares: float [batch, dim] and [batch, list_size, dim]."""
        query = self.query_encoder(features[f.QUERY_TOKENS], training=training)
        document = self.document_encoder(features[f.DOC_TOKENS], training=training)
        return query, tf.gather(document, tf.maximum(features[f.DOCUMENT_INDEX], 0))

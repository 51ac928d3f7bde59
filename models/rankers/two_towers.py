"""The paper's ranker: one encoder a language, and the similarity of what they make (section 3)."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from tensorflow import keras

from models.layers.make_encoder import make_encoder
from models.layers.make_similarity import make_similarity
from models.layers.smooth_cosine import SmoothCosine
from models.rankers.scorer import InnerProduct
from models.settings import ModelSettings
from schemas import features as f


class Words(NamedTuple):
    """The words of one language, each a row of an encoder's table."""

    number: int
    vectors: npt.NDArray[np.float32] | None = None
    """Pre-trained vectors of the first words, float [words, dim]; the others start at random."""
    train: bool = True
    """Whether training moves the table."""
    stems: int = 0
    """The number of their stems, each a row of a second table if the model has one."""


class TwoTowers(InnerProduct):
    """Scores by the similarity of a query's encoding and a document's.

    Documents that stand in several lists of a batch are given, and encoded, once.

    Args:
      query_words, document_words: of the two languages.
      settings: the model's settings.
      seed: seeds the initial weights and dropout.

    Call arguments:
      features: `query_tokens`, int RaggedTensor [batch, (tokens)]; `doc_tokens`, int RaggedTensor
        [documents, (tokens)]; with stems, `query_stems` and `doc_stems` likewise; and `document_index` (see `Scorer`).
      training: whether dropout acts.
    """

    def __init__(
        self,
        query_words: Words,
        document_words: Words,
        settings: ModelSettings,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        document_seed = None if seed is None else seed + 1  # the two encoders must not start alike
        self.query_encoder, self.document_encoder = (
            make_encoder(settings, words.number, one_seed, name=name, **_of_tables(words, settings))
            for words, one_seed, name in (
                (query_words, seed, "query_encoder"),
                (document_words, document_seed, "document_encoder"),
            )
        )
        self._has_stems = settings.stem_embeddings
        self.similarity = make_similarity(settings)

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self.similarity(*self.encode(features, training))

    def encode(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, tf.Tensor]:
        """What `similarity` compares: float [batch, dim] and [batch, list_size, dim]."""
        query, document = self._encode_queries(features, training), self._encode_documents(features, training)
        return query, tf.gather(document, tf.maximum(features[f.DOCUMENT_INDEX], 0))

    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """The similarity's vectors of the queries' encodings."""
        return self.similarity.query_vector(self._encode_queries(features, training))

    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """The similarity's vectors of the documents' encodings."""
        return self.similarity.document_vector(self._encode_documents(features, training))

    def word_vectors(self, features: dict[str, Any]) -> tf.Tensor | None:
        """What the encoder makes of each word (see `TextEncoder.word_parts`), divided as their sum, the document, is.

        For cosines the divisor is the norm of the whole document's encoding.
        """
        stems = {"stems": features[f.DOC_STEMS]} if self._has_stems else {}
        parts = self.document_encoder.word_parts(features[f.DOC_TOKENS], **stems)
        if parts is None:
            return None
        divisor = self.similarity.document_divisor(tf.reduce_sum(parts, axis=0))
        return None if divisor is None else tf.math.divide_no_nan(parts, divisor)

    def _encode_queries(self, features: dict[str, Any], training: bool) -> tf.Tensor:
        """float [batch, dim]."""
        stems = {"stems": features[f.QUERY_STEMS]} if self._has_stems else {}
        return self.query_encoder(features[f.QUERY_TOKENS], training=training, **stems)

    def _encode_documents(self, features: dict[str, Any], training: bool) -> tf.Tensor:
        """float [documents, dim]."""
        stems = {"stems": features[f.DOC_STEMS]} if self._has_stems else {}
        return self.document_encoder(features[f.DOC_TOKENS], training=training, **stems)

    @property
    def score_range(self) -> tuple[float, float]:
        """The similarity's."""
        return self.similarity.score_range

    @property
    def theta_ends(self) -> tuple[float, float]:
        """-1 and 1, as the paper has them for its cosines; thresholds of the inner product lie between them, too."""
        return -1.0, 1.0

    @property
    def padded_score(self) -> float:
        """The similarity's."""
        return self.similarity.padded_score

    def score_and_watch(self, features: dict[str, Any]) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        """The scores, and the largest gradients of a score: ours, and the plain cosine's of the same encodings."""
        query, documents = self.encode(features)
        mask = features[f.DOCUMENT_INDEX] >= 0
        watched = {"max": self.similarity, "plain_cosine_max": SmoothCosine(epsilon=0.0)}
        return self.similarity(query, documents), {
            f"score_gradient/{name}": largest_score_gradient(similarity, query, documents, mask)
            for name, similarity in watched.items()
        }

    def figures(self) -> dict[str, float]:
        """What the largest gradient cannot exceed, if anything bounds it; JSON has no infinite number."""
        bound = self.similarity.gradient_bound
        return {"score_gradient/bound": bound} if math.isfinite(bound) else {}


def _of_tables(words: Words, settings: ModelSettings) -> dict[str, Any]:
    """The arguments of an encoder that are its tables'."""
    stems = {"stem_vocabulary_size": words.stems} if settings.stem_embeddings else {}
    return {"vectors": words.vectors, "train_table": words.train, **stems}


def largest_score_gradient(
    similarity: keras.layers.Layer, query: tf.Tensor, documents: tf.Tensor, mask: tf.Tensor
) -> tf.Tensor:
    """The largest norm of a score's gradient in its query's or its document's vector.

        max over pairs of max(|d score / d query|, |d score / d document|)

    Smooth cosine bounds it by 1 / epsilon (see `models.layers.smooth_cosine`); plain cosine does not.

    Args:
      similarity: the layer that scores.
      query: float [batch, dim].
      documents: float [batch, list_size, dim].
      mask: bool [batch, list_size], which places hold a document.

    Returns:
      float scalar; 0 where there is no pair.
    """
    one_each = tf.boolean_mask(documents, mask)[:, tf.newaxis]
    of_each = tf.repeat(query, tf.reduce_sum(tf.cast(mask, tf.int32), axis=1), axis=0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch((of_each, one_each))
        scores = similarity(of_each, one_each)
    # A pair's score depends on its own two vectors alone, so the gradient of the sum holds that of each.
    norms = [
        tf.norm(tf.reshape(part, [-1, query.shape[-1]]), axis=-1) for part in tape.gradient(scores, (of_each, one_each))
    ]
    return tf.reduce_max(tf.concat([*norms, [0.0]], axis=0))

"""The paper's ranker: an encoder for each language, and the similarity of the two encodings (section 3)."""

import math
from typing import Any

import tensorflow as tf
from tensorflow import keras

from models.layers.dot_product import DotProduct
from models.layers.similarity import Similarity
from models.layers.smooth_cosine import SmoothCosine
from models.layers.text_encoder import TextEncoder
from models.rankers.scorer import Bounds, InnerProduct, Joint, ScorerInputs, Watched, Words, join_vectors
from models.rankers.settings import SimilaritySettings, TwoTowersSettings
from schemas import features as f


class TwoTowers(InnerProduct, Watched):
    """Scores by the similarity of a query's encoding and a document's.

    A document in several lists of a batch is encoded once.

    Args:
      query_words, document_words: the words of the two languages.
      settings: the settings of the towers.
      seed: seeds the initial weights and dropout.

    Call arguments:
      features: `query_tokens`, int RaggedTensor [batch, (tokens)]; `doc_tokens`, int RaggedTensor
        [documents, (tokens)]; `query_stems` and `doc_stems` if the encoder reads stems; and `document_index` (see
        `Scorer`).
      training: whether dropout acts.
    """

    def __init__(
        self,
        query_words: Words,
        document_words: Words,
        settings: TwoTowersSettings,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.query_encoder = make_encoder(settings, query_words, seed, "query_encoder")
        # The starts of the two encoders must differ.
        self.document_encoder = make_encoder(settings, document_words, seed + 1, "document_encoder", for_documents=True)
        self._query_terms, self._document_terms = (
            (f.QUERY_TOKENS, f.DOC_TOKENS) if settings.reads.words else (f.QUERY_STEMS, f.DOC_STEMS)
        )
        self._has_stems = settings.reads.words and settings.reads.stems
        self.similarity = make_similarity(settings, settings.embedding_dim, settings.encoder.largest_component)

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "TwoTowers":
        """Makes the towers of a configuration."""
        return cls(inputs.query_words, inputs.document_words, inputs.settings, inputs.job.training.seed)

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self.similarity(*self.encode(features, training))

    def score_and_join(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, Joint | None]:
        """Returns the scores, and the joint representations [q; d; q * d] of the similarity's vectors."""
        query, documents = self.encode(features, training)
        vectors = self.similarity.query_vector(query), self.similarity.document_vector(documents)
        return self.similarity(query, documents), join_vectors(*vectors)

    def encode(self, features: dict[str, Any], training: bool = False) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the encodings that `similarity` compares: float [batch, dim] and [batch, list_size, dim]."""
        query, document = self._encode_queries(features, training), self._encode_documents(features, training)
        return query, tf.gather(document, tf.maximum(features[f.DOCUMENT_INDEX], 0))

    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the similarity's vectors of the queries' encodings."""
        return self.similarity.query_vector(self._encode_queries(features, training))

    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Returns the similarity's vectors of the documents' encodings."""
        return self.similarity.document_vector(self._encode_documents(features, training))

    def word_vectors(self, features: dict[str, Any]) -> tf.Tensor | None:
        """Returns the encoder's share of each word (see `TextEncoder.word_parts`), divided by the document's
        divisor."""
        stems = {"stems": features[f.DOC_STEMS]} if self._has_stems else {}
        parts = self.document_encoder.word_parts(features[self._document_terms], **stems)
        if parts is None:
            return None
        divisor = self.similarity.document_divisor(tf.reduce_sum(parts, axis=0))
        return None if divisor is None else tf.math.divide_no_nan(parts, divisor)

    def _encode_queries(self, features: dict[str, Any], training: bool) -> tf.Tensor:
        """Returns float [batch, dim]."""
        stems = {"stems": features[f.QUERY_STEMS]} if self._has_stems else {}
        return self.query_encoder(features[self._query_terms], training=training, **stems)

    def _encode_documents(self, features: dict[str, Any], training: bool) -> tf.Tensor:
        """Returns float [documents, dim]."""
        stems = {"stems": features[f.DOC_STEMS]} if self._has_stems else {}
        return self.document_encoder(features[self._document_terms], training=training, **stems)

    @property
    def bounds(self) -> Bounds:
        """The similarity's range; thresholds have the paper's scale, of cosines, also for the inner product."""
        low, high = self.similarity.score_range
        return Bounds(low, high, theta_ends=(-1.0, 1.0), padded=self.similarity.padded_score)

    def score_and_watch(self, features: dict[str, Any]) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        """Returns the scores, and the largest gradients of our score and of the plain cosine on the same encodings."""
        query, documents = self.encode(features)
        mask = features[f.DOCUMENT_INDEX] >= 0
        watched = {"max": self.similarity, "plain_cosine_max": SmoothCosine(epsilon=0.0)}
        return self.similarity(query, documents), {
            f"score_gradient/{name}": largest_score_gradient(similarity, query, documents, mask)
            for name, similarity in watched.items()
        }

    def figures(self) -> dict[str, float]:
        """Returns the bound of a score's gradient, if it is finite as JSON demands."""
        bound = self.similarity.gradient_bound
        return {"score_gradient/bound": bound} if math.isfinite(bound) else {}


def make_encoder(
    settings: TwoTowersSettings, words: Words, seed: int, name: str, for_documents: bool = False
) -> TextEncoder:
    """Makes the encoder of a tower.

    Args:
      settings: the settings of the towers.
      words: the words of the tower's language.
      seed: see `TextEncoder`.
      name: the layer's name.
      for_documents: whether the tower is that of documents.
    """
    encoder, reads = settings.encoder, settings.reads
    arguments = encoder.arguments(for_documents)
    if reads.words and reads.stems:
        arguments |= {"stem_vocabulary_size": words.stems, "stem_idf": words.stem_idf}
    if reads.idf:
        arguments["idf"] = words.idf
    layer: TextEncoder = encoder.load()(
        words.number,
        settings.embedding_dim,
        encoder.initial_scale,
        seed,
        encoder.dropout,
        vectors=words.vectors,
        train_table=words.train,
        name=name,
        **arguments,
    )
    return layer


def make_similarity(settings: SimilaritySettings, dim: int, largest_component: float) -> Similarity:
    """Makes the layer that scores two encodings; the plain cosine is smooth cosine with epsilon 0.

    Args:
      settings: the similarity and its epsilon.
      dim: length of the encodings.
      largest_component: an upper bound on the magnitude of their components.
    """
    if settings.similarity == "dot":
        return DotProduct(dim, largest_component)
    return SmoothCosine(settings.epsilon if settings.similarity == "smooth_cosine" else 0.0)


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
      mask: bool [batch, list_size]; False for padding.

    Returns:
      float scalar; 0 where there is no pair.
    """
    sizes = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
    pairs = tf.repeat(query, sizes, axis=0), tf.boolean_mask(documents, mask)[:, tf.newaxis]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(pairs)
        scores = similarity(*pairs)
    # A pair's score depends only on its own vectors, so the gradient of the sum has the gradients of all pairs.
    norms = [tf.norm(tf.reshape(part, [-1, query.shape[-1]]), axis=-1) for part in tape.gradient(scores, pairs)]
    return tf.reduce_max(tf.concat([*norms, [0.0]], axis=0))

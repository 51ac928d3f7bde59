"""A scorer whose score is an inner product, so that an index of its vectors can search a collection."""

from abc import ABC, abstractmethod
from typing import Any

import tensorflow as tf

from models.scorer import Scorer
from schemas import features as f


class InnerProduct(Scorer, ABC):
    """Scores by the inner product of a query's vector and a document's.

        score = <query_vector, document_vector>

    The two functions may differ. A model of such scorers exports `encode_query` and `encode_document`: any
    maximum-inner-product index can search what they make. Other arguments are those of `Scorer`.
    """

    @abstractmethod
    def query_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Vectors of queries, from query columns alone: float [batch, dim]."""

    @abstractmethod
    def document_vector(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Vectors of documents, from document columns alone: float [documents, dim]."""

    def word_vectors(self, features: dict[str, Any]) -> tf.Tensor | None:
        """What each word of one document adds to its vector: float [words, dim], whose sum is the vector.

        Their inner products with a query's vector are the words' shares in the score. Here there are none: only some
        vectors are sums over words.

        Args:
          features: document columns of the document's words, each a text of its own.
        """
        return None

    def call(self, features: dict[str, Any], training: bool = False) -> tf.Tensor:
        """Scores each list."""
        return self._inner_products(features, training)

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list from the vectors that the exported model gives, too."""
        return self._inner_products(features, training=False)

    def _inner_products(self, features: dict[str, Any], training: bool) -> tf.Tensor:
        documents = tf.gather(self.document_vector(features, training), tf.maximum(features[f.DOCUMENT_INDEX], 0))
        return tf.linalg.matvec(documents, self.query_vector(features, training))

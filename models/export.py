"""The SavedModel that is served: raw strings in, scores or vectors out, and no optimizer."""

from collections.abc import Callable

import tensorflow as tf

from models.ranker import Ranker

Tokens = Callable[[tf.Tensor], tf.RaggedTensor]
"""string [batch] -> int [batch, (tokens)], the training's own transformation of one language."""


class _Server(tf.Module):
    """Holds what the signatures use: the two encoders, and the vocabularies behind the token functions."""

    def __init__(self, ranker: Ranker, query_tokens: Tokens, document_tokens: Tokens, resources: object) -> None:
        super().__init__()
        # Only the weights: a tracked model would bring its optimizer's slots along, a tracked layer dropout.
        self.weights = ranker.weights
        self.query_encoder = ranker.query_encoder.__call__
        self.document_encoder = ranker.document_encoder.__call__
        self.resources = resources
        self._vector = ranker.similarity.vector
        self._padded_score = ranker.similarity.padded_score
        self._query_tokens = query_tokens
        self._document_tokens = document_tokens

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="query")])
    def encode_query(self, query: tf.Tensor) -> dict[str, tf.Tensor]:
        """Vectors of queries, [batch, dim]."""
        return {"vector": self._vector(self.query_encoder(self._query_tokens(query)))}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="document")])
    def encode_document(self, document: tf.Tensor) -> dict[str, tf.Tensor]:
        """Vectors of documents, [batch, dim]."""
        return {"vector": self._vector(self.document_encoder(self._document_tokens(document)))}

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="query"),
            tf.TensorSpec([None, None], tf.string, name="documents"),
        ]
    )
    def score(self, query: tf.Tensor, documents: tf.Tensor) -> dict[str, tf.Tensor]:
        """Scores of each query's documents, [batch, list_size]."""
        distinct, place = tf.unique(tf.reshape(documents, [-1]))
        vectors = tf.gather(self.encode_document(distinct)["vector"], tf.reshape(place, tf.shape(documents)))
        scores = tf.linalg.matvec(vectors, self.encode_query(query)["vector"])
        return {"scores": tf.where(tf.equal(documents, ""), self._padded_score, scores)}


def export_ranker(ranker: Ranker, query_tokens: Tokens, document_tokens: Tokens, resources: object, path: str) -> None:
    """Writes a ranker as a SavedModel with three signatures on plain strings.

        score (serving_default)  query [batch], documents [batch, list_size] padded by "" -> scores [batch, list_size]
        encode_query             query [batch] -> vector [batch, dim]
        encode_document          document [batch] -> vector [batch, dim]

    The vectors are those of `Similarity.vector`: the inner product of a query's and a document's is their score, so any
    maximum-inner-product index can search them. A padded place scores `Similarity.padded_score`: -1 for both cosines,
    below -embedding_dim for dot.

    Args:
      ranker: built, with its weights.
      query_tokens, document_tokens: see `Tokens`.
      resources: what holds their vocabularies, to be saved along.
      path: folder to write.
    """
    server = _Server(ranker, query_tokens, document_tokens, resources)
    tf.saved_model.save(
        server,
        path,
        signatures={
            "serving_default": server.score,
            "score": server.score,
            "encode_query": server.encode_query,
            "encode_document": server.encode_document,
        },
    )

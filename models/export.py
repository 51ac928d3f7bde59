"""The SavedModel that is served: raw strings in, scores or vectors out, and no optimizer."""

import tensorflow as tf

from models.ranker import Ranker
from models.text_features import TextFeatures
from schemas import features as f


class _Server(tf.Module):
    """Holds what the signatures use: weights, and the vocabularies behind the features."""

    def __init__(self, ranker: Ranker, text_features: TextFeatures) -> None:
        super().__init__()
        # Only the weights: a tracked model would bring its optimizer's slots along, a tracked layer dropout.
        self.weights = ranker.weights
        self.resources = [text_features, *(channel.resources for channel in ranker.channels.values())]
        self._text_features = text_features
        self._padded_scores = ranker.padded_scores
        self._score_texts = ranker.score_texts

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string, name="query"),
            tf.TensorSpec([None, None], tf.string, name="documents"),
        ]
    )
    def score(self, query: tf.Tensor, documents: tf.Tensor) -> dict[str, tf.Tensor]:
        """Scores of each query's documents, [batch, list_size]: the model's and each channel's."""
        distinct, place = tf.unique(tf.reshape(documents, [-1]))
        scores = self._score_texts(
            {
                **self._query_features(query),
                **self._document_features(distinct),
                f.DOCUMENT_INDEX: tf.reshape(place, tf.shape(documents)),
            }
        )
        is_padding = tf.equal(documents, "")
        return {name: tf.where(is_padding, self._padded_scores[name], one) for name, one in scores.items()}

    def _query_features(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
        return {**self._text_features.of_queries(texts), f.QUERY_TEXT: texts}

    def _document_features(self, texts: tf.Tensor) -> dict[str, tf.Tensor]:
        return {**self._text_features.of_documents(texts), f.DOC_TEXT: texts}


class _EncodingServer(_Server):
    """That of a ranker whose score is an inner product."""

    def __init__(self, ranker: Ranker, text_features: TextFeatures) -> None:
        super().__init__(ranker, text_features)
        self._query_vector, self._document_vector = ranker.query_vector, ranker.document_vector

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="query")])
    def encode_query(self, query: tf.Tensor) -> dict[str, tf.Tensor]:
        """Vectors of queries, [batch, dim]."""
        return {"vector": self._query_vector(self._query_features(query))}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="document")])
    def encode_document(self, document: tf.Tensor) -> dict[str, tf.Tensor]:
        """Vectors of documents, [batch, dim]."""
        return {"vector": self._document_vector(self._document_features(document))}


def export_ranker(ranker: Ranker, text_features: TextFeatures, path: str) -> None:
    """Writes a ranker as a SavedModel with signatures on plain strings.

        score (serving_default)  query [batch], documents [batch, list_size] padded by ""
                                 -> scores [batch, list_size], and each channel's scores by its name
        encode_query             query [batch] -> vector [batch, dim]
        encode_document          document [batch] -> vector [batch, dim]

    The encoders are there if the score is an inner product (see `models.inner_product`): the inner product of a query's
    vector and a document's is their score, so any maximum-inner-product index can search them. What a padded place
    scores is the scorer's (see `Scorer.padded_score`): -1 for both cosines, below -embedding_dim for dot.

    Args:
      ranker: built, with its weights.
      text_features: the training's own transformation.
      path: folder to write.
    """
    server = (_EncodingServer if ranker.is_inner_product else _Server)(ranker, text_features)
    signatures = {"serving_default": server.score, "score": server.score}
    if isinstance(server, _EncodingServer):
        signatures |= {"encode_query": server.encode_query, "encode_document": server.encode_document}
    tf.saved_model.save(server, path, signatures=signatures)

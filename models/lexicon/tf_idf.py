"""The cosine of the words' counts, weighted by their rarity (Salton and Buckley 1988)."""

import tensorflow as tf

from models.lexicon.lexicon_channel import LexiconChannel
from models.lexicon.terms import terms_of
from models.rankers.scorer import Bounds


class TfIdf(LexiconChannel):
    """Scores documents by the cosine of their words and the query's.

        weight(w, text) = tf(w, text) * ln((N + 1) / (df(w) + 1/2))
        score = cosine of the weights of the query and of the document

    N is the number of documents in the collection, df(w) the number of documents with the word. A text without words
    scores 0.

    Args:
      lexicon: a lexicon of the kind `tfidf`.
      **kwargs: see `Scorer`.
    """

    @property
    def bounds(self) -> Bounds:
        """0 and 1."""
        return Bounds(0.0, 1.0)

    def query_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """The distinct words of queries, and their weights divided by the norm of each query."""
        return self._unit_vectors(texts, self._record.query_language)

    def document_terms(self, texts: tf.Tensor, own: bool = False) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """The distinct words of documents, and their weights divided by the norm of each document."""
        return self._unit_vectors(texts, self._record.document_language)

    def _unit_vectors(self, texts: tf.Tensor, language: str) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        terms = terms_of(texts, self._record.kind, language, self._record.rules)  # indices [texts, (words)]
        size = tf.maximum(tf.size(terms.distinct, tf.int64), 1)
        keys, _, count = tf.unique_with_counts(terms.indices.value_rowids() * size + terms.indices.flat_values)
        text, word = keys // size, keys % size  # int64 [keys], both
        rarity = self._idf_at(self._vocabulary.numbers(terms.distinct))  # float [distinct]
        weight = tf.cast(count, tf.float32) * tf.gather(rarity, word)  # float [keys]
        norm = tf.sqrt(tf.math.unsorted_segment_sum(weight * weight, text, terms.indices.nrows()))  # float [texts]
        words = tf.gather(terms.distinct, word)  # string [keys]
        rows = tf.RaggedTensor.from_value_rowids(words, text, terms.indices.nrows(), validate=False)
        return rows, rows.with_flat_values(tf.math.divide_no_nan(weight, tf.gather(norm, text)))

"""The cosine of words' counts, weighted by their rarity (Salton and Buckley 1988)."""

import tensorflow as tf

from models.lexicon.lexicon_channel import LexiconChannel
from models.lexicon.terms import terms_of


class TfIdf(LexiconChannel):
    """Scores documents by the cosine of their words and a query's.

        weight(w, text) = tf(w, text) * ln((N + 1) / (df(w) + 1/2))
        score = cosine of the weights of the query and of the document

    with N the number of documents in the collection, and df(w) that of those with the word. A text without words scores
    0. Other arguments are those of `Scorer`.

    Args:
      lexicon: of the kind `tfidf`.
    """

    @property
    def score_range(self) -> tuple[float, float]:
        """0 and 1."""
        return 0.0, 1.0

    def query_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """A query's words, and their weights divided by the norm of all."""
        return self._unit_vectors(texts, self._record.query_language)

    def document_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """A document's words, and their weights divided by the norm of all."""
        return self._unit_vectors(texts, self._record.document_language)

    def _unit_vectors(self, texts: tf.Tensor, language: str) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        terms = terms_of(texts, self._record.kind, language, self._record.max_tokens)
        size = tf.maximum(tf.size(terms.distinct, tf.int64), 1)
        keys, _, count = tf.unique_with_counts(terms.places.value_rowids() * size + terms.places.flat_values)
        text, word = keys // size, keys % size
        rarity = self._idf_at(self._vocabulary.numbers(terms.distinct))
        weight = tf.cast(count, tf.float32) * tf.gather(rarity, word)
        norm = tf.sqrt(tf.math.unsorted_segment_sum(weight * weight, text, terms.places.nrows()))
        rows = tf.RaggedTensor.from_value_rowids(
            tf.gather(terms.distinct, word), text, terms.places.nrows(), validate=False
        )
        return rows, rows.with_flat_values(tf.math.divide_no_nan(weight, tf.gather(norm, text)))

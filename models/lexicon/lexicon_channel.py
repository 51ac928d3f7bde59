"""What the channels of words that match have in common: a lexicon's terms, and how rare they are."""

from abc import ABC
from typing import Any

import tensorflow as tf

from models.lexicon.idf import idf
from models.lexicon.lexicon import Lexicon
from models.lexicon.vocabulary import Vocabulary
from models.sparse_inner_product import CollectionStatistics, SparseInnerProduct
from models.tokens import tokenize


class LexiconChannel(SparseInnerProduct, ABC):
    """A scorer that weighs terms by a lexicon. Other arguments are those of `Scorer`.

    Args:
      lexicon: of the channel's kind.
    """

    def __init__(self, lexicon: Lexicon, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._record = lexicon.record
        self._vocabulary = Vocabulary(lexicon.terms)
        frequency = lexicon.document_frequency[self._vocabulary.order]
        self._idf = tf.Variable(idf(self._record.documents, frequency), trainable=False, dtype=tf.float32, name="idf")

    def document_words(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """The words of documents within the lexicon's limit."""
        return tokenize(texts, self._record.max_tokens)

    def knows(self, terms: tf.Tensor) -> tf.Tensor:
        """Whether the lexicon has them."""
        return self._vocabulary.numbers(terms) >= 0

    def statistics(self) -> CollectionStatistics:
        """Those of the lexicon; df follows from idf."""
        frequency = (self._record.documents + 1) * tf.exp(-self._idf) - 0.5
        return CollectionStatistics(
            documents=tf.constant(self._record.documents, tf.int64),
            mean_length=tf.constant(self._record.mean_length, tf.float32),
            term=self._vocabulary.terms(tf.range(tf.size(self._idf))),
            document_frequency=tf.maximum(frequency, 0.0),
        )

    def _idf_at(self, numbers: tf.Tensor) -> tf.Tensor:
        """idf of terms by their numbers; of those that are not known, with df = 0."""
        padded = tf.concat([self._idf, [float(idf(self._record.documents, 0))]], axis=0)
        return tf.gather(padded, tf.where(numbers >= 0, numbers, tf.shape(self._idf, tf.int64)[0]))

"""The base of channels that weigh terms by a lexicon; their data are variables of the SavedModel."""

from abc import ABC
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from models.lexicon.lexicon import Lexicon, read_lexicon
from models.lexicon.term_weight import idf
from models.rankers.scorer import ScorerInputs
from models.rankers.sparse_inner_product import SparseInnerProduct

_BUCKETS = 2**63 - 1


class Vocabulary(tf.Module):
    """Distinct terms, numbered in the order of their fingerprints.

    If two terms have the same fingerprint, one of them is unknown. A million terms have such a pair with a probability
    of 1e-7.

    Args:
      terms: distinct terms, UTF-8, at least one.

    Attributes:
      order: for each number the index in `terms`, int [terms].
    """

    def __init__(self, terms: Sequence[bytes]) -> None:
        super().__init__()
        fingerprints = _fingerprints(tf.constant(terms, tf.string)).numpy()
        self.order = np.argsort(fingerprints, kind="stable")
        self._fingerprints = tf.Variable(fingerprints[self.order], trainable=False, name="fingerprints")
        self._terms = tf.Variable(tf.gather(tf.constant(terms, tf.string), self.order), trainable=False, name="terms")

    def numbers(self, terms: tf.Tensor) -> tf.Tensor:
        """The numbers of terms, string [terms] -> int64 [terms]; -1 for an unknown term."""
        last = tf.shape(self._fingerprints)[0] - 1
        row = tf.minimum(tf.searchsorted(self._fingerprints, _fingerprints(terms)), last)
        return tf.where(tf.gather(self._terms, row) == terms, tf.cast(row, tf.int64), -1)

    def terms(self, numbers: tf.Tensor) -> tf.Tensor:
        """The terms of numbers, int [...] -> string [...]."""
        return tf.gather(self._terms, numbers)


def _fingerprints(terms: tf.Tensor) -> tf.Tensor:
    return tf.strings.to_hash_bucket_fast(terms, _BUCKETS)


class CollectionStatistics(NamedTuple):
    """Counts of a collection, which determine the weights of terms."""

    documents: tf.Tensor
    """int64: number of documents."""
    mean_length: tf.Tensor
    """float: mean length of a document, in terms."""
    term: tf.Tensor
    """string [terms]."""
    document_frequency: tf.Tensor
    """float [terms]: number of documents with the term; a document with only a translation counts in part."""


class LexiconChannel(SparseInnerProduct, ABC):
    """A scorer that weighs terms by a lexicon.

    Args:
      lexicon: a lexicon of the channel's kind.
      **kwargs: see `Scorer`.
    """

    def __init__(self, lexicon: Lexicon, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._record = lexicon.record
        self._vocabulary = Vocabulary(lexicon.terms)
        frequency = lexicon.document_frequency[self._vocabulary.order]
        numbers = self._vocabulary.numbers(tf.constant([term for term, _ in lexicon.words], tf.string))
        words = tf.constant([word for _, word in lexicon.words], tf.string)
        self._word_terms = tf.Variable(numbers[numbers >= 0], trainable=False, name="word_terms")
        self._words = tf.Variable(words[numbers >= 0], trainable=False, name="words")
        self._idf = tf.Variable(idf(self._record.documents, frequency), trainable=False, dtype=tf.float32, name="idf")

    @classmethod
    def make(cls, inputs: ScorerInputs) -> "LexiconChannel":
        """Makes the channel from the lexicon of the stage LexiconGen.

        Raises:
          ValueError: there is no lexicon.
        """
        if inputs.job.lexicon is None:
            raise ValueError(f"the channel {inputs.name} needs a lexicon; got none.")
        return cls(read_lexicon(inputs.job.lexicon), name=inputs.name)

    def knows(self, terms: tf.Tensor) -> tf.Tensor:
        """Whether the lexicon has each term, string [terms] -> bool [terms]."""
        return self._vocabulary.numbers(terms) >= 0

    def document_words(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Stems and their words in the training's documents, string [words] each: see `Lexicon.words`."""
        return self._vocabulary.terms(self._word_terms), tf.identity(self._words)

    def statistics(self) -> CollectionStatistics:
        """The statistics in the lexicon; df is computed from idf."""
        frequency = (self._record.documents + 1) * tf.exp(-self._idf) - 0.5
        return CollectionStatistics(
            documents=tf.constant(self._record.documents, tf.int64),
            mean_length=tf.constant(self._record.mean_length, tf.float32),
            term=self._vocabulary.terms(tf.range(tf.size(self._idf))),
            document_frequency=tf.maximum(frequency, 0.0),
        )

    def _idf_at(self, numbers: tf.Tensor) -> tf.Tensor:
        """idf of terms by their numbers, int64 [...] -> float [...]; unknown terms have df = 0."""
        padded = tf.concat([self._idf, [float(idf(self._record.documents, 0))]], axis=0)
        return tf.gather(padded, tf.where(numbers >= 0, numbers, tf.shape(self._idf, tf.int64)[0]))

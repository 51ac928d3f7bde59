"""Probabilistic structured queries (Darwish and Oard 2003): BM25 over what a query's terms may be translated to."""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.lexicon.lexicon import Lexicon, idf
from models.lexicon.lexicon_channel import LexiconChannel
from models.lexicon.terms import Terms, term_of, terms_of
from models.rankers.scorer import Parts, Translations
from schemas import features as f

K1: Final = 1.2
B: Final = 0.75


class StructuredQueries(LexiconChannel):
    """Scores documents by the translations of a query's terms that they hold.

        T = max(A, identity)
        tf'(q, d) = sum over w of T[q, w] tf(w, d)
        idf(q) = ln(1 + (N - df'(q) + 1/2) / (df'(q) + 1/2))
        score = mean over the query's distinct terms of idf(q) tf' (K1 + 1) / (tf' + K1 (1 - B + B |d| / mean |d|))

    with A, df', N and the mean length those of a lexicon (see `models.lexicon.learn_lexicon`), and |d| the number of
    the document's terms. A term that the lexicon does not know matches itself, with df' = 0. Where A is 0, this is BM25
    divided by the number of the query's terms. Other arguments are those of `Scorer`.

    As an inner product, a query's terms weigh 1 / their number each, and a document has a weight for every term of a
    query that it answers: it is the document that is translated.

    Args:
      lexicon: of the kind `lexicon` or `bm25`.
    """

    def __init__(self, lexicon: Lexicon, **kwargs: Any) -> None:
        super().__init__(lexicon, **kwargs)
        order = self._vocabulary.order
        translations = lexicon.translations[order][:, order]
        # T without its identity, which needs no table.
        others = (translations - sparse.diags(translations.diagonal())).tocoo()
        by_weight = np.lexsort((order[others.col], -others.data, others.row))
        self._of_query = _Rows.of(others, by_weight)
        self._of_document = _Rows.of(others.T, np.argsort(others.col, kind="stable"))

    @property
    def score_range(self) -> tuple[float, float]:
        """From 0 to what a term that no document holds would give if a document held nothing else."""
        return 0.0, (K1 + 1) * float(idf(self._record.documents, 0))

    def _saturated(self, frequency: tf.Tensor, length: tf.Tensor) -> tf.Tensor:
        """tf' (K1 + 1) / (tf' + K1 (1 - B + B |d| / mean |d|))."""
        mean_length = self._record.mean_length or 1.0
        norm = K1 * (1 - B + B * tf.cast(length, tf.float32) / mean_length)
        return frequency * (K1 + 1) / (frequency + norm)

    def _terms(self, texts: tf.Tensor, language: str) -> Terms:
        return terms_of(texts, self._record.kind, language, self._record.max_tokens)

    def query_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """A query's distinct terms, each with the weight 1 / their number."""
        terms = self._terms(texts, self._record.query_language)
        asked = _distinct(terms.places)
        weight = tf.math.reciprocal_no_nan(tf.cast(asked.row_lengths(), tf.float32))
        return (
            asked.with_flat_values(tf.gather(terms.distinct, asked.flat_values)),
            asked.with_flat_values(tf.gather(weight, asked.value_rowids())),
        )

    def document_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Every query term that a document answers, and what it adds to the score."""
        return self._weighted_terms(texts, translate=True)

    def query_term_of(self, words: tf.Tensor) -> tf.Tensor:
        """The stem of each word, or the word itself; see `models.lexicon.terms`."""
        return term_of(words, self._record.kind, self._record.query_language)

    def document_term_of(self, words: tf.Tensor) -> tf.Tensor:
        """The stem of each word, or the word itself; see `models.lexicon.terms`."""
        return term_of(words, self._record.kind, self._record.document_language)

    def own_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Every term that a document holds, and its weight in BM25: idf(w) tf (K1 + 1) / (tf + norm)."""
        return self._weighted_terms(texts, translate=False)

    def _weighted_terms(self, texts: tf.Tensor, translate: bool) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        terms = self._terms(texts, self._record.document_language)
        place, document = terms.places.flat_values, terms.places.value_rowids()
        numbers = self._vocabulary.numbers(terms.distinct)
        # A number below 0 has no entries.
        entry, translated = self._of_document.entries(tf.gather(numbers, place) if translate else -tf.ones_like(place))
        # Terms that are known go by their numbers, the others by their places behind them.
        size = tf.shape(self._idf, tf.int64)[0]
        own = tf.where(numbers >= 0, numbers, size + tf.range(tf.size(numbers, tf.int64)))
        terms_in_all = size + tf.size(numbers, tf.int64)
        keys = tf.concat(
            [
                document * terms_in_all + tf.gather(own, place),
                tf.gather(document, entry) * terms_in_all + tf.gather(self._of_document.columns, translated),
            ],
            axis=0,
        )
        one = tf.ones(tf.shape(place), tf.float32)
        keys, cell = tf.unique(keys)
        frequency = tf.math.unsorted_segment_sum(
            tf.concat([one, tf.gather(self._of_document.weights, translated)], axis=0), cell, tf.size(keys)
        )
        order = tf.argsort(keys)
        keys, frequency = tf.gather(keys, order), tf.gather(frequency, order)
        document, term = keys // terms_in_all, keys % terms_in_all
        known = term < size
        weight = self._saturated(frequency, tf.gather(terms.places.row_lengths(), document))
        weight *= self._idf_at(tf.where(known, term, -1))
        text = tf.where(
            known,
            self._vocabulary.terms(tf.where(known, term, tf.zeros_like(term))),
            tf.gather(terms.distinct, tf.maximum(term - size, 0)),
        )
        rows = tf.RaggedTensor.from_value_rowids(text, document, terms.places.nrows(), validate=False)
        return rows, rows.with_flat_values(weight)

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list, with T expanded over the terms of all its documents."""
        queries = self._terms(features[f.QUERY_TEXT], self._record.query_language)
        documents = self._terms(features[f.DOC_TEXT], self._record.document_language)
        index = features[f.DOCUMENT_INDEX]
        lists, list_size = tf.shape(index, tf.int64)[0], tf.shape(index, tf.int64)[1]
        # Terms go by their places in `distinct` from here on.
        distinct, place = tf.unique(tf.concat([queries.distinct, documents.distinct], axis=0), tf.int64)
        size = tf.size(distinct, tf.int64)
        of_queries, of_documents = tf.split(place, [tf.size(queries.distinct), tf.size(documents.distinct)])
        asked = _distinct(tf.ragged.map_flat_values(lambda places: tf.gather(of_queries, places), queries.places))
        query, column = asked.value_rowids(), tf.ragged.range(asked.row_lengths()).flat_values
        numbers = self._vocabulary.numbers(distinct)
        asked_numbers = tf.gather(numbers, asked.flat_values)
        # Each term that is asked, and a term that answers it with a weight: itself, and its translations among these.
        owner, entry = self._of_query.entries(asked_numbers)
        order = tf.argsort(numbers)
        ordered, wanted = tf.gather(numbers, order), tf.gather(self._of_query.columns, entry)
        at = tf.minimum(tf.searchsorted(ordered, wanted, out_type=tf.int64), size - 1)
        is_here = tf.gather(ordered, at) == wanted
        owner = tf.concat([tf.range(tf.size(query)), tf.cast(owner[is_here], tf.int32)], axis=0)
        answer = tf.concat([asked.flat_values, tf.cast(tf.gather(order, at[is_here]), tf.int64)], axis=0)
        weight = tf.concat([tf.ones(tf.shape(query)), tf.gather(self._of_query.weights, entry[is_here])], axis=0)
        # The entries of each (list, answering term).
        slots, slot = tf.unique(tf.gather(query, owner) * size + answer)
        of_slot = tf.argsort(slot, stable=True)
        by_slot = tf.RaggedTensor.from_value_rowids(of_slot, tf.gather(slot, of_slot), tf.size(slots), validate=False)
        slot_of_key = tf.tensor_scatter_nd_update(
            tf.fill([lists * size], -1), slots[:, tf.newaxis], tf.range(tf.size(slots))
        )
        # Each occurrence of a term in a document of a list.
        rows = tf.gather(documents.places, tf.reshape(tf.maximum(index, 0), [-1]))
        occurrence = rows.value_rowids()
        found = tf.gather(slot_of_key, occurrence // list_size * size + tf.gather(of_documents, rows.flat_values))
        occurrence, found = occurrence[found >= 0], found[found >= 0]
        hits = tf.gather(by_slot, found)
        hit = hits.flat_values
        width = tf.maximum(tf.reduce_max(asked.row_lengths()), 1)
        cell = tf.gather(occurrence, hits.value_rowids()) * width + tf.gather(column, tf.gather(owner, hit))
        frequency = tf.math.unsorted_segment_sum(tf.gather(weight, hit), cell, lists * list_size * width)
        length = tf.reshape(rows.row_lengths(), [lists, list_size, 1])
        saturated = self._saturated(tf.reshape(frequency, [lists, list_size, width]), length)
        idf = asked.with_flat_values(self._idf_at(asked_numbers)).to_tensor(shape=[None, None])
        idf = tf.pad(idf, [[0, 0], [0, width - tf.shape(idf, tf.int64)[1]]])
        mean = tf.math.reciprocal_no_nan(tf.cast(asked.row_lengths(), tf.float32))
        return tf.linalg.matvec(saturated, idf) * mean[:, tf.newaxis]

    def translations(self, queries: tf.Tensor) -> Translations:
        """The rows of T for the terms of queries: each term itself, then the others by weight, then by their UTF-8."""
        terms = self._terms(queries, self._record.query_language).distinct
        row, entry = self._of_query.entries(self._vocabulary.numbers(terms))
        row = tf.concat([tf.range(tf.size(terms, tf.int64)), row], axis=0)
        answers = tf.concat([terms, self._vocabulary.terms(tf.gather(self._of_query.columns, entry))], axis=0)
        weight = tf.concat([tf.ones(tf.shape(terms)), tf.gather(self._of_query.weights, entry)], axis=0)
        order = tf.argsort(row, stable=True)
        return Translations(
            tf.gather(terms, tf.gather(row, order)), tf.gather(answers, order), tf.gather(weight, order)
        )

    def parts(self, query: tf.Tensor, document: tf.Tensor) -> Parts:
        """Each term's share of tf' of what a term of the query adds."""
        table = self.translations(query[tf.newaxis])
        words = self._terms(document[tf.newaxis], self._record.document_language).texts().flat_values
        held, _, count = tf.unique_with_counts(words)
        at = tf.where(table.document_term[:, tf.newaxis] == held)
        entry, place = at[:, 0], at[:, 1]
        added = tf.gather(table.weight, entry) * tf.cast(tf.gather(count, place), tf.float32)
        asked, of_asked = tf.unique(table.query_term)
        of_asked = tf.gather(of_asked, entry)
        frequency = tf.math.unsorted_segment_sum(added, of_asked, tf.size(asked))
        score = self._saturated(frequency, tf.size(words)) * self._idf_at(self._vocabulary.numbers(asked))
        score = tf.math.divide_no_nan(score, frequency * tf.cast(tf.size(asked), tf.float32))
        return Parts(tf.gather(asked, of_asked), tf.gather(held, place), tf.gather(score, of_asked) * added)


class _Rows(NamedTuple):
    """A sparse matrix, row by row."""

    splits: tf.Variable
    columns: tf.Variable
    weights: tf.Variable

    @classmethod
    def of(cls, matrix: sparse.coo_matrix, order: npt.NDArray[np.int64]) -> "_Rows":
        """Of a matrix of scipy's, its entries in an order in which those of a row follow one another."""
        splits = np.searchsorted(matrix.row[order], np.arange(matrix.shape[0] + 1))
        return cls(
            tf.Variable(splits, trainable=False, dtype=tf.int64, name="splits"),
            tf.Variable(matrix.col[order], trainable=False, dtype=tf.int64, name="columns"),
            tf.Variable(matrix.data[order], trainable=False, dtype=tf.float32, name="weights"),
        )

    def entries(self, numbers: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The entries of rows, int64 [rows], of which -1 has none: (place among the rows, place in the matrix)."""
        row = tf.maximum(numbers, 0)
        starts = tf.gather(self.splits, row)
        ends = tf.where(numbers >= 0, tf.gather(self.splits, row + 1), starts)
        ranges = tf.ragged.range(starts, ends, row_splits_dtype=tf.int64)
        return ranges.value_rowids(), ranges.flat_values


def _distinct(numbers: tf.RaggedTensor) -> tf.RaggedTensor:
    """The distinct values of each row, int64 [rows, (values)], in the order in which they come first."""
    size = tf.reduce_max(tf.concat([numbers.flat_values, [0]], axis=0)) + 1
    keys, _ = tf.unique(numbers.value_rowids() * size + numbers.flat_values)
    return tf.RaggedTensor.from_value_rowids(keys % size, keys // size, numbers.nrows(), validate=False)


_Floats = npt.NDArray[np.float32]


def held_share(weight: _Floats, idf: _Floats, length: _Floats, mean_length: float) -> _Floats:
    """min(1, tf') of terms in documents, whose sum over the documents is df' (see `models.lexicon.learn_lexicon`).

        weight = idf tf' (K1 + 1) / (tf' + norm), norm = K1 (1 - B + B length / mean_length)
        tf' = weight norm / (idf (K1 + 1) - weight)

    Args:
      weight: what `StructuredQueries.document_terms` gives, above 0, float [...].
      idf: of the terms, above 0, float [...].
      length: of the documents, in terms, float [...].
      mean_length: that of the lexicon, above 0.

    Returns:
      float [...], each in (0, 1].

    Example:
      >>> one = lambda value: np.array([value], np.float32)
      >>> held_share(one(2.0 * 0.5 * 2.2 / (0.5 + 1.2)), one(2.0), one(7.0), 7.0).round(6).tolist()  # tf' = 0.5
      [0.5]
    """
    of_length = weight * (K1 * (1 - B + B * length / mean_length)).astype(np.float32)
    share: _Floats = of_length / np.maximum(idf * np.float32(K1 + 1) - weight, of_length)
    return share

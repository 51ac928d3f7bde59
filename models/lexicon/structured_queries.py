"""Probabilistic structured queries (Darwish and Oard 2003): BM25 over the possible translations of a query's terms."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.lexicon.lexicon import Lexicon
from models.lexicon.lexicon_channel import LexiconChannel
from models.lexicon.term_weight import K1, idf, length_norm
from models.lexicon.terms import Terms, term_of, terms_of
from models.rankers.scorer import Bounds
from models.rankers.sparse_inner_product import Parts, Role, Translations
from schemas import features as f


class StructuredQueries(LexiconChannel):
    """Scores documents by their translations of a query's terms.

        T = max(A, identity)
        tf'(q, d) = sum over w of T[q, w] tf(w, d)
        idf(q) = ln(1 + (N - df'(q) + 1/2) / (df'(q) + 1/2))
        score = mean over the query's distinct terms of idf(q) tf' (K1 + 1) / (tf' + K1 (1 - B + B |d| / mean |d|))

    A, df', N and the mean length are those of a lexicon (see `models.lexicon.learn_lexicon`); |d| is the number of the
    document's terms. A term that the lexicon lacks matches itself, with df' = 0. If A is 0, this is BM25 divided by the
    number of the query's terms.

    As an inner product, each of a query's n distinct terms weighs 1 / n, and a document has a weight for every query
    term that it translates.

    Args:
      lexicon: a lexicon of the kind `lexicon` or `bm25`.
      **kwargs: see `Scorer`.
    """

    def __init__(self, lexicon: Lexicon, **kwargs: Any) -> None:
        super().__init__(lexicon, **kwargs)
        order = self._vocabulary.order
        translations = lexicon.translations[order][:, order]
        # T without its identity, which needs no table.
        translated = (translations - sparse.diags(translations.diagonal())).tocoo()
        by_weight = np.lexsort((order[translated.col], -translated.data, translated.row))
        self._query_rows = _Rows.from_entries(translated, by_weight)
        self._document_rows = _Rows.from_entries(translated.T, np.argsort(translated.col, kind="stable"))

    @property
    def bounds(self) -> Bounds:
        """From 0 to the limit of many occurrences of a term with df' = 0."""
        return Bounds(0.0, (K1 + 1) * float(idf(self._record.documents, 0)))

    # The score of lists

    def score_texts(self, features: dict[str, Any]) -> tf.Tensor:
        """Scores each list, with T expanded over the terms of all its documents."""
        queries = self._terms(features[f.QUERY_TEXT], self._record.query_language)  # indices [lists, (words)]
        documents = self._terms(features[f.DOC_TEXT], self._record.document_language)  # indices [documents, (words)]
        index = features[f.DOCUMENT_INDEX]  # int [lists, list_size]

        # From here on a term is its number among the distinct terms of the batch, on both sides.
        terms, number = tf.unique(tf.concat([queries.distinct, documents.distinct], axis=0), tf.int64)  # string [terms]
        query_numbers, document_numbers = tf.split(number, [tf.size(queries.distinct), tf.size(documents.distinct)])
        query_terms = _distinct(_renumbered(queries.indices, query_numbers))  # int64 [lists, (query terms)]
        doc_terms = _renumbered(documents.indices, document_numbers)  # int64 [documents, (words)]
        doc_terms = tf.gather(doc_terms, tf.reshape(tf.maximum(index, 0), [-1]))  # int64 [lists * list_size, (words)]

        numbers = self._vocabulary.numbers(terms)  # int64 [terms], -1 for a term that the lexicon does not know
        width = tf.maximum(tf.reduce_max(query_terms.row_lengths()), 1)  # of the longest query
        shape = [*tf.unstack(tf.shape(index, tf.int64)), width]
        answers = self._answers(query_terms, numbers)
        frequency = _frequencies(query_terms, answers, doc_terms, tf.size(terms, tf.int64), shape)

        length = tf.reshape(doc_terms.row_lengths(), [*shape[:2], 1])
        saturated = self._saturated(frequency, length)  # float [lists, list_size, width]
        rarity = query_terms.with_flat_values(self._idf_at(tf.gather(numbers, query_terms.flat_values)))
        rarity = rarity.to_tensor(shape=[None, None])  # float [lists, width], or [lists, 0] for queries without terms
        rarity = tf.pad(rarity, [[0, 0], [0, width - tf.shape(rarity, tf.int64)[1]]])
        mean = tf.math.reciprocal_no_nan(tf.cast(query_terms.row_lengths(), tf.float32))  # float [lists]
        return tf.linalg.matvec(saturated, rarity) * mean[:, tf.newaxis]

    def _answers(self, query_terms: tf.RaggedTensor, numbers: tf.Tensor) -> "_Answers":
        """The entries of T for query terms, cut to the terms of the batch, whose numbers are int64 [terms]."""
        question, entry = self._query_rows.entries(tf.gather(numbers, query_terms.flat_values))  # int64 [entries], both
        # Looks up the lexicon's numbers among those of the batch.
        order = tf.argsort(numbers)  # int32 [terms]
        ordered = tf.gather(numbers, order)  # int64 [terms]
        wanted = tf.gather(self._query_rows.columns, entry)  # int64 [entries]
        at = tf.minimum(tf.searchsorted(ordered, wanted, out_type=tf.int64), tf.size(numbers, tf.int64) - 1)
        is_here = tf.gather(ordered, at) == wanted  # bool [entries]
        translation = tf.cast(tf.gather(order, at[is_here]), tf.int64)
        # Each term answers itself, with the weight 1.
        itself = tf.range(tf.size(query_terms.flat_values))  # int32 [questions]
        return _Answers(
            question=tf.concat([itself, tf.cast(question[is_here], tf.int32)], axis=0),
            term=tf.concat([query_terms.flat_values, translation], axis=0),
            weight=tf.concat([tf.ones(tf.shape(itself)), tf.gather(self._query_rows.weights, entry[is_here])], axis=0),
        )

    def _saturated(self, frequency: tf.Tensor, length: tf.Tensor) -> tf.Tensor:
        """tf' (K1 + 1) / (tf' + K1 (1 - B + B |d| / mean |d|))."""
        norm = length_norm(tf.cast(length, tf.float32), self._record.mean_length)
        return frequency * (K1 + 1) / (frequency + norm)

    def _terms(self, texts: tf.Tensor, language: str) -> Terms:
        return terms_of(texts, self._record.kind, language, self._record.rules)

    # The score as an inner product

    def query_terms(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """A query's n distinct terms, each with the weight 1 / n."""
        terms = self._terms(texts, self._record.query_language)
        query_terms = _distinct(terms.indices)  # int64 [batch, (query terms)]
        weight = tf.math.reciprocal_no_nan(tf.cast(query_terms.row_lengths(), tf.float32))  # float [batch]
        return (
            query_terms.with_flat_values(tf.gather(terms.distinct, query_terms.flat_values)),
            query_terms.with_flat_values(tf.gather(weight, query_terms.value_rowids())),
        )

    def document_terms(self, texts: tf.Tensor, own: bool = False) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """The query terms that each document translates, and their weights.

        With `own`, the document's terms with their weights in BM25: idf(w) tf (K1 + 1) / (tf + norm).
        """
        terms = self._terms(texts, self._record.document_language)
        word, document = terms.indices.flat_values, terms.indices.value_rowids()  # int64 [words], both
        numbers = self._vocabulary.numbers(terms.distinct)  # int64 [distinct]

        # Known terms have their lexicon's numbers; unknown terms have larger numbers.
        known = tf.shape(self._idf, tf.int64)[0]
        own_numbers = tf.where(numbers >= 0, numbers, known + tf.range(tf.size(numbers, tf.int64)))  # int64 [distinct]
        terms_in_all = known + tf.size(numbers, tf.int64)

        # tf': each word adds 1 to its own term, and the weight of each entry of T to the term that it translates.
        # A number below 0 has no entries.
        occurrence, entry = self._document_rows.entries(-tf.ones_like(word) if own else tf.gather(numbers, word))
        translated = tf.gather(self._document_rows.columns, entry)  # int64 [entries]
        own_keys = document * terms_in_all + tf.gather(own_numbers, word)
        translated_keys = tf.gather(document, occurrence) * terms_in_all + translated
        keys, cell = tf.unique(tf.concat([own_keys, translated_keys], axis=0))  # int64 [keys], int32 [words + entries]
        counts = tf.ones(tf.shape(word), tf.float32)
        added = tf.concat([counts, tf.gather(self._document_rows.weights, entry)], axis=0)  # float [words + entries]
        frequency = tf.math.unsorted_segment_sum(added, cell, tf.size(keys))  # float [keys]

        order = tf.argsort(keys)
        keys, frequency = tf.gather(keys, order), tf.gather(frequency, order)
        document, term = keys // terms_in_all, keys % terms_in_all  # int64 [keys], both
        is_known = term < known
        weight = self._saturated(frequency, tf.gather(terms.indices.row_lengths(), document))
        weight *= self._idf_at(tf.where(is_known, term, -1))  # float [keys]
        text = tf.where(
            is_known,
            self._vocabulary.terms(tf.where(is_known, term, tf.zeros_like(term))),
            tf.gather(terms.distinct, tf.maximum(term - known, 0)),
        )  # string [keys]
        rows = tf.RaggedTensor.from_value_rowids(text, document, terms.indices.nrows(), validate=False)
        return rows, rows.with_flat_values(weight)

    # The parts of a score

    def term_of(self, words: tf.Tensor, role: Role) -> tf.Tensor:
        """The stem of each word, or the word itself; see `models.lexicon.terms`."""
        language = self._record.query_language if role == "query" else self._record.document_language
        return term_of(words, self._record.kind, language)

    def translations(self, queries: tf.Tensor) -> Translations:
        """The rows of T for the terms of queries: first the term itself, then the others by weight and by UTF-8."""
        terms = self._terms(queries, self._record.query_language).distinct  # string [query terms]
        row, entry = self._query_rows.entries(self._vocabulary.numbers(terms))  # int64 [entries], both
        row = tf.concat([tf.range(tf.size(terms, tf.int64)), row], axis=0)  # int64 [query terms + entries]
        answers = tf.concat([terms, self._vocabulary.terms(tf.gather(self._query_rows.columns, entry))], axis=0)
        weight = tf.concat([tf.ones(tf.shape(terms)), tf.gather(self._query_rows.weights, entry)], axis=0)
        order = tf.argsort(row, stable=True)
        return Translations(
            tf.gather(terms, tf.gather(row, order)), tf.gather(answers, order), tf.gather(weight, order)
        )

    def parts(self, query: tf.Tensor, document: tf.Tensor) -> Parts:
        """The share of each pair of a query's and a document's term in the score."""
        table = self.translations(query[tf.newaxis])
        words = self._terms(document[tf.newaxis], self._record.document_language).texts().flat_values  # string [words]
        doc_terms, _, count = tf.unique_with_counts(words)  # string [doc terms], int32 [doc terms]
        at = tf.where(table.document_term[:, tf.newaxis] == doc_terms)
        entry, column = at[:, 0], at[:, 1]  # int64 [parts], both: of the table, and of `doc_terms`
        added = tf.gather(table.weight, entry) * tf.cast(tf.gather(count, column), tf.float32)  # float [parts]
        query_terms, row = tf.unique(table.query_term)  # string [query terms], int32 [entries]
        row = tf.gather(row, entry)  # int32 [parts]
        frequency = tf.math.unsorted_segment_sum(added, row, tf.size(query_terms))  # float [query terms]: tf'
        score = self._saturated(frequency, tf.size(words)) * self._idf_at(self._vocabulary.numbers(query_terms))
        score = tf.math.divide_no_nan(score, frequency * tf.cast(tf.size(query_terms), tf.float32))
        return Parts(tf.gather(query_terms, row), tf.gather(doc_terms, column), tf.gather(score, row) * added)


class _Rows(NamedTuple):
    """A sparse matrix, row by row, in variables."""

    splits: tf.Variable
    """int64 [rows + 1]: the first entry of each row, and the end of the last."""
    columns: tf.Variable
    """int64 [entries]."""
    weights: tf.Variable
    """float [entries]."""

    @classmethod
    def from_entries(cls, matrix: sparse.coo_matrix, order: npt.NDArray[np.int64]) -> "_Rows":
        """Takes the entries of a matrix in an order that keeps each row together."""
        splits = np.searchsorted(matrix.row[order], np.arange(matrix.shape[0] + 1))
        return cls(
            tf.Variable(splits, trainable=False, dtype=tf.int64, name="splits"),
            tf.Variable(matrix.col[order], trainable=False, dtype=tf.int64, name="columns"),
            tf.Variable(matrix.data[order], trainable=False, dtype=tf.float32, name="weights"),
        )

    def entries(self, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The entries of rows, int64 [rows]; -1 is a row without entries.

        Returns:
          for each entry, its index in `rows` and its index in the matrix: int64 [entries].
        """
        row = tf.maximum(rows, 0)
        starts = tf.gather(self.splits, row)
        ends = tf.where(rows >= 0, tf.gather(self.splits, row + 1), starts)
        ranges = tf.ragged.range(starts, ends, row_splits_dtype=tf.int64)
        return ranges.value_rowids(), ranges.flat_values


class _Answers(NamedTuple):
    """The entries of T between the query terms of a batch and all its terms."""

    question: tf.Tensor
    """int32 [answers]: the position of the query term among those of all queries."""
    term: tf.Tensor
    """int64 [answers]: the term of the batch that answers it."""
    weight: tf.Tensor
    """float [answers]."""


def _frequencies(
    queries: tf.RaggedTensor, answers: _Answers, documents: tf.RaggedTensor, size: tf.Tensor, shape: Sequence[tf.Tensor]
) -> tf.Tensor:
    """tf' of each query's terms in each document of its list: float of a shape [lists, list_size, width]."""
    lists, list_size, width = shape
    row, column = queries.value_rowids(), tf.ragged.range(queries.row_lengths()).flat_values  # int64 [questions], both

    # The answers of each (list, term); -1 without answers.
    keys, key = tf.unique(tf.gather(row, answers.question) * size + answers.term)  # int64 [keys], int32 [answers]
    by_key = tf.argsort(key, stable=True)  # int32 [answers]
    answers_of_key = tf.RaggedTensor.from_value_rowids(
        by_key, tf.gather(key, by_key), tf.size(keys), validate=False
    )  # int32 [keys, (answers)]
    key_of = tf.tensor_scatter_nd_update(
        tf.fill([lists * size], -1), keys[:, tf.newaxis], tf.range(tf.size(keys))
    )  # int32 [lists * size]

    # The answers that each occurrence of a term in a document gives.
    document = documents.value_rowids()  # int64 [occurrences]
    key = tf.gather(key_of, document // list_size * size + documents.flat_values)  # int32 [occurrences]
    document, key = document[key >= 0], key[key >= 0]
    hits = tf.gather(answers_of_key, key)  # int32 [occurrences, (answers)]
    document, answer = tf.gather(document, hits.value_rowids()), hits.flat_values  # int64 [hits], int32 [hits]

    cell = document * width + tf.gather(column, tf.gather(answers.question, answer))  # int64 [hits]
    sums = tf.math.unsorted_segment_sum(tf.gather(answers.weight, answer), cell, lists * list_size * width)
    return tf.reshape(sums, shape)


def _renumbered(indices: tf.RaggedTensor, numbers: tf.Tensor) -> tf.RaggedTensor:
    """The number at each index: int64 [rows, (values)]."""
    return indices.with_flat_values(tf.gather(numbers, indices.flat_values))


def _distinct(numbers: tf.RaggedTensor) -> tf.RaggedTensor:
    """The distinct values of each row in the order in which they first occur: int64 [rows, (values)]."""
    size = tf.reduce_max(tf.concat([numbers.flat_values, [0]], axis=0)) + 1
    keys, _ = tf.unique(numbers.value_rowids() * size + numbers.flat_values)
    return tf.RaggedTensor.from_value_rowids(keys % size, keys // size, numbers.nrows(), validate=False)

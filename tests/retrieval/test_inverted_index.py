"""The inverted index and the matrix it is made of: they score as the formula does, in memory and from files."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from models.texts.term_matrix import TermMatrix
from smooth_clir.retrieval.inverted_index import InvertedIndex

pytestmark = pytest.mark.tensors

TEXTS = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(-9, 9).map(float), max_size=4), max_size=6)


def padded(texts):
    """The terms of texts and their weights, as an exported model gives them."""
    width = max((len(text) for text in texts), default=0)
    terms = [[*text, *[""] * (width - len(text))] for text in texts]
    weights = [[*text.values(), *[0.0] * (width - len(text))] for text in texts]
    shape = (len(texts), width)
    return tf.reshape(tf.constant(terms, tf.string), shape), tf.reshape(tf.constant(weights, tf.float32), shape)


def matrix_of(batches):
    matrix = TermMatrix()
    for batch in batches:
        matrix.add(*padded(batch))
    return matrix


@given(TEXTS)
def test_rows_hold_every_weight_at_its_term(documents):
    matrix = matrix_of([[document] for document in documents])
    rows = matrix.rows().toarray()
    assert rows.dtype == np.float32
    assert rows.shape == (len(documents), len({term for document in documents for term in document}))
    for row, document in zip(rows, documents, strict=True):
        assert {term.decode(): row[column] for term, column in matrix.columns.items() if row[column]} == {
            term: weight for term, weight in document.items() if weight
        }


def scores(index, query):
    terms, weights = (column.numpy()[0] for column in padded([query]))
    return index.scores(terms, weights).tolist()


@given(documents=TEXTS, query=TEXTS.filter(bool), split=st.integers(0, 6))
def test_an_index_gives_the_sum_of_products_over_the_terms_of_both_in_memory_and_from_its_files(
    tmp_path_factory, documents, query, split
):
    folder = str(tmp_path_factory.mktemp("index"))
    index = InvertedIndex.of(matrix_of([documents[:split], documents[split:]]))
    expected = [sum(query[0][term] * document.get(term, 0) for term in query[0]) for document in documents]
    assert scores(index, query[0]) == pytest.approx(expected)
    index.save(folder)
    loaded = InvertedIndex.load(folder)
    assert scores(loaded, query[0]) == scores(index, query[0])
    assert loaded.postings == sum(weight != 0 for document in documents for weight in document.values())
    terms, rows = index.rows()
    assert [
        {terms[column].decode(): weight for column, weight in zip(row.indices, row.data, strict=True) if weight}
        for row in rows
    ] == [{term: weight for term, weight in document.items() if weight} for document in documents]


def test_a_term_of_more_than_a_quarter_of_the_documents_is_frequent_and_scores_alike():
    documents = [{"often": 1.0 + row, **({"seldom": 2.0} if row == 3 else {})} for row in range(8)]
    index = InvertedIndex.of(matrix_of([documents]))
    assert scores(index, {"often": 2.0, "seldom": 10.0}) == [2, 4, 6, 8 + 20, 10, 12, 14, 16]
    assert scores(index, {"never": 1.0}) == [0] * 8


def test_rows_of_another_matrix_keep_their_terms():
    matrix = TermMatrix()
    matrix.add(*padded([{"a": 1.0, "b": 2.0}]))
    matrix.add_rows([b"c", b"b"], sparse.csr_matrix(np.array([[3.0, 4.0]], np.float32)))
    assert sorted(matrix.columns) == [b"a", b"b", b"c"]
    assert matrix.rows().toarray().tolist() == [[1, 2, 0], [0, 4, 3]]

"""Texts as rows of a sparse matrix: it scores as the formula does, however the texts come."""

import numpy as np
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval.inverted_index import TermMatrix

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
    matrix = matrix_of([[one] for one in documents])
    rows = matrix.rows().toarray()
    assert rows.dtype == np.float32
    assert rows.shape == (len(documents), len({term for document in documents for term in document}))
    for row, document in zip(rows, documents, strict=True):
        assert {term.decode(): row[column] for term, column in matrix.columns.items() if row[column]} == {
            term: weight for term, weight in document.items() if weight
        }

"""The inner product: its values and the law of its gradient."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.layers.dot_product import DotProduct
from tests import reference

pytestmark = pytest.mark.tensors

DIM = 3
vectors = arrays(np.float32, DIM, elements=st.floats(-1, 1, width=32, allow_subnormal=False))


def test_every_document_of_every_list_is_scored_against_its_own_query():
    random = np.random.default_rng(1)
    query, documents = random.normal(size=(2, DIM)), random.normal(size=(2, 4, DIM))
    expected = [[reference.dot(query[i], document) for document in documents[i]] for i in range(2)]
    scores = DotProduct(DIM)(query.astype(np.float32), documents.astype(np.float32))
    np.testing.assert_allclose(scores, expected, rtol=1e-5)


@given(vectors, vectors)
def test_gradient_is_the_other_vector_and_at_most_its_bound(query, document):
    layer, arguments = DotProduct(DIM), (tf.constant([query]), tf.constant([[document]]))
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        value = layer(*arguments)
    by_query, by_document = tape.gradient(value, arguments)
    assert np.array_equal(by_query[0], document)
    assert np.array_equal(by_document[0, 0], query)
    assert np.linalg.norm(by_query) <= layer.gradient_bound * (1 + 1e-6)

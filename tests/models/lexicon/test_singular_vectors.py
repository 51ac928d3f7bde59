"""models/lexicon/singular_vectors.py: a lexicon's table of translations as the product of two matrices."""

import numpy as np
import pytest

from models.lexicon.singular_vectors import singular_vectors
from schemas.errors import DataError
from tests.models.lexicon.small_lexicon import learn, table_of

pytestmark = pytest.mark.tensors

PAIRS = [(["a", "b"], ["x", "y"]), (["a", "c"], ["x", "z"]), (["b", "d"], ["y", "d"])]
QUERY_TERMS, DOCUMENT_TERMS = [b"a", b"b", b"c", b"d", b"name"], [b"name", b"x", b"y", b"z", b"d", b"a"]


@pytest.fixture(scope="module")
def lexicon():
    return learn(PAIRS, [document for _, document in PAIRS])


@pytest.fixture(scope="module")
def table(lexicon):
    """T = max(A, identity), float64 [query terms, document terms]."""
    shares = {query.encode(): row for query, row in table_of(lexicon).items()}
    return np.array(
        [
            [
                max(float(query == document), shares.get(query, {}).get(document.decode(), 0.0))
                for document in DOCUMENT_TERMS
            ]
            for query in QUERY_TERMS
        ]
    )


def test_at_full_rank_the_product_is_four_times_the_table_and_names_match_themselves(lexicon, table):
    rank = np.linalg.matrix_rank(table)
    query, document = singular_vectors(lexicon, QUERY_TERMS, DOCUMENT_TERMS, rank)
    assert (query.shape, document.shape) == ((len(QUERY_TERMS), rank), (len(DOCUMENT_TERMS), rank))
    np.testing.assert_allclose(query @ document.T, 4 * table, atol=1e-5)
    assert query[-1] @ document[0] == pytest.approx(4)


def test_of_a_smaller_width_it_is_the_closest_product_and_the_largest_come_first(lexicon, table):
    left, values, right = np.linalg.svd(table)
    query, document = singular_vectors(lexicon, QUERY_TERMS, DOCUMENT_TERMS, 2)
    np.testing.assert_allclose(query @ document.T, 4 * (left[:, :2] * values[:2]) @ right[:2], atol=1e-5)
    np.testing.assert_allclose(np.sum(query**2, axis=0), 4 * values[:2], rtol=1e-5)


@pytest.mark.parametrize("dim", [2, 4])
def test_two_calls_give_the_same_bytes_and_signs_that_do_not_depend_on_the_method(lexicon, dim):
    (query, document), again = (singular_vectors(lexicon, QUERY_TERMS, DOCUMENT_TERMS, dim) for _ in range(2))
    assert [query.tobytes(), document.tobytes()] == [part.tobytes() for part in again]
    assert (query[np.abs(query).argmax(axis=0), range(dim)] > 0).all()


def test_a_width_above_the_rank_is_refused_with_the_rank(lexicon, table):
    rank = int(np.linalg.matrix_rank(table))
    with pytest.raises(DataError, match=rf" {rank}, .* got {rank + 1}"):
        singular_vectors(lexicon, QUERY_TERMS, DOCUMENT_TERMS, rank + 1)
    with pytest.raises(DataError, match=r" 0, .* got 1\."):
        singular_vectors(lexicon, [b"a"], [b"unheard"], 1)

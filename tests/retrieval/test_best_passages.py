"""A search for documents in an index of passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.passages import passage_id
from smooth_clir.retrieval.best_passages import search_documents
from smooth_clir.retrieval.search_index import IndexHit

pytestmark = pytest.mark.tensors


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 9)), unique=True), st.integers(1, 7))
def test_each_of_the_best_documents_comes_once_by_its_best_passage(passages, limit) -> None:
    """`passages`: (document, number), the best first."""
    hits = [IndexHit("", float(-row), 0.0, 0.0, passage_id(*passage).encode()) for row, passage in enumerate(passages)]
    first_of = {document: hit for (document, _), hit in reversed([*zip(passages, hits, strict=True)])}
    expected = sorted(first_of.values(), key=hits.index)[:limit]
    assert search_documents(lambda wanted: hits[:wanted], limit) == expected

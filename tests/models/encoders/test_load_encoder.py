"""models/encoders/load_encoder.py: by its cache, each text is encoded once, until the vectors are many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.encoders import load_encoder
from models.encoders.load_encoder import CachedEncoder
from tests.models.encoders.small_encoder import DIM, CountingEncoder, vector_of

pytestmark = pytest.mark.tensors

CALLS = st.lists(st.tuples(st.lists(st.sampled_from("abcde"), min_size=1), st.sampled_from(["query", "document"])))


@given(CALLS)
def test_each_text_is_encoded_once_in_each_role_and_has_its_vector_in_every_call(calls):
    encoder = CountingEncoder()
    cached = CachedEncoder(encoder)
    for texts, role in calls:
        np.testing.assert_array_equal(cached.encode(texts, role), [vector_of(text, role) for text in texts])
    assert encoder.seen.keys() == {(role, text) for texts, role in calls for text in texts}
    assert {*encoder.seen.values()} <= {1}


def test_it_forgets_all_vectors_between_two_calls_where_they_are_more_than_it_holds(monkeypatch):
    monkeypatch.setattr(load_encoder, "_MAX_HELD", 2)
    encoder = CountingEncoder()
    cached = CachedEncoder(encoder)
    for texts in (["a", "b", "c", "a"], ["a", "d"], ["a", "d"]):
        assert cached.encode(texts, "query").shape == (len(texts), DIM)
    assert encoder.calls == [3, 2]
    assert encoder.seen["query", "a"] == 2

"""Batches of texts by their length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.texts import word_counts as module
from models.texts.word_counts import text_batches


@given(st.lists(st.binary(max_size=4)), st.integers(1, 9))
def test_batches_hold_all_texts_in_order_and_are_full_but_not_over_full(texts, length):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LENGTH", length)
        batches = list(text_batches(texts))
    assert [text for batch in batches for text in batch] == texts
    assert all(batch and sum(map(len, batch[:-1])) < length for batch in batches)
    assert all(sum(map(len, batch)) >= length for batch in batches[:-1])

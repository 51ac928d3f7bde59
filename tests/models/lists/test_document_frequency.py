"""models/lists/document_frequency.py: the rarity of terms among distinct texts."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.lists.document_frequency import idf_of_terms
from models.lists.mapped_rows import RowsFile

pytestmark = pytest.mark.tensors

TERMS = 5


@given(texts=st.lists(st.lists(st.integers(0, TERMS - 1), max_size=5), max_size=6))
def test_idf_counts_the_distinct_texts_that_hold_a_term_in_memory_or_in_a_file(texts):
    distinct = {tuple(text) for text in texts}
    expected = [np.log((len(distinct) + 1) / (sum(term in text for text in distinct) + 0.5)) for term in range(TERMS)]
    rows = RowsFile()
    rows.add(np.array(sum(texts, []), np.int32), np.array([len(text) for text in texts], np.int64))
    for column in (rows.mapped(), tf.ragged.constant(texts, tf.int32, ragged_rank=1)):
        np.testing.assert_allclose(idf_of_terms(column, TERMS), expected, rtol=1e-6)

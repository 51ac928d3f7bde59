"""pipeline/estimate/training_step.py: lists that are as large as they are asked for, and can be trained on."""

import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from pipeline.estimate.training_step import WORDS_OF_A_STEM, made_up_lists
from schemas import features as f

pytestmark = pytest.mark.tensors


@given(
    st.integers(1, 9), st.integers(1, 30), st.integers(1, 40), st.integers(0, 6), st.integers(0, 12), st.integers(1, 99)
)
def test_lists_have_the_sizes_that_are_asked_for(lists, listed, documents, query_words, document_words, vocabulary):
    made = made_up_lists(lists, listed, documents, query_words, document_words, vocabulary, top_grade=3, has_stems=True)
    assert (len(made), made.pairs) == (lists, lists * listed)
    assert [max(grades) for grades in made.grades] == [3] * lists
    features, labels = made.batch(tf.range(lists))
    assert labels.shape == features[f.DOCUMENT_INDEX].shape == (lists, listed)
    for name, words in ((f.QUERY_TOKENS, query_words), (f.DOC_TOKENS, document_words)):
        assert set(features[name].row_lengths().numpy().tolist()) == {words}
        assert all(0 <= one < vocabulary for one in features[name].flat_values.numpy())
    tokens, stems = features[f.DOC_TOKENS].flat_values, features[f.DOC_STEMS].flat_values
    assert stems.numpy().tolist() == (tokens // WORDS_OF_A_STEM).numpy().tolist()


@pytest.mark.parametrize("listed", [1, 50])
def test_documents_that_no_list_could_need_are_left_out(listed):
    made = made_up_lists(4, listed, 10**9, 2, 2, 9, top_grade=2)
    assert len(made.document_columns[f.DOC_ID]) == 4 * listed

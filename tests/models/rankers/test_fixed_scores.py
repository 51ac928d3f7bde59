"""models/rankers/fixed_scores.py: the column of the channel's scores."""

import numpy as np
import pytest

from models.rankers import fixed_scores as subject
from models.rankers.fixed_scores import FixedScores, with_fixed_scores
from schemas import features as f
from tests.models.lexicon.small_lexicon import learn, make_channel, scores
from tests.models.synthetic import text_lists

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("without_graphs")]

DOCUMENTS = {"d1": "b", "d2": "c c", "d3": "a x"}
QUERIES = {"q1": "a", "q2": "x", "q3": "", "q4": "a x"}
COLUMN = f.fixed_score("lexicon")
OF_QUERIES = {"q1": ["d1", "d2"], "q2": ["d3"], "q3": ["d2", "d1", "d3"], "q4": ["d3", "d1"]}


@pytest.fixture(scope="module")
def channel():
    return make_channel(learn([(["a"], ["b", "c"])], [["b"], ["c"]]))


@pytest.fixture(scope="module")
def lists():
    return text_lists(
        (query_id, text, {doc_id: (DOCUMENTS[doc_id], 0) for doc_id in OF_QUERIES[query_id]})
        for query_id, text in QUERIES.items()
    )


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_each_place_has_the_channel_s_score_whatever_the_batches(channel, lists, batch, monkeypatch):
    monkeypatch.setattr(subject, "_BATCH", batch)
    column = with_fixed_scores(lists, lists, [channel]).list_columns[COLUMN]
    assert column.row_lengths().numpy().tolist() == [2, 1, 3, 2]
    for query_id, list_scores in zip(QUERIES, column.to_list(), strict=True):
        texts = [DOCUMENTS[doc_id] for doc_id in OF_QUERIES[query_id]]
        np.testing.assert_allclose(list_scores, scores(channel, [QUERIES[query_id]], texts)[0], atol=1e-6)


def test_lists_that_have_the_column_are_scored_by_it(channel, lists):
    scored = with_fixed_scores(lists, lists, [channel])
    features, _ = scored.batch([1, 2])
    np.testing.assert_allclose(channel(features)[1], scored.list_columns[COLUMN][2])
    assert channel(features)[0, 1] == 0  # padding


def test_in_a_training_a_scorer_without_tables_reads_the_column(channel, lists):
    features, _ = with_fixed_scores(lists, lists, [channel]).batch([1, 2])
    reader = FixedScores(channel)
    np.testing.assert_array_equal(reader(features), channel(features))
    assert (reader.name, reader.score_range, reader.variables) == (channel.name, channel.score_range, [])


def test_no_lists_have_an_empty_column(channel):
    nothing = text_lists([])
    assert with_fixed_scores(nothing, nothing, [channel]).list_columns[COLUMN].shape == (0, None)


def test_other_lists_texts_are_refused(channel, lists):
    unequal = text_lists([("q1", "a", {"d1": ("b", 0)})])
    with pytest.raises(ValueError, match="lists and texts must be the same lists"):
        with_fixed_scores(lists, unequal, [channel])

"""BM25 over a whole collection: the scores of `Bm25`, whichever part of the collection is held at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.retrieval import bm25 as bm25_search
from models.retrieval.bm25 import Bm25, search_by_bm25
from models.retrieval.ranking import rank
from tests.models.retrieval.bm25_score import bm25_score

words = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e"]), max_size=6)
collections = st.lists(words, max_size=9)


def search(queries, collection, most=1000, max_tokens=200, **arguments):
    documents = [(f"d{number}".encode(), b" ".join(tokens)) for number, tokens in enumerate(collection)]
    return search_by_bm25(queries, lambda: iter(documents), max_tokens, most, **arguments)


@settings(max_examples=20)
@given(st.lists(words, max_size=3), collections, st.integers(1, 9), st.integers(1, 4), st.integers(1, 3))
def test_what_is_found_is_what_scoring_every_document_puts_first(queries, collection, most, at_once, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_search, "_AT_ONCE", at_once)
        patch.setattr(bm25_search, "_BATCH", batch)
        found = search(queries, collection, most)
    bm25 = Bm25(queries, [b" ".join(tokens) for tokens in collection])
    ids = [f"d{number}".encode() for number in range(len(collection))]
    for query, one in zip(queries, found, strict=True):
        scores = np.array([bm25_score(bm25, query, tokens) for tokens in collection], np.float32)
        expected = [place for place in rank(scores, ids) if scores[place] > 0][:most]
        of_found = [scores[ids.index(doc_id)] for doc_id in one.doc_ids]
        assert one.scores == pytest.approx(scores[expected], rel=1e-5)
        assert of_found == pytest.approx(
            scores[expected], rel=1e-5
        )  # equal but for the last bits, so that ids may swap


def test_of_equal_scores_the_larger_id_comes_first_across_parts(monkeypatch):
    monkeypatch.setattr(bm25_search, "_AT_ONCE", 2)
    (found,) = search([[b"a"]], [[b"a"], [b"a"], [b"b"], [b"a"], [b"a", b"a"]], most=3)
    assert found.doc_ids.tolist() == [b"d4", b"d3", b"d1"]


def test_a_query_without_a_shared_word_finds_nothing():
    nothing, empty = search([[b"x"], []], [[b"a"], []])
    assert nothing.doc_ids.tolist() == empty.doc_ids.tolist() == []


def test_words_beyond_the_limit_of_a_text_do_not_count():
    (found,) = search([[b"b"]], [[b"a", b"b"], [b"b"]], max_tokens=1)
    assert found.doc_ids.tolist() == [b"d1"]


def test_progress_is_told_part_by_part(monkeypatch):
    monkeypatch.setattr(bm25_search, "_AT_ONCE", 2)
    told = []
    search([[b"a"]], [[b"a"]] * 5, told=lambda *numbers: told.append(numbers))
    assert told == [(2, 5), (4, 5), (5, 5)]

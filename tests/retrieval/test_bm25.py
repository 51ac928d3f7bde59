"""BM25: the formula, the statistics that it uses, and the search of a whole collection."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.lexicon.term_weight import K1, B
from models.lists.ranking import rank
from models.texts.tokens import ALL_WORDS
from schemas.word_rules import WordRules
from smooth_clir.retrieval import bm25 as subject
from smooth_clir.retrieval.bm25 import Bm25, score_by_bm25, search_by_bm25, token_lists
from tests.models.synthetic import text_lists
from tests.retrieval.bm25_score import bm25_score

pytestmark = pytest.mark.tensors

words = st.lists(st.sampled_from([b"a", b"b", b"c", b"d"]), max_size=8)
collections = st.lists(words, min_size=1, max_size=6)
other_queries = st.lists(words, max_size=3)


def texts_of(collection: list[list[bytes]]) -> list[bytes]:
    """Texts of which these are the tokens."""
    return [b" ".join(tokens) for tokens in collection]


def reference(query: list[bytes], document: list[bytes], collection: list[list[bytes]]) -> float:
    """The sum over the distinct words of the query, as the formula stands."""
    score = 0.0
    for word in set(query):
        frequency = sum(word in tokens for tokens in collection)
        idf = log(1 + (len(collection) - frequency + 0.5) / (frequency + 0.5))
        count = document.count(word)
        length = len(document) / (sum(map(len, collection)) / len(collection)) if document else 0
        score += idf * count * (K1 + 1) / (count + K1 * (1 - B + B * length))
    return score


def test_score_of_a_hand_made_collection():
    collection = [[b"paris", b"paris", b"france"], [b"rome"]]
    bm25 = Bm25([[b"paris"]], texts_of(collection))
    idf = log(1 + (2 - 1 + 0.5) / (1 + 0.5))  # one of two documents holds the word
    norm = 1.2 * (1 - 0.75 + 0.75 * 3 / 2)  # three words, where the mean is two
    assert bm25_score(bm25, [b"paris"], collection[0]) == pytest.approx(idf * 2 * (1.2 + 1) / (2 + norm), rel=1e-12)


@given(words, collections, other_queries)
def test_scores_equal_the_reference(query, collection, other_queries):
    bm25 = Bm25([query, *other_queries], texts_of(collection))
    for document in collection:
        assert bm25_score(bm25, query, document) == pytest.approx(reference(query, document, collection), rel=1e-12)


@settings(max_examples=10)
@given(words, collections, other_queries, st.integers(1, 4))
def test_scores_do_not_depend_on_how_the_collection_is_counted(query, collection, other_queries, size):
    at_once = Bm25([query], texts_of(collection))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.texts.word_counts._LENGTH", size)
        in_batches = Bm25([query, *other_queries], (text.decode().upper() for text in texts_of(collection)))
    for document in collection:
        assert bm25_score(in_batches, query, document) == bm25_score(at_once, query, document)  # to the last bit


@settings(max_examples=10)
@given(words, collections, st.integers(0, 4))
def test_the_statistics_of_cut_texts_are_those_of_their_first_words(query, collection, max_tokens):
    cut = [tokens[:max_tokens] for tokens in collection]
    bm25, cut_bm25 = Bm25([query], texts_of(collection), WordRules(max_tokens=max_tokens)), Bm25([query], texts_of(cut))
    for document in cut:
        assert bm25_score(bm25, query, document) == bm25_score(cut_bm25, query, document)


@pytest.mark.parametrize(("queries", "collection"), [([], [b"paris"]), ([[]], [b"paris"]), ([[b"paris"]], [])])
def test_without_a_word_or_a_document_there_is_nothing_to_count(queries, collection):
    assert bm25_score(Bm25(queries, collection), [], [b"paris"]) == 0


def test_a_document_without_a_shared_word_scores_zero_and_a_word_twice_in_the_query_counts_once():
    bm25 = Bm25([[b"paris", b"rome"]], [b"Paris", b"Rome, France", b""])
    for query, document in (([b"paris"], [b"rome"]), ([b"paris"], []), ([], [b"paris"])):
        assert bm25_score(bm25, query, document) == 0
    assert bm25_score(bm25, [b"paris", b"rome", b"paris"], [b"paris"]) == bm25_score(bm25, [b"paris"], [b"paris"])


def test_token_lists_keep_the_order_beyond_one_batch(monkeypatch):
    monkeypatch.setattr("models.texts.word_counts._LENGTH", 2)
    texts = ["L'Été", "2020", "", "北京", "a b c d"]
    assert list(token_lists(texts, WordRules(max_tokens=3))) == [
        [b"l", "été".encode()],
        [b"2020"],
        [],
        ["北".encode(), "京".encode()],
        [b"a", b"b", b"c"],
    ]


def test_statistics_are_those_of_the_whole_collection():
    lists = text_lists([("q", "Paris", {"1": ("Paris, France", 0), "2": ("Rome", 0)})])
    collection = ["Paris, France", "Rome", "Paris is a town", "Berlin", ""]
    tokens = [[b"paris", b"france"], [b"rome"], [b"paris", b"is", b"a", b"town"], [b"berlin"], []]
    (scores,) = score_by_bm25(lists, collection, ALL_WORDS)
    assert scores == pytest.approx([reference([b"paris"], document, tokens) for document in tokens[:2]], rel=1e-12)
    assert scores != pytest.approx([reference([b"paris"], document, tokens[:2]) for document in tokens[:2]])


def test_words_beyond_the_limit_of_a_text_do_not_count():
    first, second = {"1": ("France Paris", 0), "2": ("Paris", 0)}, {"2": ("Paris", 0), "1": ("France Paris", 0)}
    lists = text_lists([("q1", "Rome Paris", first), ("q2", "Paris", second)])
    first, second = score_by_bm25(lists, ["France Paris", "Paris"], WordRules(max_tokens=1))
    assert first == [0, 0]
    assert second[0] > 0 == second[1]


# Search


def search(queries, collection, limit=1000, max_tokens=200, **arguments):
    documents = [(f"d{number}".encode(), b" ".join(tokens)) for number, tokens in enumerate(collection)]
    return search_by_bm25(queries, lambda: iter(documents), WordRules(max_tokens=max_tokens), limit, **arguments)


@settings(max_examples=20)
@given(other_queries, collections, st.integers(1, 9), st.integers(1, 4), st.integers(1, 3))
def test_the_hits_are_the_first_documents_of_scoring_every_document(queries, collection, limit, at_once, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "_AT_ONCE", at_once)
        patch.setattr(subject, "_BATCH", batch)
        rankings = search(queries, collection, limit)
    bm25 = Bm25(queries, texts_of(collection))
    ids = [f"d{number}".encode() for number in range(len(collection))]
    for query, ranked in zip(queries, rankings, strict=True):
        scores = np.array([bm25_score(bm25, query, tokens) for tokens in collection], np.float32)
        expected = [row for row in rank(scores, ids) if scores[row] > 0][:limit]
        ranked_scores = [scores[ids.index(doc_id)] for doc_id in ranked.doc_ids]
        assert ranked.scores == pytest.approx(scores[expected], rel=1e-5)
        assert ranked_scores == pytest.approx(
            scores[expected], rel=1e-5
        )  # equal but for the last bits, so that ids may swap


def test_of_equal_scores_the_larger_id_comes_first_across_parts_and_progress_is_reported(monkeypatch):
    monkeypatch.setattr(subject, "_AT_ONCE", 2)
    calls = []
    collection = [[b"a"], [b"a"], [b"b"], [b"a"], [b"a", b"a"]]
    (hits,) = search([[b"a"]], collection, limit=3, on_progress=lambda *numbers: calls.append(numbers))
    assert hits.doc_ids.tolist() == [b"d4", b"d3", b"d1"]
    assert calls == [(2, 5), (4, 5), (5, 5)]


def test_a_query_without_a_shared_word_and_words_beyond_the_limit_find_nothing():
    unshared, empty, cut = search([[b"x"], [], [b"b"]], [[b"a", b"b"], [b"b"]], max_tokens=1)
    assert unshared.doc_ids.tolist() == empty.doc_ids.tolist() == []
    assert cut.doc_ids.tolist() == [b"d1"]

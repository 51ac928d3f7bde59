"""models/lexicon/structured_queries.py: scores against loops, and the vectors and parts that they are made of."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.lexicon.learn_lexicon import learn_lexicon
from models.texts.tokens import ALL_WORDS
from schemas.word_rules import WordRules
from smooth_clir.retrieval.bm25 import Bm25
from tests.models.lexicon.reference import PAIRS, TEXTS, Reference, translations
from tests.models.lexicon.small_lexicon import (
    COLLECTIONS,
    LANGUAGES,
    channel_and_reference,
    features,
    join,
    learn,
    make_channel,
    sample_texts,
    scores,
    terms,
)
from tests.retrieval.bm25_score import bm25_score

pytestmark = pytest.mark.tensors

few = settings(max_examples=4)
"""To learn a lexicon and score with it takes a tenth of a second."""
WORD_LISTS = st.lists(st.lists(st.sampled_from("abcdexy"), max_size=6), min_size=1, max_size=4)
"""Texts with words that no lexicon knows."""


def expected_scores(reference, queries, documents):
    return [[reference.score(query, document) for document in documents] for query in queries]


def sparse_scores(channel, queries, documents):
    """The scores that the sparse vectors give: [queries, documents]."""

    def rows(terms):
        return [dict(zip(*row, strict=True)) for row in zip(*(part.to_list() for part in terms), strict=True)]

    query_rows = rows(channel.query_terms(tf.constant(queries)))
    document_rows = rows(channel.document_terms(tf.constant(documents)))
    return [[sum(weight * d.get(term, 0) for term, weight in q.items()) for d in document_rows] for q in query_rows]


# The score


def test_score_by_hand():
    # One pair: b and c share a with NULL, A = 1/3 each. The collection's two documents hold 1 and 3 terms.
    channel = make_channel(learn([(["a"], ["b", "c"])], [["b"], ["c", "c", "d"]]))
    third = round(1 / 3, 9)
    frequency = third + 2 * third  # df'(a): the first document has tf' = 1/3, the second 2/3
    idf = np.log(1 + (2 - frequency + 0.5) / (frequency + 0.5))
    norm = 1.2 * (1 - 0.75 + 0.75 * 3 / 2)
    expected = idf * 2 * third * (1.2 + 1) / (2 * third + norm)
    np.testing.assert_allclose(scores(channel, ["a"], ["c c d"]), [[expected]], rtol=1e-6)


@few
@given(PAIRS, COLLECTIONS, WORD_LISTS, WORD_LISTS)
def test_scores_are_those_of_the_loops_and_of_the_sparse_vectors_and_lie_in_their_range(
    pairs, collection, queries, documents
):
    channel, reference = channel_and_reference(pairs, collection)
    actual = scores(channel, join(queries), join(documents))
    np.testing.assert_allclose(actual, expected_scores(reference, queries, documents), atol=1e-6)
    np.testing.assert_allclose(sparse_scores(channel, join(queries), join(documents)), actual, atol=1e-5)
    low, high = channel.score_range
    assert low == 0 <= actual.min() and actual.max() < high


def test_scores_of_real_texts_are_those_of_the_loops_and_of_their_sparse_vectors_and_parts():
    texts, collection = sample_texts()
    train, queries, documents = texts[::160], [query for query, _ in texts[1::240]], collection[::40]
    pairs = list(zip(terms([q for q, _ in train], "en"), terms([d for _, d in train], "fr"), strict=True))
    channel = make_channel(learn_lexicon("lexicon", LANGUAGES, ALL_WORDS, train, documents))
    reference = Reference(terms(documents, "fr"), translations(pairs))
    expected = np.array(expected_scores(reference, terms(queries, "en"), terms(documents, "fr")))
    assert np.mean(expected > 0) > 0.5
    np.testing.assert_allclose(scores(channel, queries, documents), expected, atol=2e-6)
    np.testing.assert_allclose(sparse_scores(channel, queries, documents), expected, atol=1e-5)
    for row, column in ((0, 0), (1, 3)):
        parts = channel.parts(tf.constant(queries[row]), tf.constant(documents[column]))
        np.testing.assert_allclose(parts.part.numpy().sum(), expected[row, column], atol=1e-5)


# Laws


@few
@given(COLLECTIONS.filter(any), WORD_LISTS, WORD_LISTS)
def test_without_translations_a_score_is_that_of_bm25_by_the_number_of_distinct_terms(collection, queries, documents):
    query_words, doc_words = ([[word.encode() for word in text] for text in texts] for texts in (queries, documents))
    bm25 = Bm25(query_words, join(collection))
    expected = [[bm25_score(bm25, q, d) / max(len(set(q)), 1) for d in doc_words] for q in query_words]
    for kind in ("bm25", "lexicon"):
        channel = make_channel(learn([], collection, kind))
        np.testing.assert_allclose(scores(channel, join(queries), join(documents)), expected, atol=1e-6)


@few
@given(PAIRS, COLLECTIONS, TEXTS, TEXTS)
def test_parts_sum_to_the_score_and_each_is_a_translation_that_the_document_holds(pairs, collection, query, document):
    channel, reference = channel_and_reference(pairs, collection)
    parts = channel.parts(*map(tf.constant, join([query, document])))
    value = scores(channel, join([query]), join([document]))[0, 0]
    np.testing.assert_allclose(parts.part.numpy().sum(), value, atol=1e-5)
    columns = (parts.query_term.numpy(), parts.document_term.numpy())
    assert sorted((q.decode(), w.decode()) for q, w in zip(*columns, strict=True)) == sorted(
        (q, w) for q in set(query) for w in set(document) if reference.translation(q, w)
    )


# Translations


@few
@given(PAIRS, COLLECTIONS, WORD_LISTS)
def test_translations_are_those_of_the_table_and_each_term_itself_comes_first(pairs, collection, queries):
    channel, reference = channel_and_reference(pairs, collection)
    columns = (column.numpy() for column in channel.translations(tf.constant(join(queries))))
    rows = [(q.decode(), w.decode(), float(t)) for q, w, t in zip(*columns, strict=True)]
    expected = [
        (q, w, weight)
        for q in dict.fromkeys(word for query in queries for word in query)
        for w, weight in {q: 1.0, **{w: t for w, t in reference.table.get(q, {}).items() if w != q}}.items()
    ]
    assert [row[:2] for row in rows] == [row[:2] for row in expected]
    np.testing.assert_allclose([row[2] for row in rows], [row[2] for row in expected], atol=1e-6)


def test_equal_weights_stand_by_their_terms():
    words = list("bcdefghijklmnopqrst")
    channel = make_channel(learn([(["a"], words[::-1])], []))
    assert b"".join(channel.translations(tf.constant(["a"])).document_term.numpy()).decode() == "a" + "".join(words)


# Edges

LEARNED = ([(["a"], ["b", "c"]), (["d"], ["e"])], [["b", "c"], ["e", "e", "f"]])


@pytest.fixture(scope="module")
def channel():
    return make_channel(learn(*LEARNED))


@pytest.fixture(scope="module")
def reference():
    return Reference(LEARNED[1], translations(LEARNED[0]))


def test_lists_that_share_documents_score_each_document_as_alone_whatever_is_padded(channel, reference):
    queries, documents = [["a"], ["d", "a"], ["x"]], [["b"], ["e", "x"], ["c", "c", "b"]]
    index = np.array([[2, 0, 2], [1, 2, -1], [1, 1, 0]])
    expected = expected_scores(reference, queries, documents)
    values = channel.score_texts(features(join(queries), join(documents), index)).numpy()
    for row, column in zip(*np.nonzero(index >= 0), strict=True):
        assert values[row, column] == pytest.approx(expected[row][index[row, column]], abs=1e-6)
    padded = features(join(queries), join(documents), np.pad(index, [(0, 0), (0, 2)], constant_values=-1))
    np.testing.assert_array_equal(channel.score_texts(padded)[:, :3], values)


@pytest.mark.parametrize(
    ("queries", "documents", "shape"),
    [
        (["a"], ["b"], (1, 0)),
        (["a"], [""], (1, 3)),
        ([], [], (0, 3)),
        ([""], [], (1, 0)),
        (["!"], ["?"], (1, 1)),
    ],
)
def test_batches_without_lists_or_places_or_words_score_zero(channel, queries, documents, shape):
    values = channel.score_texts(features(queries, documents, np.full(shape, -1)))
    assert values.shape == shape and not values.numpy().any()


def test_a_text_of_a_thousand_words_is_cut_at_the_limit():
    channel = make_channel(learn_lexicon("lexicon", LANGUAGES, WordRules(max_tokens=3), [("a", "b")], ["b c", "d"]))
    long, cut = " ".join(["x", "x", "b"] + ["b"] * 997), "x x b"
    assert scores(channel, ["a"], [long]) == scores(channel, ["a"], [cut]) > 0
    assert scores(channel, ["x x x a"], [cut]) == scores(channel, ["x"], [cut])


@pytest.mark.parametrize(
    ("pairs", "collection", "query", "document"),
    [
        ([(["a"], ["b"])], [["b"]], ["a", "b"], ["b"]),
        ([(["a"], ["b"])], [["b"], ["b"]], ["a", "b"], ["b"]),
        ([], [], ["x"], ["x"]),
        ([], [[], []], ["x"], ["x"]),
        (*LEARNED, ["x"], ["x"]),
    ],
    ids=["one document", "a word of every document", "no collection", "a collection without words", "unknown"],
)
def test_a_word_that_matches_scores_above_zero_whatever_the_statistics(pairs, collection, query, document):
    channel, reference = channel_and_reference(pairs, collection)
    (score,) = scores(channel, join([query]), join([document]))[0]
    assert 0 < score == pytest.approx(reference.score(query, document), abs=1e-6)


@pytest.mark.parametrize("kind", ["lexicon", "bm25", "tfidf"])
def test_texts_without_words_have_vectors_without_terms(kind):
    channel = make_channel(learn(*LEARNED, kind))
    for texts in ([], [""], ["!", ""]):
        for vectors in (channel.query_terms, channel.document_terms):
            held, weights = vectors(tf.constant(texts, tf.string))
            assert held.to_tensor("").shape == weights.to_tensor().shape == (len(texts), 0)
        assert all(len(column) == 0 for column in channel.translations(tf.constant(texts, tf.string)))
    for query, document in (("", ""), ("a", ""), ("", "b")):
        assert all(len(column) == 0 for column in channel.parts(tf.constant(query), tf.constant(document)))


@few
@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_any_text_can_be_asked_and_ranked(channel, texts):
    texts = [text.encode(errors="ignore").decode() for text in texts]
    actual = scores(channel, texts, texts)
    np.testing.assert_allclose(sparse_scores(channel, texts, texts), actual, atol=1e-5)

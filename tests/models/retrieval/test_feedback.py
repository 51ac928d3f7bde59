"""The second pass: who gains how much, against the formula in plain Python."""

from math import exp, log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.evaluation.score_lists import score_lists
from models.exported.model import LoadedModel
from models.retrieval.document_ranker import DocumentRanker, Feedback
from schemas.errors import DataError
from schemas.wikiclir import Text
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.small_lexicon import COLLECTION
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.tensors

TERMS = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 9).map(float), max_size=4)


def feedback_on(documents, gain):
    """Feedback with a model that gives documents these terms."""

    def own_terms(document):
        found = [documents[int(place)] for place in document.numpy()]
        width = max(map(len, found))
        terms = [[*one, *[""] * (width - len(one))] for one in found]
        weights = [[*one.values(), *[0.0] * (width - len(one))] for one in found]
        shape = (len(found), width)
        return {
            "stems": tf.reshape(tf.constant(terms, tf.string), shape),
            "weights": tf.reshape(tf.constant(weights, tf.float32), shape),
        }

    places = tf.constant([str(place) for place in range(len(documents))])
    return Feedback(SimpleNamespace(tensors=lambda _, document: own_terms(document)), places, gain)


def cosine(one, other):
    norms = [sqrt(sum(weight**2 for weight in text.values())) for text in (one, other)]
    return sum(weight * other.get(term, 0) for term, weight in one.items()) / (norms[0] * norms[1] or 1)


def expected(scores, documents, ids, gain):
    mean = sum(scores) / len(scores)
    spread = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    if spread == 0:
        return [0] * len(scores)
    best = sorted(range(len(scores)), key=lambda place: (scores[place], ids[place]), reverse=True)[:2]
    parts = [exp(4 * (scores[place] - scores[best[0]]) / spread) for place in best]
    return [
        gain
        * spread
        * sum(part / sum(parts) * cosine(one, documents[place]) for part, place in zip(parts, best, strict=True))
        for one in documents
    ]


def ids_of(documents):
    return [b"d%d" % place for place in range(len(documents))]


def test_a_document_like_the_best_gains_and_one_that_has_nothing_of_it_does_not():
    documents = [{"a": 3.0, "b": 4.0}, {}, {"a": 1.0}, {"c": 1.0}]
    scores = np.array([3, 1, 0, 0], np.float32)
    spread = sqrt(6 / 4)  # of 3, 1, 0, 0 around 1: squares 4, 0, 1, 1
    weight = 1 / (1 + exp(4 * (1 - 3) / spread))
    added = feedback_on(documents, 2).added(scores, ids_of(documents))
    assert added.tolist() == pytest.approx([2 * spread * weight, 0, 2 * spread * weight * 3 / 5, 0])


LISTS = st.lists(st.tuples(TERMS, st.integers(-3, 3).map(float)), min_size=1, max_size=6)


@given(LISTS, st.floats(0.5, 12), st.randoms())
def test_the_gains_are_the_formulas_in_any_order_and_of_rows_of_a_larger_set(documents_and_scores, gain, random):
    documents, scores = map(list, zip(*documents_and_scores, strict=True))
    feedback, ids = feedback_on([*documents, {"e": 1.0}], gain), ids_of(documents)
    scores = np.array(scores, np.float32)
    rows = np.arange(len(documents), dtype=np.int32)
    added = feedback.added(scores, ids, rows)
    assert added.tolist() == pytest.approx(expected(scores.tolist(), documents, ids, gain), abs=1e-4)
    assert added.tolist() == pytest.approx(feedback_on(documents, gain).added(scores, ids).tolist(), abs=1e-5)
    order = np.array(random.sample(range(len(documents)), len(documents)))
    shuffled = feedback.added(scores[order], [ids[row] for row in order], rows[order])
    assert shuffled.tolist() == pytest.approx(added[order].tolist(), abs=1e-5)
    moved = feedback.added(scores * 2 + 5, ids, rows)  # it follows their scale, and not where they lie
    assert moved.tolist() == pytest.approx((2 * added).tolist(), abs=1e-4)


def test_documents_with_equal_scores_keep_them():
    documents = [{"a": 1.0}, {"a": 1.0, "b": 1.0}, {"b": 1.0}]
    assert feedback_on(documents, 4.0).added(np.ones(3, np.float32), ids_of(documents)).tolist() == [0, 0, 0]


# With an exported model

DOCUMENTS = [Text(f"d{number}", "", text, 1) for number, text in enumerate(COLLECTION)]


@pytest.mark.stages
def test_a_document_is_known_by_its_own_terms_with_the_weights_of_bm25():
    model = model_with_words()
    texts = ["chat chat noir zzz"]
    own = model.tensors("own_terms", document=tf.constant(texts))
    weights = dict(zip(own["stems"].numpy()[0].tolist(), own["weights"].numpy()[0].tolist(), strict=True))
    lengths = [len(text.split()) for text in COLLECTION]
    norm = 1.2 * (1 - 0.75 + 0.75 * 4 / (sum(lengths) / len(lengths)))

    def idf(frequency):
        return log(1 + (len(COLLECTION) - frequency + 0.5) / (frequency + 0.5))

    assert weights == {
        b"chat": pytest.approx(idf(3) * 2 * 2.2 / (2 + norm)),
        b"noir": pytest.approx(idf(1) * 2.2 / (1 + norm)),
        b"zzz": pytest.approx(idf(0) * 2.2 / (1 + norm)),
    }
    translated = model.tensors("encode_document", document=tf.constant(texts))["stems"].numpy()[0].tolist()
    assert b"cat" in translated


@pytest.mark.stages
@pytest.mark.usefixtures("each_model_loaded_once")
@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(["white", "cat", "dog", "moon", "ararat"]), min_size=1, max_size=3).map(" ".join))
def test_a_list_is_ranked_and_scored_alike_with_feedback(query):
    model = model_with_words()
    documents = {document.id: (document.text, 0) for document in DOCUMENTS}
    lists = text_lists([("q1", query, documents), ("q2", "cat", dict(list(documents.items())[3:6]))])
    first, second = score_lists(model.path, lists), score_lists(model.path, lists, feedback=4.0)
    ranked = {
        document.doc_id: document
        for document in DocumentRanker(model, DOCUMENTS, feedback=4.0).rank(query, 99, explain=True)
    }
    scores, without = second.pop("scores"), first.pop("scores")
    assert {
        doc_id.decode(): pytest.approx(score, abs=1e-4)
        for doc_id, score in zip(lists.doc_ids[0], scores[0], strict=True)
    } == {doc_id: document.score for doc_id, document in ranked.items()}
    for document in ranked.values():
        assert [part.name for part in document.parts] == ["smooth_cosine", "lexicon", "feedback"]
        assert sum(part.part for part in document.parts) == pytest.approx(document.score, abs=1e-5)
    assert [row.tolist() for row in scores] != [row.tolist() for row in without]
    for name, rows in second.items():  # the channels are as they were
        assert [row.tolist() for row in rows] == [row.tolist() for row in first[name]]


@pytest.mark.stages
@pytest.mark.usefixtures("each_model_loaded_once")
def test_a_model_of_vectors_alone_has_no_second_pass():
    with pytest.raises(DataError, match="channel of words that match"):
        score_lists(model_of_vectors().path, text_lists([]), feedback=4.0)
    with pytest.raises(DataError, match="lexicon.kind"):
        LoadedModel(model_of_vectors().path, "own_terms")

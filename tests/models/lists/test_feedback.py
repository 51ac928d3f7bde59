"""The second pass: who gains how much, against the formula in plain Python."""

from math import exp, log, sqrt

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from models.evaluation.score_lists import score_lists
from models.lists.feedback import Feedback, similarity_of, unit_vectors
from models.lists.ranking import rank
from schemas.errors import DataError
from schemas.wikiclir import Text
from smooth_clir.retrieval.document_ranker import DocumentRanker
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.small_lexicon import COLLECTION
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.tensors

TERMS = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 9).map(float), max_size=4)


def vectors_of(documents):
    """Unit vectors of documents with these weighted terms."""
    weights = [[document.get(term, 0) for term in "abcde"] for document in documents]
    return unit_vectors(sparse.csr_matrix(np.array(weights, np.float32).reshape(-1, 5)))


def added(feedback, documents, scores, ids=None):
    scores = np.array(scores, np.float32)
    return feedback.added(scores, rank(scores, ids or ids_of(documents)), similarity_of(vectors_of(documents)))


def cosine(document, second):
    norms = [sqrt(sum(weight**2 for weight in text.values())) for text in (document, second)]
    return sum(weight * second.get(term, 0) for term, weight in document.items()) / (norms[0] * norms[1] or 1)


def expected(scores, documents, ids, gain, number):
    mean = sum(scores) / len(scores)
    spread = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    if spread == 0:
        return [0] * len(scores)
    best = sorted(range(len(scores)), key=lambda row: (scores[row], ids[row]), reverse=True)[:number]
    parts = [exp(4 * (scores[row] - scores[best[0]]) / spread) for row in best]
    return [
        gain
        * spread
        * sum(part / sum(parts) * cosine(document, documents[row]) for part, row in zip(parts, best, strict=True))
        for document in documents
    ]


def ids_of(documents):
    return [b"d%d" % row for row in range(len(documents))]


def test_a_document_like_the_best_gains_and_one_that_has_nothing_of_it_does_not():
    documents = [{"a": 3.0, "b": 4.0}, {}, {"a": 1.0}, {"c": 1.0}]
    scores = [3, 1, 0, 0]
    spread = sqrt(6 / 4)  # of 3, 1, 0, 0 around 1: squares 4, 0, 1, 1
    weight = 1 / (1 + exp(4 * (1 - 3) / spread))
    gains = [2 * spread * weight, 0, 2 * spread * weight * 3 / 5, 0]
    assert added(Feedback(2.0, 2), documents, scores).tolist() == pytest.approx(gains)


LISTS = st.lists(st.tuples(TERMS, st.integers(-3, 3).map(float)), min_size=1, max_size=6)
PASSES = st.builds(Feedback, st.floats(0.5, 12), st.integers(1, 5))


@given(LISTS, PASSES, st.randoms())
def test_the_gains_are_the_formulas_in_any_order_and_follow_the_scale_of_the_scores(rows, feedback, random):
    documents, scores = map(list, zip(*rows, strict=True))
    ids, scores = ids_of(documents), np.array(scores, np.float32)
    gains = added(feedback, documents, scores)
    assert gains.tolist() == pytest.approx(expected(scores.tolist(), documents, ids, *feedback), abs=1e-4)
    order = np.array(random.sample(range(len(documents)), len(documents)))
    shuffled = added(feedback, [documents[row] for row in order], scores[order], [ids[row] for row in order])
    assert shuffled.tolist() == pytest.approx(gains[order].tolist(), abs=1e-4)
    moved = added(feedback, documents, scores * 2 + 5)  # where the scores lie does not matter
    assert moved.tolist() == pytest.approx((2 * gains).tolist(), abs=1e-4)


def test_documents_with_equal_scores_keep_them():
    documents = [{"a": 1.0}, {"a": 1.0, "b": 1.0}, {"b": 1.0}]
    assert added(Feedback(4.0), documents, [1, 1, 1]).tolist() == [0, 0, 0]


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


QUERIES = st.lists(st.sampled_from(["white", "cat", "dog", "moon", "ararat"]), min_size=1, max_size=3).map(" ".join)


@pytest.mark.stages
@pytest.mark.usefixtures("each_model_loaded_once")
@settings(max_examples=8, deadline=None)
@given(QUERIES, st.sampled_from([None, 0.0, 12.0]))
def test_a_list_is_ranked_and_scored_alike_by_the_models_own_second_pass_or_with_another_gain(query, gain):
    model = model_with_words(feedback=Feedback(4.0, 3))
    documents = {document.id: (document.text, 0) for document in DOCUMENTS}
    lists = text_lists([("q1", query, documents), ("q2", "cat", dict(list(documents.items())[3:6]))])
    first, second = score_lists(model.path, lists, gain=0), score_lists(model.path, lists, gain)
    ranker = DocumentRanker(model, DOCUMENTS, gain)
    assert (model.feedback, ranker.feedback) == (Feedback(4.0, 3), Feedback(4.0 if gain is None else gain, 3))
    ranked = {document.doc_id: document for document in ranker.rank(query, 99, explain=True)}
    scores, first_scores = second.pop("scores"), first.pop("scores")
    expected_scores = model.score(query, [document.text for document in DOCUMENTS])["scores"]
    assert first_scores[0].tolist() == pytest.approx(expected_scores, abs=1e-5)
    _, vectors = model.own_vectors([text for text, _ in documents.values()])
    order = rank(first_scores[0], lists.doc_ids[0])
    gains = ranker.feedback.added(first_scores[0], order, similarity_of(vectors))
    assert scores[0].tolist() == pytest.approx((first_scores[0] + gains).tolist(), abs=1e-5)
    assert {
        doc_id.decode(): pytest.approx(score, abs=1e-4)
        for doc_id, score in zip(lists.doc_ids[0], scores[0], strict=True)
    } == {doc_id: document.score for doc_id, document in ranked.items()}
    for document in ranked.values():
        names = ["smooth_cosine", "lexicon", *(["feedback"] if ranker.feedback.gain else [])]
        assert [part.name for part in document.parts] == names
        assert sum(part.part for part in document.parts) == pytest.approx(document.score, abs=1e-4)
    if ranker.feedback.gain:
        assert second.pop("first_pass")[0].tolist() == first_scores[0].tolist()
    for name, rows in second.items():  # the channels are as they were
        assert [row.tolist() for row in rows] == [row.tolist() for row in first[name]]


@pytest.mark.stages
@pytest.mark.usefixtures("each_model_loaded_once")
def test_a_model_of_vectors_alone_has_no_second_pass():
    assert model_of_vectors().second_pass() == model_with_words().second_pass() == Feedback(0.0, 2)
    with pytest.raises(DataError, match=r"channel of words that match.*lexicon\.kind"):
        score_lists(model_of_vectors().path, text_lists([]), gain=4.0)

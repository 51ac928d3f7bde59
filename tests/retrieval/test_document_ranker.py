"""Ranking with an exported model that has a channel of words that match: as its own signature scores."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.wikiclir import Text
from smooth_clir.retrieval import document_ranker as module
from smooth_clir.retrieval.document_ranker import DocumentRanker
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.small_lexicon import COLLECTION

pytestmark = pytest.mark.stages

WORDS = ["white", "cat", "dog", "moon", "ararat", "chat", "blanc", "chien", "un", "lune", "noir", "zzz", "!"]
"""Words of both languages, of the towers or the lexicon alone, of neither, and no word at all."""
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
DOCUMENTS = [Text(f"d{number}", f"title {number}", text, 1) for number, text in enumerate(COLLECTION)]


@pytest.fixture(scope="module", params=["lexicon", "bm25"])
def model(request):
    return model_with_words(request.param)


def rank(query, limit, explain=False, model=None, documents=DOCUMENTS):
    return DocumentRanker(model or model_with_words(), documents).rank(query, limit, explain=explain)


@settings(max_examples=15, deadline=None)
@given(query=TEXTS, documents=st.lists(TEXTS, min_size=1, max_size=5))
def test_documents_are_scored_as_by_the_signature(model, query, documents):
    ranked = rank(query, 5, model=model, documents=[Text(str(n), "", text, 1) for n, text in enumerate(documents)])
    expected = model.score(query, documents)["scores"]
    if ranked:
        assert {document.doc_id: document.score for document in ranked} == {
            str(number): pytest.approx(score, abs=1e-5) for number, score in enumerate(expected)
        }
    else:
        assert expected == pytest.approx([0] * len(documents))


def test_documents_are_encoded_in_batches(monkeypatch):
    whole = rank("white cat", 9)
    monkeypatch.setattr(module, "_BATCH", 2)
    assert [ranked._replace(score=pytest.approx(ranked.score, abs=1e-6)) for ranked in whole] == rank("white cat", 9)


def test_a_query_whose_words_the_lexicon_alone_knows_is_ranked_by_it_unless_it_has_no_weight():
    ranked = rank("ararat", 2)
    assert {document.title for document in ranked} == {"title 5", "title 7"}  # which hold it
    assert all(document.score > 0 for document in ranked)
    assert rank("zzz", 3) == []
    assert rank("ararat", 3, documents=DOCUMENTS[:2]) == []  # no document holds it
    without_weight = model_with_words(weight=0.0)
    assert rank("ararat", 3, model=without_weight) == []
    assert len(rank("cat", 3, model=without_weight)) == 3


def test_the_parts_of_a_score_add_up_to_it_and_so_do_those_of_its_words(model):
    query = "white cat ararat un chien"
    ranked = rank(query, 9, explain=True, model=model)
    assert any(len(part.words) > 1 for document in ranked for part in document.parts)
    for document in ranked:
        scores = model.score(query, [COLLECTION[int(document.doc_id[1:])]])
        (channel,) = (name for name in scores if name not in ("scores", "smooth_cosine"))
        parts = {part.name: part for part in document.parts}
        assert sum(part.part for part in document.parts) == pytest.approx(document.score, abs=1e-5)
        assert parts["smooth_cosine"].part == pytest.approx(scores["smooth_cosine"][0], abs=1e-5)
        assert parts[channel].part == pytest.approx(0.5 * scores[channel][0], abs=1e-5)
        word_parts = [word.part for word in parts[channel].words]
        assert sum(word_parts) == pytest.approx(parts[channel].part, abs=1e-5)
        assert word_parts == sorted(word_parts, reverse=True)
        assert parts["smooth_cosine"].words == ()


def test_a_word_is_shown_with_the_word_that_answers_it_and_a_model_of_vectors_has_one_part():
    (best,) = rank("ararat dog", 1, explain=True)
    words = {(word.query_term, word.document_term) for part in best.parts for word in part.words}
    assert best.title in ("title 1", "title 7")
    assert words and words <= {("dog", "chien"), ("arara", "arara")}
    for document in rank("white cat", 3, explain=True, model=model_of_vectors()):
        (part,) = document.parts
        assert (part.name, part.part, part.words) == ("smooth_cosine", pytest.approx(document.score, abs=1e-6), ())

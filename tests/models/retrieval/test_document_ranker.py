"""Ranking with an exported model that has a channel of words that match: as its own signature scores."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.exported.model import LoadedModel
from models.retrieval import document_ranker as module
from models.retrieval.document_ranker import DocumentRanker
from schemas.wikiclir import Text
from tests.models.small_lexicon import COLLECTION, export_with_words
from tests.models.small_model import export_small_model

pytestmark = pytest.mark.stages

WORDS = ["white", "cat", "dog", "moon", "ararat", "chat", "blanc", "chien", "un", "lune", "noir", "zzz", "!"]
"""Words of both languages, of the towers or the lexicon alone, of neither, and no word at all."""
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
DOCUMENTS = [Text(f"d{number}", f"title {number}", text, 1) for number, text in enumerate(COLLECTION)]


@pytest.fixture(scope="module", params=["lexicon", "bm25", "tfidf"])
def model(request, tmp_path_factory):
    return LoadedModel(export_with_words(tmp_path_factory.mktemp("ranking") / "model", request.param))


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    return LoadedModel(export_with_words(tmp_path_factory.mktemp("ranking") / "model"))


@settings(max_examples=15, deadline=None)
@given(query=TEXTS, documents=st.lists(TEXTS, min_size=1, max_size=5))
def test_documents_are_scored_as_by_the_signature(model, query, documents):
    ranked = DocumentRanker(model, [Text(str(place), "", text, 1) for place, text in enumerate(documents)])
    found = ranked.rank(query, 5)
    expected = model.score(query, documents)["scores"]
    if found:
        assert {one.doc_id: one.score for one in found} == {
            str(place): pytest.approx(score, abs=1e-5) for place, score in enumerate(expected)
        }
    else:
        assert expected == pytest.approx([0] * len(documents))


def test_documents_are_encoded_in_batches(lexicon, monkeypatch):
    whole = DocumentRanker(lexicon, DOCUMENTS).rank("white cat", 9)
    monkeypatch.setattr(module, "_BATCH", 2)
    assert [one._replace(score=pytest.approx(one.score, abs=1e-6)) for one in whole] == DocumentRanker(
        lexicon, DOCUMENTS
    ).rank("white cat", 9)


def test_a_query_whose_words_the_lexicon_alone_knows_is_ranked_by_it(lexicon):
    found = DocumentRanker(lexicon, DOCUMENTS).rank("ararat", 2)
    assert {one.title for one in found} == {"title 5", "title 7"}  # which hold it
    assert all(one.score > 0 for one in found)


def test_a_query_that_no_document_answers_has_no_result(lexicon):
    assert DocumentRanker(lexicon, DOCUMENTS).rank("zzz", 3) == []
    assert DocumentRanker(lexicon, DOCUMENTS[:2]).rank("ararat", 3) == []  # no document holds it


def test_a_channel_without_weight_gives_a_query_no_result(tmp_path):
    ranker = DocumentRanker(LoadedModel(export_with_words(tmp_path / "model", weight=0.0)), DOCUMENTS)
    assert ranker.rank("ararat", 3) == []
    assert len(ranker.rank("cat", 3)) == 3


# What made a score


def test_the_parts_of_a_score_add_up_to_it_and_so_do_those_of_its_words(model):
    results = DocumentRanker(model, DOCUMENTS).rank("white cat ararat un chien", 9, explain=True)
    assert any(len(part.words) > 1 for one in results for part in one.parts)
    for one in results:
        scores = model.score("white cat ararat un chien", [COLLECTION[int(one.doc_id[1:])]])
        (words,) = (name for name in scores if name not in ("scores", "smooth_cosine"))
        parts = {part.name: part for part in one.parts}
        assert sum(part.part for part in one.parts) == pytest.approx(one.score, abs=1e-5)
        assert parts["smooth_cosine"].part == pytest.approx(scores["smooth_cosine"][0], abs=1e-5)
        assert parts[words].part == pytest.approx(0.5 * scores[words][0], abs=1e-5)
        of_words = [word.part for word in parts[words].words]
        assert sum(of_words) == pytest.approx(parts[words].part, abs=1e-5)
        assert of_words == sorted(of_words, reverse=True)
        assert parts["smooth_cosine"].words == ()


def test_a_word_is_shown_with_the_word_that_answers_it(lexicon):
    (best,) = DocumentRanker(lexicon, DOCUMENTS).rank("ararat dog", 1, explain=True)
    words = {(word.query_term, word.document_term) for part in best.parts for word in part.words}
    assert best.title in ("title 1", "title 7")
    assert words <= {("dog", "chien"), ("arara", "arara")} and words


def test_a_model_of_one_channel_has_one_part(tmp_path):
    export_small_model(tmp_path / "model")
    for one in DocumentRanker(LoadedModel(str(tmp_path / "model")), DOCUMENTS).rank("white cat", 3, explain=True):
        (part,) = one.parts
        assert (part.name, part.part, part.words) == ("smooth_cosine", pytest.approx(one.score, abs=1e-6), ())

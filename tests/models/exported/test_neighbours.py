"""models/exported/neighbours.py: the words nearest to a word, on its own side and on the other."""

import numpy as np
import pytest

from models.exported.model import LoadedModel, as_texts
from models.exported.neighbours import nearest_words
from schemas.errors import DataError
from tests.models.small_model import WORDS, export_small_model

pytestmark = pytest.mark.stages

QUERY_WORDS, DOCUMENT_WORDS = (words.split() for words in WORDS.values())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "model"
    export_small_model(path, encoder="polynomial", embedding_dim=3, initial_scale=1.0)
    return LoadedModel(str(path))


def vectors(model, side, words):
    return model.call(f"encode_{side}", {side: as_texts(words)})["vector"]


def test_own_words_come_by_distance_without_the_word_itself_and_others_by_inner_product(model):
    (found,) = nearest_words(model, ["Cat"], "query", 10)
    (cat,) = vectors(model, "query", ["cat"])
    distances = {
        word: float(np.linalg.norm(vector - cat))
        for word, vector in zip(QUERY_WORDS, vectors(model, "query", QUERY_WORDS), strict=True)
        if word != "cat"
    }
    products = dict(zip(DOCUMENT_WORDS, vectors(model, "document", DOCUMENT_WORDS) @ cat, strict=True))
    assert [one.word for one in found.own_side] == sorted(distances, key=lambda word: distances[word])
    assert [one.word for one in found.other_side] == sorted(products, key=lambda word: -products[word])
    assert {one.word: one.value for one in found.own_side} == pytest.approx(distances, abs=1e-5)
    assert {one.word: one.value for one in found.other_side} == pytest.approx(products, abs=1e-5)


def test_words_of_documents_have_neighbours_too_and_no_more_than_asked(model):
    (found,) = nearest_words(model, ["chat"], "document", 2)
    assert {one.word for one in found.own_side} < {*DOCUMENT_WORDS} - {"chat"}
    assert {one.word for one in found.other_side} < {*QUERY_WORDS}
    assert (len(found.own_side), len(found.other_side)) == (2, 2)


def test_an_unknown_word_has_none(model):
    (found,) = nearest_words(model, ["chat"], "query", 2)
    assert (found.word, found.own_side, found.other_side) == ("chat", (), ())


def test_a_model_without_its_vocabularies_is_refused(tmp_path):
    export_small_model(tmp_path / "model")
    model = LoadedModel(str(tmp_path / "model"))
    (tmp_path / "model" / "assets" / "document_vocabulary").unlink()
    with pytest.raises(DataError, match=r"must hold the words of the document side; .+document_vocabulary is missing"):
        nearest_words(model, ["cat"], "query", 1)

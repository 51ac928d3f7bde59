"""models/exported/neighbours.py: the words nearest to a word, on its own side and on the other."""

import shutil

import numpy as np
import pytest

from models.exported.model import LoadedModel
from models.exported.neighbours import nearest_words
from models.exported.signatures import as_texts
from schemas.errors import DataError
from tests.models.loaded_once import model_of_vectors
from tests.models.small_model import WORDS

pytestmark = pytest.mark.stages

QUERY_WORDS, DOCUMENT_WORDS = (words.split() for words in WORDS.values())


def vectors(side, words):
    return model_of_vectors().call(f"encode_{side}", {side: as_texts(words)})["vector"]


def test_own_words_come_by_distance_without_the_word_itself_and_others_by_inner_product():
    known, unknown = nearest_words(model_of_vectors(), ["Cat", "chat"], "query", 10)
    (cat,) = vectors("query", ["cat"])
    distances = {
        word: float(np.linalg.norm(vector - cat))
        for word, vector in zip(QUERY_WORDS, vectors("query", QUERY_WORDS), strict=True)
        if word != "cat"
    }
    products = dict(zip(DOCUMENT_WORDS, vectors("document", DOCUMENT_WORDS) @ cat, strict=True))
    assert [neighbour.word for neighbour in known.own_side] == sorted(distances, key=distances.__getitem__)
    assert [neighbour.word for neighbour in known.other_side] == sorted(products, key=lambda word: -products[word])
    assert {neighbour.word: neighbour.value for neighbour in known.own_side} == pytest.approx(distances, abs=1e-5)
    assert {neighbour.word: neighbour.value for neighbour in known.other_side} == pytest.approx(products, abs=1e-5)
    assert (unknown.word, unknown.own_side, unknown.other_side) == ("chat", (), ())


def test_words_of_documents_have_neighbours_too_and_no_more_than_requested():
    (nearest,) = nearest_words(model_of_vectors(), ["chat"], "document", 2)
    assert {neighbour.word for neighbour in nearest.own_side} < {*DOCUMENT_WORDS} - {"chat"}
    assert {neighbour.word for neighbour in nearest.other_side} < {*QUERY_WORDS}
    assert (len(nearest.own_side), len(nearest.other_side)) == (2, 2)


@pytest.mark.usefixtures("each_model_loaded_once")
def test_a_model_without_its_vocabularies_is_refused(tmp_path):
    shutil.copytree(model_of_vectors().path, tmp_path / "1")
    model = LoadedModel(str(tmp_path / "1"))
    (tmp_path / "1" / "assets" / "document_vocabulary").unlink()
    with pytest.raises(DataError, match="document_vocabulary"):
        nearest_words(model, ["cat"], "query", 1)

"""What the lexicon of an exported model translates words to."""

import pytest

from models.exported.word_translations import word_translations
from schemas.errors import DataError
from tests.models.small_lexicon import export_with_words
from tests.models.small_model import export_small_model

pytestmark = [pytest.mark.serving, pytest.mark.usefixtures("each_model_loaded_once")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return export_with_words(tmp_path_factory.mktemp("translations") / "model")


def test_translations_are_those_of_the_stem_the_best_first(path):
    found = word_translations(path, ["Dogs", "dog"])
    assert [one.stem for one in found["dog"]] == ["dog"]
    assert [one.stem for one in found["Dogs"]] == ["dogs"]
    (dog,) = found["dog"]
    assert dog.translations[0].stem == "chien"
    weights = [one.weight for one in dog.translations]
    assert weights == sorted(weights, reverse=True)
    assert all(0.01 <= weight <= 1 for weight in weights)


def test_a_stem_is_no_translation_of_itself_and_one_without_any_has_none(path):
    found = word_translations(path, ["ararat", "zzz"])
    assert "arara" not in {one.stem for one in found["ararat"][0].translations}
    assert [(one.stem, one.translations) for one in found["zzz"]] == [("zzz", ())]


def test_a_text_of_several_words_or_none_has_as_many_stems(path):
    found = word_translations(path, ["cat-dog", "!"])
    assert [one.stem for one in found["cat-dog"]] == ["cat", "dog"]
    assert found["!"] == []


@pytest.mark.parametrize("kind", ["bm25", "tfidf"])
def test_a_model_of_equal_words_has_no_lexicon(tmp_path, kind):
    path = export_with_words(tmp_path / "model", kind)
    with pytest.raises(DataError, match=rf"{path} must have a lexicon, but its .* equal words \({kind}\); a run with"):
        word_translations(path, ["cat"])


def test_a_model_of_vectors_alone_has_no_lexicon(tmp_path):
    export_small_model(tmp_path / "model")
    with pytest.raises(DataError, match="must have a lexicon, but its score is of no channel of words that match; a"):
        word_translations(str(tmp_path / "model"), ["cat"])

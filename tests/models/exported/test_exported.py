"""An exported model: damaged ones are refused, and words are translated."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from models.choices import ENCODERS
from models.exported.model import LoadedModel
from models.exported.versions import write_sums
from models.lexicon.learn_lexicon import learn_lexicon
from models.texts.tokens import ALL_WORDS
from schemas.errors import DataError
from tests.models.lexicon.small_lexicon import table_of
from tests.models.small_lexicon import COLLECTION, PAIRS, export_with_words
from tests.models.small_model import STEMS, export_small_model

pytestmark = pytest.mark.stages

UNKNOWN_FIELD = b"\xf8\x07\x01"
"""Bytes of a protocol buffer: field 127, which a SavedModel has not."""
SIGNATURES = ("score", "encode_query", "encode_document")


@pytest.fixture(scope="module")
def exported(request, tmp_path_factory):
    """Folder of a SavedModel: of the encoder that loads most quickly, unless a test names another."""
    path = tmp_path_factory.mktemp("exported") / "model"
    export_small_model(path, encoder=getattr(request, "param", "mean"))
    return path


def test_a_vocabulary_of_stems_that_is_cut_off_is_an_error_of_the_data(tmp_path):
    export_small_model(tmp_path / "model", stem_embeddings=True)
    LoadedModel(str(tmp_path / "model"), *SIGNATURES)
    for vocabulary in STEMS:
        file = tmp_path / "model" / "assets" / vocabulary
        whole = file.read_bytes()
        file.write_bytes(whole[:-3])
        with pytest.raises(DataError, match=rf"not as its SHA256SUMS says: assets/{vocabulary}\."):
            LoadedModel(str(tmp_path / "model"))
        file.write_bytes(whole)


@pytest.mark.parametrize("name", ["a[b]", "[a]", "a*", "a?b", "a\\b", "{a}'", "a\nb"])
def test_a_model_loads_from_a_folder_of_any_name(exported, tmp_path, name):
    folder = tmp_path / name / "1"
    shutil.copytree(exported, folder)
    expected = LoadedModel(str(exported)).score("cat", ["chat", "chien"])
    model = LoadedModel(str(folder))
    assert (model.path, model.version) == (str(folder), "1")
    assert model.score("cat", ["chat", "chien"]) == expected


@pytest.mark.parametrize("use", [lambda model: model.score("cat", ["chat"]), lambda model: LoadedModel(model.path)])
def test_a_forked_process_cannot_use_a_model_and_does_not_wait_for_ever(exported, use):
    model = LoadedModel(str(exported))
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            use(model)
        except RuntimeError as error:
            os._exit(42 if "do not survive a fork" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42


@pytest.fixture
def model(exported, tmp_path):
    """A copy of it, to be spoiled."""
    return Path(shutil.copytree(exported, tmp_path / "model"))


@pytest.mark.parametrize("exported", ENCODERS, indirect=True)
def test_a_whole_model_loads_and_one_with_a_changed_or_missing_file_names_it(model):
    assert set(SIGNATURES) <= set(LoadedModel(str(model), *SIGNATURES).signatures)
    for file in sorted(path for path in model.rglob("*") if path.is_file() and path.name != "SHA256SUMS"):
        whole = file.read_bytes()
        for damaged in (whole[:-1], bytes([whole[0] ^ 1]) + whole[1:], b"", None):
            file.unlink() if damaged is None else file.write_bytes(damaged)
            name = re.escape(str(file.relative_to(model)))
            with pytest.raises(DataError, match=rf"whole SavedModel: missing, or not as its SHA256SUMS says: {name}\."):
                LoadedModel(str(model))
            file.write_bytes(whole)
    LoadedModel(str(model))


@pytest.mark.parametrize("content", ["", "no sum", "0" * 64 + "  saved_model.pb\n"])
def test_changed_sums_are_no_sums(model, content):
    (model / "SHA256SUMS").write_text(content)
    with pytest.raises(DataError, match="whole SavedModel: missing, or not as its SHA256SUMS says: "):
        LoadedModel(str(model))


def test_people_can_check_a_model_with_sha256sum(model):
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=model, check=True).returncode == 0


@pytest.mark.parametrize("name", ["saved_model.pb", "variables/variables.index", "assets/query_vocabulary"])
def test_a_model_of_an_earlier_release_has_no_sums_and_an_emptied_file_is_an_error_all_the_same(model, name):
    (model / "SHA256SUMS").unlink()
    LoadedModel(str(model))
    (model / name).write_bytes(b"")
    with pytest.raises(DataError, match=r"whole SavedModel: \S.+"):
        LoadedModel(str(model))


def test_a_model_without_a_signature_of_ours_is_named(model):
    with pytest.raises(DataError, match="it lacks the signature answer"):
        LoadedModel(str(model), "answer")


def test_a_model_is_loaded_again_only_where_a_file_of_it_changed(model):
    first = LoadedModel(str(model))._model
    assert LoadedModel(str(model), "encode_query")._model is first
    graph = model / "saved_model.pb"
    graph.write_bytes(graph.read_bytes() + UNKNOWN_FIELD)
    (model / "SHA256SUMS").unlink()
    write_sums(str(model))
    assert LoadedModel(str(model))._model is not first


# The translations of words


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory):
    return LoadedModel(export_with_words(tmp_path_factory.mktemp("translations") / "model"))


def test_translations_are_those_of_the_stem_the_best_first(lexicon):
    found = lexicon.translations(["Dogs", "dog"])
    assert [one.stem for one in found["dog"]] == ["dog"]
    assert [one.stem for one in found["Dogs"]] == ["dog"]
    (dog,) = found["dog"]
    assert dog.translations[0].stem == "chien"
    weights = [one.weight for one in dog.translations]
    assert weights == sorted(weights, reverse=True)
    assert all(0.01 <= weight <= 1 for weight in weights)


def test_a_stem_is_no_translation_of_itself_and_one_without_any_has_none(lexicon):
    found = lexicon.translations(["ararat", "zzz"])
    assert "arara" not in {one.stem for one in found["ararat"][0].translations}
    assert [(one.stem, one.translations) for one in found["zzz"]] == [("zzz", ())]


def test_a_text_of_several_words_or_none_has_as_many_stems(lexicon):
    found = lexicon.translations(["cat-dog", "!"])
    assert [one.stem for one in found["cat-dog"]] == ["cat", "dog"]
    assert found["!"] == []


@pytest.mark.parametrize("stems_of_a_call", [1, 4, 4096])
def test_all_translations_are_those_of_the_learned_lexicon_but_for_stems_themselves(
    lexicon, monkeypatch, stems_of_a_call
):
    monkeypatch.setattr("models.exported.model._STEMS_OF_A_CALL", stems_of_a_call)
    learned = table_of(learn_lexicon("lexicon", ("en", "fr"), ALL_WORDS, PAIRS, COLLECTION))
    expected = {(query, answer): weight for query, of in learned.items() for answer, weight in of.items()}
    expected = {stems: weight for stems, weight in expected.items() if stems[0] != stems[1]}
    found = lexicon.all_translations()
    assert found == pytest.approx(expected, rel=1e-6)
    assert len(found) > 8
    assert all(np.float32(weight) == np.float32(repr(weight)) and len(repr(weight)) < 14 for weight in found.values())


@pytest.mark.parametrize("kind", ["bm25", "tfidf"])
def test_a_model_of_equal_words_has_no_lexicon(tmp_path, kind):
    path = export_with_words(tmp_path / "model", kind)
    for ask in (lambda model: model.translations(["cat"]), LoadedModel.all_translations):
        with pytest.raises(DataError, match=rf"{path} must have a lexicon, but .* equal words \({kind}\); a run with"):
            ask(LoadedModel(path))


def test_a_model_of_vectors_alone_has_no_lexicon(exported):
    with pytest.raises(DataError, match="must have a lexicon, but .* no channel of words that match; a"):
        LoadedModel(str(exported)).translations(["cat"])

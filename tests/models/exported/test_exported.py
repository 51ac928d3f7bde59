"""An exported model: damaged ones are refused, and words are translated."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from models.exported.model import LoadedModel
from models.exported.versions import write_sums
from models.lexicon.learn_lexicon import learn_lexicon
from models.texts.tokens import ALL_WORDS
from schemas.errors import DataError
from tests.models.lexicon.small_lexicon import table_of
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.small_lexicon import COLLECTION, PAIRS

pytestmark = pytest.mark.stages

UNKNOWN_FIELD = b"\xf8\x07\x01"
"""Bytes of a protocol buffer: field 127, which a SavedModel has not."""
SIGNATURES = ("score", "encode_query", "encode_document")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of a small model, to be spoiled."""
    return Path(shutil.copytree(model_of_vectors().path, tmp_path / "model"))


@pytest.mark.parametrize("name", ["a[b]*?\\{c}'", "a\nb"])
def test_a_model_loads_from_a_folder_of_any_name(model, tmp_path, name):
    folder = tmp_path / name / "1"
    shutil.copytree(model, folder)
    loaded = LoadedModel(str(folder))
    assert (loaded.path, loaded.version) == (str(folder), "1")
    assert loaded.score("cat", ["chat", "chien"]) == model_of_vectors().score("cat", ["chat", "chien"])


@pytest.mark.parametrize("use", [lambda model: model.score("cat", ["chat"]), lambda model: LoadedModel(model.path)])
def test_a_forked_process_cannot_use_a_model_and_does_not_wait_for_ever(use):
    model = model_of_vectors()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            use(model)
        except RuntimeError as error:
            os._exit(42 if "fork" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42


def test_a_changed_or_missing_file_is_named_and_people_can_check_a_model_with_sha256sum(tmp_path):
    model = Path(shutil.copytree(model_of_vectors(stem_embeddings=True).path, tmp_path / "model"))
    files = sorted(path for path in model.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    assert {"query_stem_vocabulary", "document_vocabulary", "saved_model.pb"} <= {file.name for file in files}
    for file in files:
        whole = file.read_bytes()
        for damaged in (whole[:-1], bytes([whole[0] ^ 1]) + whole[1:], b"", None):
            file.unlink() if damaged is None else file.write_bytes(damaged)
            name = re.escape(str(file.relative_to(model)))
            with pytest.raises(DataError, match=rf"SHA256SUMS .*{name}\."):
                LoadedModel(str(model))
            file.write_bytes(whole)
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=model, check=True).returncode == 0
    assert set(SIGNATURES) <= set(LoadedModel(str(model), *SIGNATURES).signatures)
    with pytest.raises(DataError, match="the signature answer"):
        LoadedModel(str(model), "answer")
    for content in ("", "no sum", "0" * 64 + "  saved_model.pb\n"):
        (model / "SHA256SUMS").write_text(content)
        with pytest.raises(DataError, match="SHA256SUMS"):
            LoadedModel(str(model))


def test_a_model_of_an_earlier_release_has_no_sums_and_an_emptied_file_is_an_error_all_the_same(model):
    (model / "SHA256SUMS").unlink()
    LoadedModel(str(model))
    for name in ("saved_model.pb", "variables/variables.index", "assets/query_vocabulary"):
        whole = (model / name).read_bytes()
        (model / name).write_bytes(b"")
        with pytest.raises(DataError, match=r"whole SavedModel: \S.+"):
            LoadedModel(str(model))
        (model / name).write_bytes(whole)


def test_a_model_is_loaded_again_only_where_a_file_of_it_changed(model):
    first = LoadedModel(str(model))._model
    assert LoadedModel(str(model), "encode_query")._model is first
    graph = model / "saved_model.pb"
    graph.write_bytes(graph.read_bytes() + UNKNOWN_FIELD)
    (model / "SHA256SUMS").unlink()
    write_sums(str(model))
    assert LoadedModel(str(model))._model is not first


# The translations of words


def test_translations_are_those_of_each_stem_of_a_text_the_best_first():
    answers = model_with_words().translations(["Dogs", "dog", "ararat", "zzz", "cat-dog", "!"])
    stems = {text: [translated.stem for translated in stems] for text, stems in answers.items()}
    assert stems == {
        "Dogs": ["dog"], "dog": ["dog"], "ararat": ["arara"], "zzz": ["zzz"], "cat-dog": ["cat", "dog"], "!": [],
    }  # fmt: skip
    (dog,) = answers["dog"]
    assert dog.translations[0].stem == "chien"
    weights = [translation.weight for translation in dog.translations]
    assert weights == sorted(weights, reverse=True)
    assert all(0.01 <= weight <= 1 for weight in weights)
    assert "arara" not in {translation.stem for translation in answers["ararat"][0].translations}  # itself
    assert answers["zzz"][0].translations == ()
    assert {text: stems[0].is_known for text, stems in answers.items() if stems} == {
        "Dogs": True, "dog": True, "ararat": True, "zzz": False, "cat-dog": True,
    }  # fmt: skip


def test_a_stem_of_documents_has_its_words_and_the_equal_stem_has_weight_1():
    (ararat,) = model_with_words().translations(["ararat"])["ararat"]
    assert (ararat.equal.stem, ararat.equal.words, ararat.equal.weight) == ("arara", ("ararat",), 1.0)
    words = {translation.stem: translation.words for translation in ararat.translations}
    assert words["lune"] == ()  # the only word with this stem is the stem


def test_a_model_without_words_or_known_shares_shows_stems(monkeypatch):
    model = model_with_words()
    monkeypatch.setattr(model, "signatures", model.signatures - {"document_words", "known_share"})
    monkeypatch.delitem(vars(model), "_document_words", raising=False)
    (ararat,) = model.translations(["ararat"])["ararat"]
    assert (ararat.is_known, ararat.equal.words) == (None, ())
    monkeypatch.delitem(vars(model), "_document_words")


@pytest.mark.parametrize("stems_of_a_call", [4, 4096])
def test_all_translations_are_those_of_the_learned_lexicon_but_for_stems_themselves(monkeypatch, stems_of_a_call):
    monkeypatch.setattr("models.exported.model._STEMS_OF_A_CALL", stems_of_a_call)
    learned = table_of(learn_lexicon("lexicon", ("en", "fr"), ALL_WORDS, PAIRS, COLLECTION))
    expected = {(query, answer): weight for query, answers in learned.items() for answer, weight in answers.items()}
    expected = {stems: weight for stems, weight in expected.items() if stems[0] != stems[1]}
    answers = model_with_words().all_translations()
    assert answers == pytest.approx(expected, rel=1e-6)
    assert len(answers) > 8
    assert all(np.float32(weight) == np.float32(repr(weight)) and len(repr(weight)) < 14 for weight in answers.values())


@pytest.mark.parametrize(
    ("make", "reported"), [(lambda: model_with_words("bm25"), r"\(bm25\)"), (model_of_vectors, "no channel of words")]
)
def test_a_model_without_a_lexicon_has_no_translations(make, reported):
    for ask in (lambda model: model.translations(["cat"]), LoadedModel.all_translations):
        with pytest.raises(DataError, match=reported):
            ask(make())

"""Loading an exported model: what is damaged is told from what is whole."""

import shutil
from pathlib import Path

import pytest

from models.choices import ENCODERS
from models.exported.model import load_model
from schemas.errors import DataError
from tests.models.small_model import STEMS, WORDS, export_small_model

pytestmark = pytest.mark.serving

UNKNOWN_FIELD = b"\xf8\x07\x01"
"""Of a protocol buffer: field 127, which a SavedModel has not."""
SIGNATURES = ("score", "encode_query", "encode_document")


@pytest.fixture(scope="module")
def exported(request, tmp_path_factory):
    """Folder of a SavedModel: of the encoder that loads most quickly, unless a test names another."""
    path = tmp_path_factory.mktemp("exported") / "model"
    export_small_model(path, encoder=getattr(request, "param", "mean"))
    return path


def test_a_vocabulary_of_stems_that_is_cut_off_is_an_error_of_the_data(tmp_path):
    export_small_model(tmp_path / "model", stem_embeddings=True)
    load_model(str(tmp_path / "model"), *SIGNATURES)
    for vocabulary, stems in STEMS.items():
        file = tmp_path / "model" / "assets" / vocabulary
        whole = file.read_bytes()
        file.write_bytes(whole[:-3])
        with pytest.raises(DataError, match=rf"{file} must hold {stems.count(chr(10))} words, .+ whole lines"):
            load_model(str(tmp_path / "model"))
        file.write_bytes(whole)


@pytest.fixture
def model(exported, tmp_path):
    """A copy of it, to be spoiled."""
    return Path(shutil.copytree(exported, tmp_path / "model"))


@pytest.mark.parametrize("exported", ENCODERS, indirect=True)
def test_a_whole_model_loads_and_one_with_a_vocabulary_that_is_cut_off_does_not(model):
    assert set(SIGNATURES) <= set(load_model(str(model), *SIGNATURES).signatures)
    for vocabulary in WORDS:
        file = model / "assets" / vocabulary
        whole = file.read_bytes()
        file.write_bytes(whole[:-3])
        with pytest.raises(DataError, match=rf"whole SavedModel: {file} must hold \d+ words, .+ whole lines"):
            load_model(str(model))
        file.write_bytes(whole)


@pytest.mark.parametrize("vocabulary", WORDS)
@pytest.mark.parametrize("cut_bytes", [1, 3, 6])
def test_a_vocabulary_that_is_cut_off_is_an_error_of_the_data(model, vocabulary, cut_bytes):
    file = model / "assets" / vocabulary
    file.write_bytes(file.read_bytes()[:-cut_bytes])
    rows = WORDS[vocabulary].count("\n")
    with pytest.raises(DataError, match=rf"whole SavedModel: {file} must hold {rows} words, .+; got [12345] whole li"):
        load_model(str(model))


@pytest.mark.parametrize("vocabulary", WORDS)
def test_a_vocabulary_that_is_missing_is_named(model, vocabulary):
    (model / "assets" / vocabulary).unlink()
    with pytest.raises(DataError, match=rf"whole SavedModel: {model}/assets/{vocabulary}; No such file"):
        load_model(str(model))


@pytest.mark.parametrize("name", ["saved_model.pb", "variables/variables.index", "assets/query_vocabulary"])
def test_an_emptied_file_is_an_error_of_the_data(model, name):
    (model / name).write_bytes(b"")
    with pytest.raises(DataError, match=r"whole SavedModel: \S.+"):
        load_model(str(model))


def test_a_model_without_a_signature_of_ours_is_named(model):
    with pytest.raises(DataError, match="it lacks the signature answer"):
        load_model(str(model), "answer")


def test_a_model_is_loaded_again_only_where_a_file_of_it_changed(model):
    first = load_model(str(model), "score")
    assert load_model(str(model), "encode_query") is first
    graph = model / "saved_model.pb"
    graph.write_bytes(graph.read_bytes() + UNKNOWN_FIELD)
    assert load_model(str(model), "score") is not first

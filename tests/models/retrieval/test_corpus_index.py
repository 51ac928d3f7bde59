"""Searching an index: the documents that the model's own scores put first."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from models.exported.model import EncodedQuery, LoadedModel
from models.retrieval.assemble_index import assemble_index
from models.retrieval.corpus_index import CorpusIndex
from models.retrieval.segment import encode_documents
from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE, SEGMENTS
from schemas.wikiclir import Text
from tests.models.small_lexicon import export_with_words
from tests.models.small_model import export_small_model

pytestmark = pytest.mark.stages

WORDS = ["white", "cat", "dog", "moon", "ararat", "chat", "blanc", "chien", "un", "lune", "noir", "zzz", "!"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.fixture(scope="module", params=["lexicon", "vectors alone"])
def path(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    if request.param == "lexicon":
        return export_with_words(folder / "model")
    export_small_model(folder / "model")
    return str(folder / "model")


def index_of(path, folder: Path, texts, most=3, **arguments) -> CorpusIndex:
    """An index of texts, in segments of so many."""
    os.makedirs(folder / SEGMENTS)
    documents = [Text(f"d{number}", f"title {number}", text, 1) for number, text in enumerate(texts)]
    records = list(encode_documents(loaded(path), documents, str(folder / SEGMENTS), 0, most=most))
    assemble_index(str(folder), "0a", records, len(records), **arguments)
    return CorpusIndex(str(folder))


@cache
def loaded(path) -> LoadedModel:
    return LoadedModel(path)


def encoded(path, query) -> EncodedQuery:
    return loaded(path).encode_query(query)


@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(query=TEXTS, texts=st.lists(TEXTS, min_size=1, max_size=9), top=st.integers(1, 10))
def test_the_best_are_those_of_the_model_s_own_scores(path, tmp_path_factory, query, texts, top):
    index = index_of(path, tmp_path_factory.mktemp("index") / "1", texts)
    found = index.search(encoded(path, query), top)
    expected = {f"d{number}": score for number, score in enumerate(loaded(path).score(query, texts)["scores"])}
    scores = [expected[one.doc_id.decode()] for one in found]
    assert [one.score for one in found] == pytest.approx(scores, abs=1e-6)
    assert [text.id for text in index.texts([one.place for one in found])] == [one.doc_id.decode() for one in found]
    if found:
        assert scores == pytest.approx(sorted(expected.values(), reverse=True)[: len(found)], abs=1e-6)
    assert all(one.score == pytest.approx(one.dense + one.words) for one in found)
    if encoded(path, query).vector.any():
        assert len(found) == min(top, len(texts))


def test_of_equal_documents_the_larger_id_comes_first(path, tmp_path):
    index = index_of(path, tmp_path / "1", ["chat", "chien", "chat", "chat", "chat"])
    found = [one.doc_id.decode() for one in index.search(encoded(path, "cat"), 9)]
    assert [one for one in found if one != "d1"] == ["d4", "d3", "d2", "d0"]


def test_a_query_of_which_the_model_knows_no_word_finds_nothing(path, tmp_path):
    assert index_of(path, tmp_path / "1", ["chat", "chien"]).search(encoded(path, "qqq !"), 3) == []


def test_an_index_without_documents_finds_nothing(path, tmp_path):
    index = index_of(path, tmp_path / "1", [])
    assert len(index) == 0
    assert index.search(encoded(path, "cat"), 3) == []


def test_where_the_vectors_are_many_the_score_of_each_candidate_is_exact(path, tmp_path):
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(WORDS, 5)) for _ in range(400)]
    whole = index_of(path, tmp_path / "1", texts, most=100)
    lists = index_of(path, tmp_path / "2", texts, most=100, least=300)
    assert (whole.manifest.lists, lists.manifest.lists) == (0, 64)
    for query in ("white cat", "dog"):
        expected = {one.place: one.score for one in whole.search(encoded(path, query), 400)}
        found = lists.search(encoded(path, query), 10)
        assert [one.score for one in found] == pytest.approx([expected[one.place] for one in found], abs=1e-6)
        assert len(found) == 10


def test_words_alone_find_exactly_the_documents_that_match(tmp_path):
    path = export_with_words(tmp_path / "model")
    index = index_of(path, tmp_path / "1", ["ararat", "chat", "un ararat", "lune"])
    found = index.words_search(encoded(path, "ararat"), 9)
    assert {one.doc_id.decode() for one in found} >= {"d0", "d2"}
    assert all(one.score == one.words > 0 for one in found)


@pytest.mark.parametrize("file", ["vectors.npy", "documents.tsv", "terms.txt", "postings_weights.npy"])
def test_a_file_that_is_missing_or_of_another_size_is_refused(path, tmp_path, file):
    index_of(path, tmp_path / "1", ["chat", "chien blanc"])
    file = tmp_path / "1" / SEGMENTS / "0" / file
    content = file.read_bytes()
    for broken in (content + b"x", None):
        file.unlink()
        if broken is not None:
            file.write_bytes(broken)
        with pytest.raises(DataError, match="must hold a whole index"):
            CorpusIndex(str(tmp_path / "1"))


def test_a_folder_without_an_index_and_another_format_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"must hold an index \(manifest.json\): No such file"):
        CorpusIndex(str(tmp_path))
    (tmp_path / MANIFEST_FILE).write_text('{"format": 9, "model": "", "dimension": 1, "documents": 0, "segments": [],'
                                          ' "next_number": 0}')  # fmt: skip
    with pytest.raises(DataError, match="must hold an index of format 1; got 9"):
        CorpusIndex(str(tmp_path))
    (tmp_path / MANIFEST_FILE).write_text("{")
    with pytest.raises(DataError, match="must be what `clir index` wrote"):
        CorpusIndex(str(tmp_path))

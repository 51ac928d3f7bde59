"""Searching an index: the documents that the model's own scores put first."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from models.lists.feedback import Feedback
from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE, SEGMENTS
from schemas.wikiclir import Text
from smooth_clir.retrieval import corpus_index
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.document_ranker import DocumentRanker
from smooth_clir.retrieval.segment import encode_documents
from smooth_clir.retrieval.where import Where
from tests.models.loaded_once import model_of_vectors, model_with_words

pytestmark = pytest.mark.stages

WORDS = ["white", "cat", "dog", "moon", "ararat", "chat", "blanc", "chien", "un", "lune", "noir", "zzz", "!"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.fixture(scope="module", params=[model_with_words, model_of_vectors])
def model(request):
    return request.param()


def index_of(model, folder: Path, texts, max_documents=3, values=None, **arguments) -> CorpusIndex:
    """An index of texts, in segments of at most this many; values are those of a field, by text."""
    os.makedirs(folder / SEGMENTS)
    documents = [
        Text(f"d{number}", f"title {number}", text, 1, (values[number],) if values else ())
        for number, text in enumerate(texts)
    ]
    records = list(encode_documents(model, documents, str(folder / SEGMENTS), 0, max_documents=max_documents))
    assemble_index(str(folder), "0a", records, len(records), **arguments)
    return CorpusIndex(str(folder))


@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(query=TEXTS, texts=st.lists(TEXTS, min_size=1, max_size=9), top=st.integers(1, 10))
def test_the_best_are_those_of_the_model_s_own_scores(model, tmp_path_factory, query, texts, top):
    index = index_of(model, tmp_path_factory.mktemp("index") / "1", texts)
    encoded = model.encode_query(query)
    hits = index.search(encoded, top)
    expected = {f"d{number}": score for number, score in enumerate(model.score(query, texts)["scores"])}
    scores = [expected[hit.doc_id.decode()] for hit in hits]
    assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-6)
    assert [text.id for text in index.texts([hit.position for hit in hits])] == [hit.doc_id.decode() for hit in hits]
    if hits:
        assert scores == pytest.approx(sorted(expected.values(), reverse=True)[: len(hits)], abs=1e-6)
    assert all(hit.score == pytest.approx(hit.dense + hit.words) for hit in hits)
    if encoded.vector.any():
        assert len(hits) == min(top, len(texts))


FEEDBACK = Feedback(4.0, 3)


@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(query=TEXTS, texts=st.lists(TEXTS, min_size=1, max_size=9), top=st.integers(1, 10))
def test_a_second_pass_over_the_index_is_that_over_the_documents_themselves(tmp_path_factory, query, texts, top):
    model = model_with_words(feedback=FEEDBACK)
    index = index_of(model, tmp_path_factory.mktemp("index") / "1", texts)
    encoded = model.encode_query(query)
    hits = index.search(encoded, top, model.feedback)
    assert all(hit.score == pytest.approx(hit.dense + hit.words + hit.feedback, abs=1e-5) for hit in hits)
    if encoded.vector.any():  # otherwise the candidates are those alone that match a word
        ranked = DocumentRanker(model, [Text(f"d{row}", "", text, 1) for row, text in enumerate(texts)]).rank(query, 9)
        expected = {document.doc_id: document.score for document in ranked}
        scores = [expected[hit.doc_id.decode()] for hit in hits]
        assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-4)
        assert scores == pytest.approx(sorted(expected.values(), reverse=True)[:top], abs=1e-4)
    assert index.search(encoded, top) == index.search(encoded, top, Feedback(0.0))


def test_only_an_index_of_a_model_with_a_second_pass_holds_own_terms_beside_equal_other_files(tmp_path):
    files = {}
    for name, feedback in (("first", Feedback(0.0)), ("second", FEEDBACK)):
        index = index_of(model_with_words(feedback=feedback), tmp_path / name, ["chat noir", "un chien", "", "lune"])
        assert index.has_own_terms == bool(feedback.gain)
        folder = tmp_path / name / SEGMENTS
        files[name] = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    own_files = {path for path in files["second"] if path.name.startswith("own_")}
    assert len(own_files) == 2 * 3  # of two segments
    assert {path: content for path, content in files["second"].items() if path not in own_files} == files["first"]


def test_equal_documents_gain_alike_in_every_segment(tmp_path):
    model = model_with_words(feedback=FEEDBACK)
    texts = ["chat noir zzz un", "lune", "zzz qqq vvv chat", "chien", "qqq vvv", "zzz qqq vvv chat", "vvv zzz chat"]
    hits = index_of(model, tmp_path / "1", texts, max_documents=3).search(model.encode_query("cat moon"), 9, FEEDBACK)
    gains = {hit.doc_id: hit.feedback for hit in hits}
    assert gains[b"d2"] == gains[b"d5"] > 0


def test_of_equal_documents_the_larger_id_comes_first_and_an_unknown_query_finds_nothing(model, tmp_path):
    index = index_of(model, tmp_path / "1", ["chat", "chien", "chat", "chat", "chat"])
    ids = [hit.doc_id.decode() for hit in index.search(model.encode_query("cat"), 9)]
    assert [doc_id for doc_id in ids if doc_id != "d1"] == ["d4", "d3", "d2", "d0"]
    assert index.search(model.encode_query("qqq !"), 3) == []
    empty = index_of(model, tmp_path / "2", [])
    assert (len(empty), empty.search(model.encode_query("cat"), 3)) == (0, [])


def test_where_the_vectors_are_many_the_score_of_each_candidate_is_exact(model, tmp_path):
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(WORDS, 5)) for _ in range(400)]
    whole = index_of(model, tmp_path / "1", texts, max_documents=100)
    lists = index_of(model, tmp_path / "2", texts, max_documents=100, min_vectors=300)
    assert (whole.manifest.lists, lists.manifest.lists) == (0, 64)
    for query in ("white cat", "dog"):
        encoded = model.encode_query(query)
        expected = {hit.position: hit.score for hit in whole.search(encoded, 400)}
        hits = lists.search(encoded, 10)
        assert [hit.score for hit in hits] == pytest.approx([expected[hit.position] for hit in hits], abs=1e-6)
        assert len(hits) == 10


@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(
    query=TEXTS,
    documents=st.lists(st.tuples(TEXTS, st.sampled_from(["", "es", "fr"])), min_size=1, max_size=9),
    top=st.integers(1, 10),
    gain=st.sampled_from([0.0, 4.0]),
    condition=st.sampled_from(
        [("lang=es", "es".__eq__), ("lang!=es", "es".__ne__), ("lang=es|fr", lambda value: value in ("es", "fr"))]
    ),
)
def test_a_filter_leaves_what_an_index_of_the_matching_documents_finds(
    tmp_path_factory, query, documents, top, gain, condition
):
    model = model_with_words(feedback=Feedback(gain, 3))
    folder, (texts, values) = tmp_path_factory.mktemp("index"), zip(*documents, strict=True)
    index = index_of(model, folder / "1", texts, values=values, fields=["lang"])
    where, condition_holds = Where.parse(condition[0], index.fields), condition[1]
    is_left = [condition_holds(value) for value in values]
    encoded = model.encode_query(query)
    hits = index.search(encoded, top, model.feedback, where)
    # Without the others: each keeps its id.
    left = index_of(model, folder / "2", [text if kept else "" for text, kept in zip(texts, is_left, strict=True)])
    expected = [hit for hit in left.search(encoded, 99, Feedback(0.0)) if is_left[int(hit.doc_id[1:])]]
    if not gain:
        assert [hit[1:] for hit in hits] == [hit[1:] for hit in expected[:top]]
    assert {hit.doc_id for hit in hits} <= {hit.doc_id for hit in expected}
    assert len(hits) == min(top, len(expected))
    if gain and encoded.vector.any() and any(is_left):
        alone = [Text(f"d{row}", "", text, 1) for row, text in enumerate(texts) if is_left[row]]
        scores = [document.score for document in DocumentRanker(model, alone).rank(query, top)]
        assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-4)


@pytest.mark.parametrize("exact_up_to", [0, 1 << 17])
def test_where_the_vectors_are_many_a_filter_chooses_candidates_among_those_that_match(
    model, tmp_path, monkeypatch, exact_up_to
):
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(WORDS, 5)) for _ in range(400)]
    values = ["es" if number % 40 == 0 else "fr" for number in range(400)]
    monkeypatch.setattr(corpus_index, "MIN_VECTORS", exact_up_to)
    monkeypatch.setattr(corpus_index, "DEPTH", 3)
    lists = index_of(model, tmp_path / "1", texts, max_documents=100, values=values, fields=["lang"], min_vectors=300)
    where = Where.parse("lang=es", lists.fields)
    encoded = model.encode_query("white cat")
    exact = [hit for hit in lists.search(encoded, 400, depth=400) if values[int(hit.doc_id[1:])] == "es"]
    hits = lists.search(encoded, 5, where=where, depth=3)
    assert len(exact) == 10
    assert {hit.doc_id for hit in hits} <= {hit.doc_id for hit in exact}
    assert 0 < len(hits) <= 5
    if exact_up_to:
        assert hits == exact[:5]


def test_documents_without_the_fields_of_the_index_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="lang"):
        index_of(model, tmp_path / "1", ["chat"], fields=["lang"])
    with pytest.raises(ValueError, match="none"):
        index_of(model, tmp_path / "2", ["chat"], values=["es"])


def test_an_index_without_fields_has_the_files_and_the_manifest_of_one_that_knows_none(model, tmp_path):
    index = index_of(model, tmp_path / "1", ["chat", "lune"])
    assert not [path for path in (tmp_path / "1").rglob("*") if "field" in path.name]
    assert '"fields"' not in (tmp_path / "1" / MANIFEST_FILE).read_text()
    assert not index.fields


def test_words_alone_find_exactly_the_documents_that_match(tmp_path):
    model = model_with_words()
    index = index_of(model, tmp_path / "1", ["ararat", "chat", "un ararat", "lune"])
    hits = index.words_search(model.encode_query("ararat"), 9)
    assert {hit.doc_id.decode() for hit in hits} >= {"d0", "d2"}
    assert all(hit.score == hit.words > 0 for hit in hits)


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (None, MANIFEST_FILE),
        (
            '{"format": 9, "model": "", "dimension": 1, "documents": 0, "segments": [], "next_number": 0}',
            "format 1; got 9",
        ),
        ("{", "clir index"),
    ],
)
def test_a_folder_without_an_index_and_another_format_are_refused(tmp_path, content, reported):
    if content is not None:
        (tmp_path / MANIFEST_FILE).write_text(content)
    with pytest.raises(DataError, match=reported):
        CorpusIndex(str(tmp_path))

"""models/encoders/text_vectors.py: vectors that are found by their texts, and the columns of lists that are made of
them."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from models.encoders.text_vectors import (
    EncoderRecord,
    TextVectors,
    stored_form,
    text_keys,
    with_text_vectors,
    write_text_vectors,
)
from schemas.errors import DataError
from tests.models.encoders.small_encoder import DIM, ENDPOINT, record_of, vector_of, with_vectors, write_vectors
from tests.models.synthetic import ranking_lists, text_lists

pytestmark = pytest.mark.tensors

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), max_size=6, unique=True)
LISTS = text_lists(
    [
        ("q1", "white cat", {"d2": ("chat blanc", 2), "d1": ("chien", 0)}),
        ("q2", "dog", {"d1": ("chien", 2), "d3": ("chat blanc", 1)}),
    ]
)
"""Documents d2 and d3 have the same text."""
OF_LISTS = {"query": ["white cat", "dog"], "document": ["chien", "chat blanc"]}


def kept(text, role):
    """The vector of a text as it is kept."""
    return stored_form(vector_of(text, role)[np.newaxis])[0].astype(np.float32).tolist()


# Vectors by texts


def test_a_text_has_a_vector_in_each_role_and_an_empty_one_the_zero_vector(tmp_path):
    vectors = write_vectors(tmp_path, {"query": ["chat"], "document": ["chat"]})
    assert kept("chat", "query") != kept("chat", "document")
    for role in ("query", "document"):
        rows = vectors.encode(["", "chat", b""], role)
        assert rows.dtype == np.float32
        assert rows.tolist() == [[0] * DIM, kept("chat", role), [0] * DIM]
        assert vectors.encode([], role).shape == (0, DIM)


@pytest.mark.parametrize("texts", [["", "Chat", "chat", "chat "], [b"", "Chat", b"chat", b"chat "]])
def test_texts_without_vectors_are_an_error_that_counts_them_and_names_one_by_its_start(tmp_path, texts):
    vectors = write_vectors(tmp_path, {"query": ["chat", "Chat"], "document": ["chat"]})
    with pytest.raises(DataError, match=f"{tmp_path} .* document; 2 of 4 .*'Chat'"):
        vectors.encode(texts, "document")
    with pytest.raises(DataError, match=rf"'{'x' * 60}'\.$"):
        vectors.encode(["x" * 1000], "query")


@given(queries=TEXTS, documents=TEXTS, data=st.data())
def test_written_vectors_are_read_by_any_texts_in_any_order(tmp_path_factory, queries, documents, data):
    vectors = write_vectors(tmp_path_factory.mktemp("vectors"), {"query": queries, "document": documents})
    for role, texts in (("query", queries), ("document", documents)):
        drawn = data.draw(st.lists(st.sampled_from(texts), max_size=9)) if texts else []
        assert vectors.encode(drawn, role).tolist() == [kept(text, role) for text in drawn]
        assert vectors.encode([text.encode() for text in drawn], role).tolist() == vectors.encode(drawn, role).tolist()


def test_the_files_have_the_same_bytes_in_any_order_of_the_texts(tmp_path):
    files = []
    for name, order in (("one", 1), ("other", -1)):
        write_vectors(tmp_path / name, {"query": ["a", "b", "c"][::order], "document": ["d", "e"][::order]})
        files.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert files[0] == files[1]


def test_digests_that_begin_or_end_with_zeros_are_found(tmp_path):
    digests = {str(number): hashlib.blake2b(str(number).encode(), digest_size=16).digest() for number in range(3000)}
    texts = [text for text, digest in digests.items() if not digest[0] or not digest[-1]]
    assert write_vectors(tmp_path, {"query": texts, "document": []}).rows(texts[::-1], "query").size == len(texts) > 5


def test_vectors_are_kept_with_length_1_in_half_precision():
    vectors = np.random.default_rng(1).normal(size=(5, 512), scale=1e3).astype(np.float32)
    stored = stored_form(vectors)
    assert stored.dtype == np.float16
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(stored.astype(np.float64) @ unit[0], unit.astype(np.float64) @ unit[0], atol=5e-5)


# Their folder


def test_the_record_of_the_encoder_comes_back_with_its_settings(tmp_path):
    vectors = write_vectors(tmp_path, {"query": ["a"], "document": []}, probes=(3.0, 0.5))
    assert vectors.record == record_of(ENDPOINT, probes=(3.0, 0.5))
    assert vectors.record.encoder == ENDPOINT
    assert EncoderRecord.from_json(vectors.record.to_json()) == vectors.record


@pytest.mark.parametrize("name", ["encoder.json", "query_keys.npy", "document_vectors.npy"])
@pytest.mark.parametrize(
    "content", [None, b"", b"{}", b"\x93NUMPY\x01\x00", b"[" * 200_000, ...], ids=lambda value: str(value)[:9]
)
def test_a_folder_with_a_missing_or_damaged_file_is_an_error(tmp_path, name, content):
    write_vectors(tmp_path, {"query": ["a"], "document": ["b"]})
    file = tmp_path / name
    if content is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-2] if content is ... else content)
    with pytest.raises(DataError, match=str(tmp_path)):
        TextVectors(str(tmp_path))


def test_a_remote_folder_is_written_and_read_and_leaves_no_copy(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tables = {
        role: (text_keys(["chat"]), stored_form(vector_of("chat", role)[np.newaxis])) for role in ("query", "document")
    }
    tf.io.gfile.makedirs("ram://text_vectors")
    write_text_vectors("ram://text_vectors", record_of(ENDPOINT), tables)
    vectors = TextVectors("ram://text_vectors")
    assert vectors.encode(["chat"], "query").tolist() == [kept("chat", "query")]
    assert vectors.record == record_of(ENDPOINT)
    with pytest.raises(DataError, match="ram://text_vectors .* query; 1 of 1"):
        vectors.encode(["chien"], "query")
    del vectors
    assert list(Path(tmp_path).iterdir()) == []


# Columns of lists


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return write_vectors(tmp_path_factory.mktemp("vectors"), OF_LISTS)


def test_lists_of_texts_get_the_vectors_of_their_queries_and_documents(vectors):
    features, _ = with_text_vectors(LISTS, LISTS, vectors).batch(tf.constant([1, 0]))
    assert features["query_vector"].numpy().tolist() == [kept("dog", "query"), kept("white cat", "query")]
    expected = [kept(text.decode(), "document") for text in features["doc_text"].numpy()]
    assert features["doc_vector"].numpy().tolist() == expected


def test_lists_of_tokens_get_them_by_their_ids_in_another_order(vectors):
    tokens = ranking_lists([[0], [1]], [[7], [8], [9]], [[1, 0], [0, 2]], [[0, 2], [1, 2]])  # d00, d01, d02
    renamed = {"d00": "d3", "d01": "d1", "d02": "d2"}
    ids = [renamed[doc_id.decode()] for doc_id in tokens.document_columns["doc_id"].numpy()]
    tokens.query_columns["query_id"] = tf.constant(["q2", "q1"])
    tokens.document_columns["doc_id"] = tf.constant(ids)
    features, _ = with_text_vectors(tokens, LISTS, vectors).batch(tf.constant([0, 1]))
    assert features["query_vector"].numpy().tolist() == [kept("dog", "query"), kept("white cat", "query")]
    text_of = {7: "chat blanc", 8: "chien", 9: "chat blanc"}
    expected = [kept(text_of[token], "document") for (token,) in features["doc_tokens"].to_list()]
    assert features["doc_vector"].numpy().tolist() == expected


def test_a_column_gives_the_same_rows_in_a_graph_of_a_dataset(vectors):
    lists = with_text_vectors(LISTS, LISTS, vectors)
    dataset = tf.data.Dataset.from_tensor_slices(tf.constant([[0, 1], [1, 0]])).map(lists.batch)
    assert dataset.element_spec[0]["doc_vector"] == tf.TensorSpec([None, DIM], tf.float32)
    for rows, (features, _) in zip([[0, 1], [1, 0]], dataset, strict=True):
        expected, _ = lists.batch(tf.constant(rows))
        for name in ("query_vector", "doc_vector"):
            np.testing.assert_array_equal(features[name], expected[name])


def test_a_column_keeps_its_rows_where_documents_are_left_out():
    lists = text_lists([("q1", "cat", {"d1": ("loup", 0), "d2": ("", 1), "d3": ("chat", 2)})])
    kept_lists = with_vectors(lists, [[1, 0]], [[1, 0], [0, 0], [0, 1]]).with_judged_negatives()
    features, _ = kept_lists.batch(tf.constant([0]))
    assert features["doc_vector"].numpy().tolist() == [[0, 0], [0, 1]]


def test_the_digest_of_lists_changes_with_a_vector_and_not_with_its_place_in_the_file():
    digests = [
        with_vectors(LISTS, queries, documents).digest()
        for queries, documents in [
            ([[1, 0], [0, 1]], [[1, 0], [0, 1], [1, 1]]),
            ([[1, 0], [0, -1]], [[1, 0], [0, 1], [1, 1]]),
            ([[1, 0], [0, 1]], [[1, 0], [0, 1], [1, 2]]),
            ([[0, 0], [0, 1]], [[1, 0], [0, 1], [1, 1]]),
            ([[0, 1], [0, 1]], [[1, 0], [0, 1], [1, 1]]),
        ]
    ]
    assert len({*digests}) == 5
    lists = with_vectors(LISTS, [[1, 0], [0, 1]], [[1, 0], [0, 1], [1, 1]])
    column = lists.document_columns["doc_vector"]
    lists.document_columns["doc_vector"] = type(column)(column._vectors[::-1], len(column._vectors) - 1 - column._rows)
    assert lists.digest() == digests[0]

"""models/encoders/encode_texts.py: each distinct text is encoded once, whatever ends a run."""

import logging
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.encoders import encode_texts as subject
from models.encoders.encode_texts import (
    encode_texts,
    length_of_vectors,
    read_queries,
    tables_of_files,
)
from models.encoders.endpoint import EndpointEncoder, fingerprint
from models.encoders.settings import VectorsSettings
from models.encoders.text_vectors import stored_form, text_keys
from models.piece_store import PieceStore, in_pieces
from schemas.errors import DataError
from tests.components.collected import collect
from tests.models.encoders.endpoint_server import another_model, embed, good, listening
from tests.models.encoders.small_encoder import DIM, ENDPOINT, CountingEncoder, vector_of
from tests.models.synthetic import write_examples

pytestmark = pytest.mark.tensors

PIECE = 3
QUERIES = {"q3": "wolf", "q1": "white cat", "q2": "dog", "q5": "wolf", "q4": "fox"}
SHARDS = (["chat", "chien", "loup", "chat", "renard", "ours"], ["loup", "lapin", "chat", "cerf", "wolf", "hibou"])
"""The texts of the documents of each shard; some come twice in a shard, some in both, and one is a query, too."""
TEXTS = {
    *(("query", text) for text in QUERIES.values()),
    *(("document", text) for shard in SHARDS for text in shard),
}


@pytest.fixture
def encoder(monkeypatch):
    """The encoder that each run loads, with pieces of three texts."""
    counting = CountingEncoder()
    subject._encoder.cache_clear()
    monkeypatch.setattr(subject, "load_encoder", lambda _: counting)
    monkeypatch.setattr(subject, "_TEXTS_OF_A_PIECE", PIECE)
    yield counting
    subject._encoder.cache_clear()


def lines_of(shard, first=0):
    return "".join(f"d{row:03}\tA title\t{text}\n" for row, text in enumerate(shard, first))


@pytest.fixture
def collection(tmp_path):
    """Makes a collection of the texts of shards; a broken line is left out of each."""

    def make(shards=SHARDS, name="collection"):
        content = [f"{lines_of(shard, 100 * index)}no tabs\n".encode() for index, shard in enumerate(shards)]
        collect(tmp_path / name / "artifact", {"documents": content})
        return str(tmp_path / name / "artifact")

    return make


@pytest.fixture
def run(tmp_path, encoder, collection):
    """Encodes texts into a store; returns the tables."""

    def run(shards=SHARDS, queries=QUERIES, store="store", apply=map):
        folder = PieceStore(str(tmp_path / store))
        return encode_texts(ENDPOINT, queries, collection(shards), folder, apply).tables

    return run


def content(tables):
    return {role: (keys.tobytes(), vectors.tobytes()) for role, (keys, vectors) in tables.items()}


def expected(shards=SHARDS, queries=QUERIES):
    """The vector of each text by its key."""
    texts = {"query": queries.values(), "document": [text for shard in shards for text in shard]}
    return {
        role: {
            text_keys([text])[0]: stored_form(vector_of(text, role)[np.newaxis])[0].tolist() for text in {*texts[role]}
        }
        for role in texts
    }


def by_keys(tables):
    return {role: dict(zip(keys.tolist(), vectors.tolist(), strict=True)) for role, (keys, vectors) in tables.items()}


# Each text once


@settings(max_examples=10)
@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9), min_size=1, max_size=3),
    st.lists(st.sampled_from("abcd"), max_size=5),
)
def test_each_text_is_encoded_once_in_any_collection(tmp_path_factory, shards, queries):
    counting, folder = CountingEncoder(), tmp_path_factory.mktemp("any")
    queries = {f"q{row}": text for row, text in enumerate(queries)}
    lines = [lines_of(shard, 100 * number).encode() for number, shard in enumerate(shards)]
    collect(folder / "collection", {"documents": lines})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "_encoder", lambda _: counting)
        patch.setattr(subject, "_TEXTS_OF_A_PIECE", PIECE)
        store = PieceStore(str(folder / "store"))
        tables = encode_texts(ENDPOINT, queries, str(folder / "collection"), store).tables
    assert by_keys(tables) == expected(shards, queries)
    assert {*counting.seen.values()} == {1}
    assert max(counting.calls) <= PIECE


def test_a_later_run_encodes_added_texts_alone_and_leaves_out_those_that_are_gone(run, encoder):
    first = content(run())
    assert encoder.seen == dict.fromkeys(TEXTS, 1)
    encoder.seen.clear()
    assert content(run()) == first
    assert by_keys(run(shards=(SHARDS[1],), queries={"q1": "fox"})) == expected((SHARDS[1],), {"q1": "fox"})
    assert not encoder.seen
    tables = run(shards=(["biche", *SHARDS[0]], SHARDS[1]))
    assert encoder.seen == {("document", "biche"): 1}
    assert by_keys(tables) == expected((["biche"], *SHARDS))


@pytest.mark.parametrize("again", [False, True], ids=["first run", "from the store"])
def test_distinct_texts_that_the_limit_cuts_are_counted_and_logged(tmp_path, encoder, collection, caplog, again):
    caplog.set_level(logging.INFO, "clir.data")
    settings, store = ENDPOINT.model_copy(update={"max_characters": 4}), PieceStore(str(tmp_path / "store"))
    for _ in range(1 + again):
        caplog.clear()
        encoded = encode_texts(settings, {**QUERIES, "q6": "f\u00ado\u00adx"}, collection(), store)
    assert encoded.cut_texts == {"query": 1, "document": 4}  # white cat; chien, renard, lapin, hibou
    sentences = [record for record in caplog.records if "max_characters" in record.message]
    assert [record.levelname for record in sentences] == ["WARNING", "WARNING"]
    assert "1 distinct texts, 20.0% of the role query" in sentences[0].message and "(4)" in sentences[0].message
    caplog.clear()
    assert encode_texts(ENDPOINT, QUERIES, collection(), store).cut_texts == {"query": 0, "document": 0}
    assert "max_characters" not in caplog.text


def test_the_tables_do_not_depend_on_the_order_of_queries_or_on_the_pieces(run, monkeypatch):
    first = content(run())
    monkeypatch.setattr(subject, "_TEXTS_OF_A_PIECE", 100)
    assert content(run(queries=dict(reversed(QUERIES.items())), store="another")) == first


def test_each_piece_is_encoded_by_the_length_of_its_texts(run, encoder, monkeypatch):
    calls, encode = [], encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda texts, role: calls.append(texts) or encode(texts, role))
    run(shards=(["a" * 9, "b", "c" * 5],), queries={})
    assert calls == [["b", "c" * 5, "a" * 9]]


@pytest.mark.stages
def test_workers_encode_the_same(run, encoder, tmp_path):
    from functools import partial

    import apache_beam as beam

    from components.on_workers import OnWorkers

    alone = content(run(store="alone"))
    encoder.seen.clear()
    on_workers = OnWorkers(partial(beam.Pipeline, argv=[]), str(tmp_path / "work"))
    assert content(run(apply=on_workers)) == alone
    assert encoder.seen == dict.fromkeys(TEXTS, 1)


def test_progress_is_logged_in_texts(run, caplog):
    caplog.set_level(logging.INFO)
    run()
    assert [line for line in caplog.messages if line.startswith(f"{len(TEXTS)} distinct texts, {len(TEXTS)} ")]
    assert [line for line in caplog.messages if line.startswith(f"{len(TEXTS)} of {len(TEXTS)} texts, ")]


# What ends a run


@pytest.mark.parametrize("call", [1, 2, 3, 5])
def test_a_killed_run_goes_on_where_it_ended_with_the_same_bytes(run, encoder, call, tmp_path):
    whole = content(run(store="whole"))
    encoder.seen.clear()
    encoder.calls, encoder.fails_at = [], call
    with pytest.raises(KeyboardInterrupt):
        run()
    assert sum(encoder.seen.values()) == sum(encoder.calls[:-1])
    encoder.fails_at = None
    assert content(run()) == whole
    assert encoder.seen == dict.fromkeys(TEXTS, 1)
    names = [sorted(path.name for path in (tmp_path / store).iterdir()) for store in ("store", "whole")]
    assert names[0] == names[1]


@pytest.mark.parametrize("is_damaged", [True, False])
def test_the_texts_of_a_damaged_or_half_written_piece_are_encoded_again(run, encoder, tmp_path, caplog, is_damaged):
    whole = content(run())
    file = next((tmp_path / "store").glob("document.*.npz"))
    with np.load(file) as piece:
        texts = len(piece["vectors"])
    part = file if is_damaged else file.with_name(f"{file.name}.part")
    part.write_bytes(file.read_bytes()[:50])
    if not is_damaged:
        file.unlink()
    encoder.seen.clear()
    assert content(run()) == whole
    assert sum(encoder.seen.values()) == texts
    assert [str(file) in message for message in caplog.messages] == [True] * is_damaged
    assert not [*(tmp_path / "store").glob("*.part")]


def test_pieces_that_begin_with_the_same_text_are_kept_and_vectors_of_two_lengths_refused(run, tmp_path):
    run()
    store = PieceStore(str(tmp_path / "store"))
    for texts in (["a", "b"], ["a", "c"]):
        store.write("query", text_keys(texts), vectors=np.ones([2, DIM], np.float16))
    assert {*store.keys("query").tolist()} >= {*text_keys(["a", "b", "c"]).tolist()}
    store.write("query", text_keys(["dog"]), vectors=np.ones([1, 7], np.float16))
    with pytest.raises(DataError, match=f"{tmp_path}/store "):
        run()


@pytest.mark.parametrize("newer", [0, 1])
def test_of_two_pieces_with_the_same_texts_the_newer_counts(run, tmp_path, newer):
    run(queries={})
    store, folder = PieceStore(str(tmp_path / "store")), tmp_path / "store"
    vectors = [np.full([2, DIM], value, np.float16) for value in (1, 2)]
    for value in vectors:
        before = {*folder.iterdir()}
        store.write("query", text_keys(["wolf", "fox"]), vectors=value)
        (piece,) = {*folder.iterdir()} - before
        os.utime(piece, (0, 2 if value is vectors[newer] else 1))
    wolf = by_keys(run())["query"][text_keys(["wolf"])[0]]
    assert wolf == vectors[newer][0].tolist()


@pytest.mark.parametrize("requests", [3, 9, 12])
def test_a_piece_during_which_an_endpoint_gets_another_model_is_not_stored(monkeypatch, tmp_path, collection, requests):
    monkeypatch.setattr(subject, "_TEXTS_OF_A_PIECE", PIECE)
    with listening() as server:
        settings = ENDPOINT.model_copy(update={"address": server.address, "batch": 3})
        settings = settings.model_copy(update={"probes": fingerprint(EndpointEncoder(settings).probe())})
        server.script, server.answer = [good] * requests, another_model
        store = PieceStore(str(tmp_path / "store"))
        with pytest.raises(DataError, match="vectors of fixed texts differ"):
            encode_texts(settings, QUERIES, collection(), store)
        right = {
            key: stored_form(np.float32([embed(text)])).tolist()[0] for _, text in TEXTS for key in text_keys([text])
        }
        stored = [(piece["keys"], piece["vectors"]) for role in ("query", "document") for piece in store.read(role)]
        assert len(stored) == (requests - 2) // 3
        for keys, vectors in stored:
            assert vectors.tolist() == [right[key] for key in keys]


def test_a_store_in_a_remote_folder_serves_a_second_run(encoder, collection):
    folder = collection()
    first, second = (
        content(encode_texts(ENDPOINT, QUERIES, folder, PieceStore("ram://text_vectors_store/a")).tables)
        for _ in range(2)
    )
    assert first == second
    assert encoder.seen == dict.fromkeys(TEXTS, 1)


# The queries


def test_the_text_of_each_query_is_read_from_the_lists_of_all_files(tmp_path):
    lists = {"a": {"q1": "white cat", "q2": "été"}, "b": {"q3": "dog"}}
    for name, texts in lists.items():
        rows = [{"query_id": [query_id.encode()], "query_text": [text.encode()]} for query_id, text in texts.items()]
        write_examples(tmp_path / name, rows)
    queries = read_queries([str(tmp_path / "b"), str(tmp_path / "a")])
    assert queries == {"q1": "white cat", "q2": "été", "q3": "dog"}
    assert read_queries([]) == {}


# Files of vectors


@pytest.fixture
def files(tmp_path, collection):
    """Takes the vectors of files; by default those of all ids, in reverse."""
    ids = [f"d{100 * index + row:03}" for index, shard in enumerate(SHARDS) for row in range(len(shard))]
    texts = [text for shard in SHARDS for text in shard]

    def take(queries=(*QUERIES,), documents=tuple(ids)):
        paths = {}
        text_of = {**QUERIES, **dict(zip(ids, texts, strict=True)), "other": "other"}
        for role, names in (("query", queries), ("document", documents)):
            paths[f"{role}_vectors"] = str(tmp_path / f"{role}.npy")
            vectors = [vector_of(text_of[name], role) for name in reversed(names)]
            np.save(paths[f"{role}_vectors"], np.array(vectors, np.float32).reshape(-1, DIM))
            (tmp_path / f"{role}.ids").write_text("".join(f"{name}\n" for name in reversed(names)))
        return tables_of_files(VectorsSettings(**paths), QUERIES, collection())

    take.ids = ids
    return take


@pytest.mark.parametrize("size", [1, 2, 100])
def test_vectors_of_files_are_those_of_the_texts_of_their_ids_and_others_are_left_out(files, monkeypatch, size):
    monkeypatch.setattr(subject, "in_pieces", lambda rows, _: in_pieces(rows, size))
    assert by_keys(files()) == expected()
    assert by_keys(files((*QUERIES, "other"), (*files.ids, "other"))) == expected()


def test_missing_ids_are_an_error_that_counts_them_and_names_one(files, tmp_path):
    with pytest.raises(
        DataError, match=f"channels.encoder.document_vectors: {tmp_path}/document.npy .* document; 3 .*'d000'"
    ):
        files(documents=tuple(files.ids[3:]))
    with pytest.raises(DataError, match=f"channels.encoder.query_vectors: {tmp_path}/query.npy .* query; 1 .*'q4'"):
        files(queries=("q1", "q2", "q3", "q5"))


# Their length


def tables_with(query, document):
    """Tables of one text each, with vectors of these lengths; a length of 0 stands for no text."""
    return {
        role: (text_keys(["a"][:length]), np.ones([min(1, length), length or 1], np.float16))
        for role, length in (("query", query), ("document", document))
    }


def test_the_length_of_the_vectors_is_that_of_both_roles():
    assert length_of_vectors(ENDPOINT, tables_with(3, 3)) == length_of_vectors(ENDPOINT, tables_with(0, 3)) == 3
    for lengths, shown in (((3, 4), "3 .* 4"), ((0, 0), "no vector")):
        with pytest.raises(DataError, match=f"{shown} .*encoder m"):
            length_of_vectors(ENDPOINT, tables_with(*lengths))

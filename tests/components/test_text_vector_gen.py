"""TextVectorGen with TFX's artifacts."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from models.encoders.endpoint import fingerprint
from models.encoders.settings import TEXT_FORM, VectorsSettings, files_of_vectors
from models.encoders.text_vectors import TextVectors, stored_form
from schemas.byte_streams import input_digest
from schemas.errors import DataError
from tests.models.encoders.small_encoder import DIM, ENDPOINT, CountingEncoder, record_of, vector_of

pytestmark = pytest.mark.stages  # it imports TFX

KNOWN = ENDPOINT.model_copy(update={"probes": (8.0, 0.5)})
DOCUMENTS = {"d1": "loup", "d2": "chien", "d3": "loup"}
LISTS = {split: {f"q{split}": (f"{split} wolf", {"d1": ("loup", 2)})} for split in ("train", "eval", "test")}
QUERIES = {f"q{split}": f"{split} wolf" for split in LISTS}


@pytest.fixture
def encoder(monkeypatch):
    """The encoder of the stage, whose probe is that of an endpoint."""
    from components import text_vector_gen as component
    from models.encoders import encode_texts

    counting = CountingEncoder()
    monkeypatch.setattr(encode_texts, "load_encoder", lambda _: counting)
    counting.probe = lambda: np.eye(6, 8, dtype=np.float32) + 1
    monkeypatch.setattr(component, "EndpointEncoder", lambda _: counting)
    encode_texts._encoder.cache_clear()
    yield counting
    encode_texts._encoder.cache_clear()


@pytest.fixture
def run(tmp_path, encoder, make_artifact, make_collection, make_examples):
    """Runs the stage; returns the vectors."""
    from components.text_vector_gen import TextVectorGen

    examples = make_examples(tmp_path, LISTS["test"], LISTS["train"], LISTS["eval"])
    lines = [f"{doc_id}\tA title\t{text}\n" for doc_id, text in DOCUMENTS.items()]
    collection = make_collection(tmp_path, {"documents": "".join(lines).encode()})
    parents = (tmp_path / f"run_{number}" for number in range(9))

    def run(settings=KNOWN, **changes):
        written = make_artifact("TextVectors", next(parents))
        parameters = {"encoder": settings, "digest": "abc", "store": str(tmp_path / "store")}
        TextVectorGen.test_call(examples, collection, written, map, **(parameters | changes))
        return TextVectors(written.uri)

    return run


@pytest.fixture
def files(tmp_path):
    """Vectors of all queries and documents in files, as settings."""
    paths = {}
    for role, texts in (("query", QUERIES), ("document", DOCUMENTS)):
        paths[f"{role}_vectors"] = str(tmp_path / f"{role}.npy")
        np.save(paths[f"{role}_vectors"], np.stack([vector_of(text, role) for text in texts.values()]))
        (tmp_path / f"{role}.ids").write_text("".join(f"{name}\n" for name in texts))
    return paths


def stored(texts, role):
    return stored_form(np.stack([vector_of(text, role) for text in texts])).astype(np.float32).tolist()


def test_the_queries_of_all_splits_and_all_documents_have_their_vectors(run, encoder):
    vectors = run()
    assert vectors.encode([*QUERIES.values()], "query").tolist() == stored(QUERIES.values(), "query")
    assert vectors.encode(["chien", "loup"], "document").tolist() == stored(["chien", "loup"], "document")
    assert {*encoder.seen.values()} == {1}
    counts = {"query": 0, "document": 0}
    known = {"digest": "abc", "probes": KNOWN.probes, "text_form": TEXT_FORM, "cut_texts": counts}
    assert vectors.record == record_of(KNOWN, **known)


def test_an_encoder_with_another_digest_has_a_store_of_its_own(run, encoder, tmp_path):
    run()
    run(digest="def")
    assert {*encoder.seen.values()} == {2}
    run(digest="abc")
    assert {*encoder.seen.values()} == {2}
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["abc", "def"]


def test_an_endpoint_that_nobody_has_asked_is_asked_for_its_fingerprint(run, encoder):
    assert run(ENDPOINT).record.probes == fingerprint(encoder.probe())


def test_the_vectors_of_files_need_no_encoder_and_no_store(run, encoder, files, tmp_path):
    vectors = run(VectorsSettings(**files))
    assert vectors.encode(["chien", "loup"], "document").tolist() == stored(["chien", "loup"], "document")
    assert (vectors.record.dim, vectors.record.probes) == (DIM, ())
    assert not encoder.seen and not (tmp_path / "store").exists()


def test_queries_and_documents_with_vectors_of_two_lengths_are_refused(run, encoder, monkeypatch):
    encode = encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda texts, role: encode(texts, role)[:, : 2 if role == "query" else None])
    with pytest.raises(DataError, match="2 of each query and 3 of each document"):
        run()


@pytest.mark.parametrize("changed", ["query.npy", "query.ids", "document.npy"])
def test_files_that_change_after_they_were_hashed_are_refused(run, files, tmp_path, changed):
    digests = {
        key: input_digest(
            [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files_of_vectors(files[key])]
        )
        for key in ("query_vectors", "document_vectors")
    }
    settings = VectorsSettings(**files, sha256=digests)
    run(settings)
    with (tmp_path / changed).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(DataError, match=rf"{changed}.*encoder\."):
        run(settings)

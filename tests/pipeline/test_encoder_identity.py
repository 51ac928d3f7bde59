"""pipeline/encoder_identity.py: which changes of an encoder give another digest, and another model at an endpoint."""

import hashlib
import json
import logging
import re

import numpy as np
import pytest

from models.encoders import endpoint
from models.encoders.endpoint import fingerprint
from models.encoders.settings import (
    TEXT_FORM,
    EncoderDigests,
    EncoderSettings,
    EndpointSettings,
    SavedModelSettings,
    TextForm,
    VectorsSettings,
)
from pipeline import encoder_identity
from pipeline.config import RunConfig, with_channel
from pipeline.config_file import load_config
from pipeline.encoder_identity import encoder_digest, with_fingerprint
from schemas.errors import ConfigError, DataError

pytestmark = pytest.mark.tensors

VECTORS = np.random.default_rng(1).normal(size=(6, 8)).astype(np.float32)
OTHERS = np.random.default_rng(2).normal(size=(6, 8)).astype(np.float32)
BASES = {
    "saved_model": SavedModelSettings(path="/models/one"),
    "endpoint": EndpointSettings(address="http://localhost:1", query_model="m"),
    "vectors": VectorsSettings(query_vectors="/q.npy", document_vectors="/d.npy"),
}
DECIDES = {
    "signature": ("saved_model", "encode", True),
    "output": ("saved_model", "pooled", True),
    "address": ("endpoint", "http://localhost:2", True),
    "query_model": ("endpoint", "n", True),
    "document_model": ("endpoint", "n", True),
    "query_prefix": ("endpoint", "query: ", True),
    "document_prefix": ("endpoint", "passage: ", True),
    "max_characters": ("endpoint", 100, True),
    "probes": ("endpoint", (8.0, 0.5), True),
    "name": ("endpoint", "Mine", False),
    "licence": ("endpoint", "MIT", False),
    "path": ("saved_model", "/elsewhere/one", False),
    "query_vectors": ("vectors", "/elsewhere/q.npy", False),
    "document_vectors": ("vectors", "/elsewhere/d.npy", False),
    "timeout_s": ("endpoint", 1.0, False),
    "retries": ("endpoint", 0, False),
    "key_variable": ("endpoint", "CLIR_KEY", False),
    "batch": ("endpoint", 1, False),
    "weight": ("endpoint", 0.5, False),
}
"""Setting to a kind that has it, another value of it, and whether it decides the vectors: files count by digests."""


def digest_of(kind: str, **changes: object) -> str:
    return encoder_digest(EncoderSettings.model_validate({**BASES[kind].model_dump(), **changes}))


# Digests


def test_every_setting_is_known_to_decide_the_vectors_or_not() -> None:
    known = {name for kind in EncoderSettings.kinds.values() for name in kind.model_fields}
    assert known == {"kind", "sha256", *DECIDES}


@pytest.mark.parametrize("kind", BASES)
def test_vectors_of_earlier_versions_keep_their_digest(kind: str) -> None:
    # Earlier versions wrote the settings of all kinds; a store and the gate know vectors by this digest.
    earlier = {"signature": "serving_default", "query_prefix": "", "document_prefix": "", "probes": []}
    earlier |= dict.fromkeys(["output", "address", "query_model", "document_model"])
    earlier |= {"kind": kind, "max_characters": 4000, "sha256": EncoderDigests().model_dump()}
    if kind == "endpoint":
        earlier |= {"address": "http://localhost:1", "query_model": "m"}
    if kind != "vectors":
        earlier["text_form"] = TEXT_FORM.model_dump()
    assert digest_of(kind) == hashlib.sha256(json.dumps(earlier, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize("name", DECIDES)
def test_a_setting_changes_the_digest_if_it_decides_the_vectors(name: str) -> None:
    kind, value, decides = DECIDES[name]
    assert (digest_of(kind, **{name: value}) != digest_of(kind)) == decides


@pytest.mark.parametrize("name", EncoderDigests.model_fields)
def test_another_content_of_a_file_changes_the_digest(name: str) -> None:
    assert digest_of("vectors", sha256={name: "0" * 64}) != digest_of("vectors", sha256={name: "1" * 64})


def test_each_kind_has_a_digest_of_its_own() -> None:
    assert len({digest_of(kind) for kind in BASES}) == len(BASES)


@pytest.mark.parametrize("kind", BASES)
def test_another_form_of_texts_changes_the_digest_of_each_encoder_that_sees_texts(kind, monkeypatch) -> None:
    before = digest_of(kind)
    monkeypatch.setattr(encoder_identity, "TEXT_FORM", TextForm(dropped="x"))
    assert (digest_of(kind) != before) == (kind != "vectors")


# An endpoint's fingerprint


@pytest.fixture
def probe(monkeypatch):
    """The endpoint's answer: `probe["vectors"]`, or an error."""
    answer = {"vectors": VECTORS}

    class Endpoint:
        def __init__(self, settings: EncoderSettings) -> None:
            assert settings.kind == "endpoint"

        def probe(self) -> object:
            if isinstance(answer["vectors"], Exception):
                raise answer["vectors"]
            return answer["vectors"]

    monkeypatch.setattr(endpoint, "EndpointEncoder", Endpoint)
    return answer


@pytest.fixture
def config(config_file):
    """Makes a configuration with the endpoint."""
    loaded = load_config(str(config_file))

    def make(**changes: object) -> RunConfig:
        return with_channel(loaded, "encoder", BASES["endpoint"].model_copy(update=changes))

    return make


def test_the_fingerprint_comes_into_the_configuration_and_so_into_the_digest(probe, config, tmp_path) -> None:
    plain = config()
    resolved = with_fingerprint(plain, tmp_path / "store")
    encoder = plain.channels.encoder
    assert resolved.channels.encoder == encoder.model_copy(update={"probes": fingerprint(VECTORS)})
    assert with_channel(resolved, "encoder", encoder) == plain
    assert encoder_digest(resolved.channels.encoder) != encoder_digest(encoder)
    # A resolved configuration with the same encoder stays as it is.
    assert with_fingerprint(resolved, tmp_path / "store") == resolved
    assert with_fingerprint(resolved, tmp_path / "another") == resolved


@pytest.mark.parametrize("kind", ["none", "saved_model", "vectors"])
def test_an_encoder_of_another_kind_is_not_asked(probe, config, tmp_path, kind) -> None:
    probe["vectors"] = DataError("nobody asks")
    plain = with_channel(config(), "encoder", BASES.get(kind))
    assert with_fingerprint(plain, tmp_path / "store") == plain
    assert not (tmp_path / "store").exists()


def test_rounding_keeps_the_digest_and_is_no_warning(probe, config, tmp_path, caplog) -> None:
    caplog.set_level(logging.INFO)
    first = with_fingerprint(config(), tmp_path / "store")
    for seed in range(5):
        rounding = np.random.default_rng(seed).normal(size=VECTORS.shape, scale=2e-4)
        probe["vectors"] = (VECTORS * (1 + rounding)).astype(np.float32)
        assert fingerprint(probe["vectors"]) != first.channels.encoder.probes
        assert with_fingerprint(config(), tmp_path / "store") == first
        assert with_fingerprint(first, tmp_path / "another") == first
    assert caplog.messages == []


@pytest.mark.parametrize(("vectors", "words"), [(OTHERS, "http://localhost:1"), (OTHERS[:, :5], "8 numbers; got 5")])
def test_a_changed_model_has_another_digest_and_one_warning(probe, config, tmp_path, caplog, vectors, words) -> None:
    first = with_fingerprint(config(), tmp_path / "store")
    probe["vectors"] = vectors
    second, third = (with_fingerprint(config(), tmp_path / "store") for _ in range(2))
    assert second == third
    assert encoder_digest(second.channels.encoder) != encoder_digest(first.channels.encoder)
    (message,) = caplog.messages
    assert re.search(words, message)


def test_other_settings_are_another_encoder_and_no_changed_model(probe, config, tmp_path, caplog) -> None:
    with_fingerprint(config(), tmp_path / "store")
    probe["vectors"] = OTHERS
    with_fingerprint(config(query_prefix="query: "), tmp_path / "store")
    probe["vectors"] = VECTORS
    with_fingerprint(config(batch=1, timeout_s=1.0), tmp_path / "store")
    assert caplog.messages == []


def test_a_resolved_configuration_with_the_fingerprint_of_another_model_is_refused_and_changes_nothing(
    probe, config, tmp_path, caplog
) -> None:
    resolved = with_fingerprint(config(), tmp_path / "store")
    probe["vectors"] = OTHERS
    with pytest.raises(ConfigError) as caught:
        with_fingerprint(resolved, tmp_path / "store")
    (fault,) = caught.value.faults
    assert fault.startswith("channels.encoder.probes: the endpoint http://localhost:1 ")
    probe["vectors"] = VECTORS
    assert with_fingerprint(config(), tmp_path / "store") == resolved
    assert caplog.messages == []


def test_an_endpoint_that_does_not_answer_ends_the_run_and_writes_nothing(probe, config, tmp_path) -> None:
    probe["vectors"] = DataError("the endpoint must answer; it did not.")
    with pytest.raises(DataError, match="it did not"):
        with_fingerprint(config(), tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', '{"a": ["x"]}', "\ud800"])
def test_a_damaged_file_of_fingerprints_is_written_anew(probe, config, tmp_path, content) -> None:
    first = with_fingerprint(config(), tmp_path / "store")
    (file,) = (tmp_path / "store").iterdir()
    whole = file.read_bytes()
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    assert with_fingerprint(config(), tmp_path / "store") == first
    assert file.read_bytes() == whole

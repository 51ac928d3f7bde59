"""The meaning of the settings of an encoder. Their rules are in `tests/bad_input`."""

import pytest

from models.encoders.settings import USE_NAME, EncoderSettings

NEEDED = {
    "none": {},
    "saved_model": {"path": "models/labse"},
    "use_multilingual": {},
    "endpoint": {"address": "http://localhost:8000/", "query_model": "bge-m3"},
    "vectors": {"query_vectors": "q.parquet", "document_vectors": "d.npy"},
}
"""The settings that each kind needs."""


def settings_of(kind, **settings):
    return EncoderSettings(**{"kind": kind, **NEEDED[kind], **settings})


@pytest.mark.parametrize("kind", NEEDED)
def test_a_kind_needs_its_settings_and_is_a_channel_unless_it_has_a_head(kind):
    settings = settings_of(kind, name="My encoder", probes=(3.0, 0.5), sha256={"path": "0" * 64})
    assert settings.is_channel == (kind != "none")
    assert EncoderSettings.model_validate_json(settings.model_dump_json()) == settings
    if kind != "none":
        assert not settings_of(kind, head="linear").is_channel


def test_texts_are_encoded_by_settings_without_those_that_do_not_matter_to_them():
    settings = settings_of("endpoint", name="n", licence="MIT", weight=0.5, batch=7, key_variable="CLIR_KEY")
    assert settings.for_texts == settings_of("endpoint", batch=7, key_variable="CLIR_KEY")
    assert settings.model_copy(update={"head": "linear"}).for_texts == settings.for_texts
    assert EncoderSettings.model_validate(settings.for_texts.model_dump(mode="json")) == settings.for_texts


def test_an_address_ends_without_a_slash():
    assert settings_of("endpoint").address == "http://localhost:8000"


@pytest.mark.parametrize(
    ("kind", "settings", "name"),
    [
        ("endpoint", {"name": "Mine"}, "Mine"),
        ("endpoint", {}, "bge-m3"),
        ("saved_model", {"path": "/models/labse"}, "labse"),
        ("saved_model", {"path": "/models/labse/"}, "labse"),
        ("use_multilingual", {}, USE_NAME),
        ("vectors", {}, "vectors"),
    ],
)
def test_an_encoder_is_shown_by_its_name_or_by_what_it_is(kind, settings, name):
    assert settings_of(kind, **settings).shown_name == name

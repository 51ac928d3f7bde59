"""The meaning of the settings of an encoder. Their rules are in `tests/bad_input`."""

import pytest
from pydantic import ValidationError

from models.encoders.settings import USE_NAME, EncoderSettings

NEEDED = {
    "saved_model": {"path": "models/labse"},
    "use_multilingual": {},
    "endpoint": {"address": "http://localhost:8000/", "query_model": "bge-m3"},
    "vectors": {"query_vectors": "q.parquet", "document_vectors": "d.npy"},
}
"""The settings that each kind needs."""


def settings_of(kind, **settings):
    return EncoderSettings.model_validate({"kind": kind, **NEEDED[kind], **settings})


@pytest.mark.parametrize("kind", NEEDED)
def test_a_kind_needs_its_settings_and_is_the_same_after_its_way_as_json(kind):
    settings = settings_of(kind, name="My encoder", sha256={"path": "0" * 64})
    assert EncoderSettings.model_validate_json(settings.model_dump_json()) == settings
    for needed in NEEDED[kind]:
        with pytest.raises(ValidationError, match=f"{needed}\n  Field required"):
            EncoderSettings.model_validate(settings.model_dump(exclude={needed}))


def test_a_record_of_an_earlier_version_has_the_settings_of_all_kinds():
    settings = settings_of("vectors", name="Mine")
    earlier = {**settings.model_dump(mode="json"), "head": "none", "path": None, "query_prefix": ""}
    assert EncoderSettings.from_record(earlier) == settings


def test_texts_are_encoded_by_settings_without_those_that_do_not_matter_to_them():
    settings = settings_of("endpoint", name="n", licence="MIT", weight=0.5, batch=7, key_variable="CLIR_KEY")
    assert settings.for_texts == settings_of("endpoint", batch=7, key_variable="CLIR_KEY")
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

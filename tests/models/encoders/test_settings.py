"""models/encoders/settings.py: what a configuration may say of an encoder, and the sentence of each fault."""

import pytest
from pydantic import ValidationError

from models.encoders.settings import USE_NAME, EncoderDigests, EncoderSettings, _Kind

KEY = "sk-Secret0123456789"
GIVEN = {
    "none": {},
    "saved_model": {"path": "models/labse"},
    "use_multilingual": {},
    "endpoint": {"address": "http://localhost:8000", "query_model": "bge-m3"},
    "vectors": {"query_vectors": "q.parquet", "document_vectors": "d.npy"},
}
"""The settings that each kind needs."""
OF_KIND = {
    "saved_model": {"path": "p", "signature": "encode", "output": "pooled"},
    "endpoint": {
        "address": "http://h",
        "query_model": "q",
        "document_model": "d",
        "timeout_s": 1.0,
        "retries": 0,
        "key_variable": "CLIR_KEY",
    },
    "vectors": {"query_vectors": "q.npy", "document_vectors": "d.npy"},
}
"""The settings that one kind alone has, with values other than the defaults."""


def settings_of(kind, **others):
    return EncoderSettings(**{"kind": kind, **GIVEN[kind], **others})


def refused(**given):
    """The messages of the faults, by their settings; those of the whole have none."""
    with pytest.raises(ValidationError) as raised:
        EncoderSettings(**given)
    return {".".join(map(str, fault["loc"])): fault["msg"] for fault in raised.value.errors()}


def test_every_kind_has_settings_that_it_needs_and_no_more():
    assert {*GIVEN} == {*_Kind.__args__}
    for kind, needed in GIVEN.items():
        assert settings_of(kind).kind == kind
        for name in needed:
            rest = {other: value for other, value in needed.items() if other != name}
            assert refused(kind=kind, **rest) == {"": f"Value error, {name} must be given for the kind {kind}"}


@pytest.mark.parametrize(
    ("kind", "name", "value"), [(kind, *item) for kind, items in OF_KIND.items() for item in items.items()]
)
def test_a_setting_of_one_kind_is_refused_for_every_other(kind, name, value):
    assert getattr(settings_of(kind, **{name: value}), name) == value
    for other in GIVEN.keys() - {kind}:
        fault = refused(**{"kind": other, **GIVEN[other], name: value})
        assert fault == {"": f"Value error, {name} is for the kind {kind} alone, and kind is {other}"}


def test_several_faults_are_reported_together():
    assert refused(kind="vectors", query_prefix="query: ", output="pooled", batch=0).keys() == {"batch"}
    assert refused(kind="vectors", query_prefix="query: ", output="pooled") == {
        "": "Value error, output is for the kind saved_model alone, and kind is vectors; query_vectors must be given "
        "for the kind vectors; document_vectors must be given for the kind vectors; query_prefix and document_prefix "
        "must be empty for the kind vectors"
    }
    assert refused(kind="endpont", address="localhost", key_variable="KEY").keys() == {
        *("kind", "address", "key_variable")
    }


@pytest.mark.parametrize("kind", ["none", "vectors"])
@pytest.mark.parametrize("name", ["query_prefix", "document_prefix"])
def test_texts_that_are_not_encoded_have_no_prefix(kind, name):
    fault = f"Value error, query_prefix and document_prefix must be empty for the kind {kind}"
    assert refused(**{"kind": kind, **GIVEN[kind], name: "query: "}) == {"": fault}


def test_a_head_needs_an_encoder():
    fault = "Value error, head must be none for the kind none, which is no encoder; got linear"
    assert refused(head="linear") == {"": fault}
    for kind in GIVEN.keys() - {"none"}:
        assert not settings_of(kind, head="linear").is_channel
        assert settings_of(kind).is_channel
    assert not EncoderSettings().is_channel


@pytest.mark.parametrize(
    "address",
    ["http://localhost", "https://h:8443", "http://127.0.0.1:1", "http://[::1]:80", "https://h/openai", "http://h/"],
)
def test_an_address_is_that_of_a_server_and_ends_without_a_slash(address):
    assert settings_of("endpoint", address=address).address == address.rstrip("/")


@pytest.mark.parametrize(
    "address",
    [
        *("", "localhost:8000", "ftp://h", "http://", "http://:80", "//h", "file:///etc/passwd"),
        *("http://h:0", "http://h:65536", "http://h:x", "http://[::1", "http://h?key=1", "http://h#1", "http://h h"),
        *("http://h\n", " http://h"),
    ],
)
def test_another_address_is_refused_in_a_sentence(address):
    shown = address.partition("?")[0].partition("#")[0]  # behind the sign may stand a key
    fault = f"Value error, must be http://host:port, or https, without a query; got {shown!r}"
    assert refused(kind="endpoint", query_model="m", address=address)["address"] == fault


@pytest.mark.parametrize("user", [KEY, f"user:{KEY}", f":{KEY}", f"{KEY}:"])
def test_an_address_with_a_key_is_refused_without_the_key(user):
    fault = refused(kind="endpoint", query_model="m", address=f"http://{user}@h:80")["address"]
    assert fault == (
        "Value error, must hold no user and no password: name the key's environment variable in key_variable"
    )


@pytest.mark.parametrize("address", [f"http://{KEY}@h?x", f"http://{KEY}@h:0", f"http://user:{KEY}@[h", f"{KEY}@h"])
def test_an_address_with_a_key_and_another_fault_is_refused_without_the_key(address):
    assert KEY not in refused(kind="endpoint", query_model="m", address=address)["address"]


@pytest.mark.parametrize(
    "name", ["", "KEY", "CLIR_", "clir_key", "CLIR_key", "CLIR_KEY ", "CLIR_KEY\n", " CLIR_KEY", "AWS_SECRET", KEY]
)
def test_a_key_s_variable_begins_with_clir_and_another_is_not_shown(name):
    with pytest.raises(ValidationError) as raised:
        settings_of("endpoint", key_variable=name)
    (fault,) = raised.value.errors()
    assert fault["loc"] == ("key_variable",)
    assert fault["msg"] == (
        "Value error, must be a name of an environment variable that begins with CLIR_, capitals and digits"
    )


@pytest.mark.parametrize("name", ["CLIR_KEY", "CLIR_1", "CLIR_OPENAI_KEY_2"])
def test_a_name_of_a_variable_is_taken(name):
    assert settings_of("endpoint", key_variable=name).key_variable == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("timeout_s", value) for value in (0, -1, 3601, float("inf"), float("nan"))),
        *(("retries", value) for value in (-1, 101, 1.5)),
        *(("max_characters", value) for value in (0, 1_000_001)),
        *(("batch", value) for value in (0, 4097)),
        *(("query_model", ""), ("document_model", ""), ("weight", "best"), ("head", "mlp"), ("probes", (1.0, "x"))),
        ("probes", (float("nan"),)),
    ],
)
def test_a_value_out_of_its_range_is_refused(name, value):
    faults = refused(**{"kind": "endpoint", **GIVEN["endpoint"], name: value})
    assert [one.partition(".")[0] for one in faults] == [name]


@pytest.mark.parametrize("section", [EncoderSettings, EncoderDigests])
def test_defaults_are_valid_and_every_setting_is_documented(section):
    section()
    assert all(field.description for field in section.model_fields.values())


def test_settings_of_json_are_the_same():
    for kind in GIVEN:
        settings = settings_of(kind, name="My encoder", probes=(3.0, 0.5), sha256={"path": "0" * 64})
        assert EncoderSettings.model_validate_json(settings.model_dump_json()) == settings
        assert EncoderSettings.model_validate(settings.model_dump(mode="json")) == settings


def test_texts_are_encoded_by_settings_without_those_that_do_not_matter_to_them():
    settings = settings_of("endpoint", name="n", licence="MIT", weight=0.5, batch=7, key_variable="CLIR_KEY")
    assert settings.for_texts == settings_of("endpoint", batch=7, key_variable="CLIR_KEY")
    assert settings.model_copy(update={"head": "linear"}).for_texts == settings.for_texts
    assert EncoderSettings.model_validate(settings.for_texts.model_dump(mode="json")) == settings.for_texts


@pytest.mark.parametrize(
    ("kind", "others", "name"),
    [
        ("endpoint", {"name": "Mine"}, "Mine"),
        ("endpoint", {}, "bge-m3"),
        ("saved_model", {"path": "/models/labse"}, "labse"),
        ("saved_model", {"path": "/models/labse/"}, "labse"),
        ("use_multilingual", {}, USE_NAME),
        ("vectors", {}, "vectors"),
    ],
)
def test_an_encoder_is_shown_by_its_name_or_by_what_it_is(kind, others, name):
    assert settings_of(kind, **others).shown_name == name

"""models/translators/settings.py, and which settings are another translator."""

import hashlib
import json

import pytest
from pydantic import ValidationError

from models.translators.settings import CommandSettings, TranslatorSettings
from models.translators.translator import translator_digest

COMMAND = {"kind": "command", "command": ["apertium", "-u", "spa-eng"]}
ENDPOINT = {"kind": "endpoint", "address": "http://localhost:5000/"}
PAIR = ("en", "es")


def test_a_command_is_a_row_of_one():
    row = ("apertium", "-u", "spa-eng")
    assert TranslatorSettings.model_validate(COMMAND).command == CommandSettings(command=[row]).command == (row,)
    assert TranslatorSettings.model_validate(ENDPOINT).address == "http://localhost:5000"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"kind": "command"}, "command\n  Field required"),
        ({"kind": "command", "command": "apertium -u spa-eng"}, "command"),
        ({"kind": "command", "command": []}, "must name a program"),
        ({"kind": "command", "command": [["apertium"], []]}, "must name a program"),
        ({"kind": "command", "command": [""]}, "command"),
        ({"kind": "endpoint"}, "address\n  Field required"),
        ({**COMMAND, "batch": 3}, "batch\n  Extra inputs are not permitted"),
        ({"address": "http://localhost"}, "must be one of command, endpoint; got nothing"),
        ({**ENDPOINT, "address": "ftp://localhost"}, "must be http://"),
        ({**ENDPOINT, "key_variable": "sk-secret"}, "CLIR_, and then capitals"),
    ],
)
def test_settings_that_do_not_fit_the_kind_are_refused(content, fault):
    with pytest.raises(ValidationError, match=fault):
        TranslatorSettings.model_validate(content)


@pytest.mark.parametrize(
    ("changes", "decides"),
    [
        ({"kind": "command", "command": ["other"]}, True),
        ({"address": "http://localhost:5001"}, True),
        ({"probe": "lava"}, True),
        ({"timeout_s": 1.0}, False),
        ({"retries": 0}, False),
        ({"batch": 1}, False),
        ({"key_variable": "CLIR_KEY"}, False),
    ],
)
def test_a_setting_is_another_translator_s_if_it_decides_translations(changes, decides):
    content = changes if "kind" in changes else {**ENDPOINT, **changes}
    before, after = (
        translator_digest(TranslatorSettings.model_validate(values), PAIR) for values in (ENDPOINT, content)
    )
    assert (before != after) == decides


@pytest.mark.parametrize(("content", "other_key"), [(COMMAND, "address"), (ENDPOINT, "command")])
def test_translations_of_earlier_versions_keep_their_digest(content, other_key):
    # Earlier versions had the keys of both kinds; a store knows translations by this digest.
    settings = TranslatorSettings.model_validate(content)
    own = settings.model_dump(mode="json", include={"kind", "probe", "command", "address"})
    earlier = json.dumps({**own, other_key: None, "languages": PAIR}, sort_keys=True)
    assert translator_digest(settings, PAIR) == hashlib.sha256(earlier.encode()).hexdigest()


def test_each_pair_of_languages_has_a_digest_of_its_own():
    settings = TranslatorSettings.model_validate(ENDPOINT)
    assert translator_digest(settings, PAIR) != translator_digest(settings, PAIR[::-1])

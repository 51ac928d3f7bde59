"""Limits on times and numbers: what a client does to itself, it does not do to others."""

import asyncio
import contextlib
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import httpx
import pytest

from schemas.errors import DataError
from smooth_clir.serving.service import Service
from smooth_clir.serving.settings import ServiceSettings
from smooth_clir.serving.uvicorn_server import TimedConnection
from tests.serving.fake_engines import FakeEngine, FakeSource
from tests.serving.live_service import LiveService, live_service, read_all

pytestmark = pytest.mark.stages

HEAD = b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
SEARCH = b"GET /v1/search?q=a HTTP/1.1\r\nhost: localhost\r\n\r\n"
ALIVE = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"


def wait_until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def gauge(live: LiveService, name: str) -> float:
    (line,) = [line for line in live.client.get("/metrics").text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


def connections(live: LiveService) -> int:
    return len(live.service._server.server_state.connections)


def error_in(answer: bytes) -> str:
    sentence: str = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    return sentence


@contextlib.contextmanager
def answered_again(live: LiveService) -> Iterator[None]:
    """Other clients are answered while a block's client misbehaves, and after it."""
    assert live.client.get("/v1/search?q=a").status_code == 200
    yield
    assert live.client.get("/v1/search?q=a").status_code == 200


@pytest.fixture
def busy() -> Iterator[FakeEngine]:
    """An engine that answers nothing until it is let go."""
    engine = FakeEngine()
    engine.let_go.clear()
    yield engine
    engine.let_go.set()


def test_a_full_waiting_room_sends_the_next_client_away_with_503_until_there_is_room(busy: FakeEngine) -> None:
    with live_service(FakeSource(busy), threads=1, waiting=2) as live, ThreadPoolExecutor(3) as clients:
        futures = [clients.submit(httpx.get, f"{live.url}/v1/search?q=a", timeout=30) for _ in range(3)]
        wait_until(lambda: gauge(live, "clir_requests_waiting") == 2)
        assert gauge(live, "clir_requests_at_work") == 1
        answer = live.client.get("/v1/search?q=a")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "3 requests" in answer.json()["error"]
        assert live.client.get("/healthz").json() == {"alive": True}
        busy.let_go.set()
        assert [future.result().status_code for future in futures] == [200] * 3
        assert live.client.get("/v1/search?q=a").status_code == 200


def test_an_answer_that_takes_too_long_is_504_and_keeps_its_thread_until_it_is_done(busy: FakeEngine) -> None:
    with live_service(FakeSource(busy), threads=1, waiting=1, seconds=0.3) as live:
        for status in (504, 503):  # the second waited for the first one's thread
            late = live.client.get("/v1/search?q=a")
            assert (late.status_code, "0.3 s" in late.json()["error"]) == (status, True)
        assert (gauge(live, "clir_requests_at_work"), gauge(live, "clir_requests_waiting")) == (1, 0)
        busy.let_go.set()
        wait_until(lambda: busy.answers == 1)
        assert live.client.get("/v1/search?q=a").status_code == 200
        assert busy.answers == 2  # the one that waited never began


def test_a_request_that_trickles_in_is_cut_off() -> None:
    with live_service(FakeSource(FakeEngine()), seconds=0.5) as live, answered_again(live):
        body, silent, head = live.connect(), live.connect(), live.connect()
        body.sendall(HEAD + b"content-length: 100\r\n\r\n{")
        head.sendall(b"GET /")
        started = time.monotonic()
        answer = read_all(body)
        assert answer.startswith(b"HTTP/1.1 408 ") and "0.5 s" in error_in(answer)
        assert read_all(silent) == read_all(head) == b""
        assert 0.3 < time.monotonic() - started < 5


def test_a_client_that_does_not_read_its_answer_is_cut_off() -> None:
    with live_service(FakeSource(FakeEngine()), seconds=0.5) as live:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.connect(("127.0.0.1", live.port))
        started = time.monotonic()
        with connection:
            connection.settimeout(0.2)
            with pytest.raises((ConnectionError, TimeoutError)):
                # A fast machine may send any number of requests before the server's time is up.
                while time.monotonic() < started + 10:
                    connection.sendall(b"GET /page.js HTTP/1.1\r\nhost: localhost\r\n\r\n")
            wait_until(lambda: gauge(live, "clir_requests_in_flight") == 1, 20)  # that of /metrics
        assert live.client.get("/v1/search?q=a").status_code == 200


def test_a_client_that_hangs_up_is_not_worked_for(busy: FakeEngine) -> None:
    with live_service(FakeSource(busy), threads=1) as live:
        first, second = live.connect(), live.connect()
        for connection in (first, second):
            connection.sendall(b"GET /v1/search?q=a HTTP/1.1\r\nhost: localhost\r\n\r\n")
        wait_until(lambda: gauge(live, "clir_requests_waiting") == 1)
        first.close()
        second.close()
        wait_until(lambda: gauge(live, "clir_requests_waiting") == 0)
        busy.let_go.set()
        wait_until(lambda: gauge(live, "clir_requests_at_work") == 0)
        assert busy.answers == 1
        wait_until(
            lambda: [event["status"] for event in live.events if event.get("route") == "/v1/search"] == [499, 499]
        )
        for _ in range(20):  # within its body
            connection = live.connect()
            connection.sendall(HEAD + b"content-length: 100\r\n\r\n{")
            connection.close()
        assert live.client.get("/v1/search?q=a").status_code == 200
        wait_until(lambda: gauge(live, "clir_requests_in_flight") == 1)
        assert not [event for event in live.events if event["level"] == "error"]


def test_200_clients_at_once_are_all_answered() -> None:
    with live_service(FakeSource(FakeEngine(seconds=0.005)), waiting=200) as live:
        together = threading.Barrier(200)

        def ask(number: int) -> int:
            connection = HTTPConnection("127.0.0.1", live.port, timeout=30)
            connection.connect()
            together.wait()
            connection.request("GET", f"/v1/search?q=query+{number}")
            with contextlib.closing(connection):
                return connection.getresponse().status

        with ThreadPoolExecutor(200) as clients:
            assert list(clients.map(ask, range(200))) == [200] * 200


def test_a_body_far_too_large_is_refused_before_it_is_sent_where_the_client_asks_first() -> None:
    with live_service(FakeSource(FakeEngine()), most_bytes=100) as live:
        connection = live.connect()
        connection.sendall(HEAD + b"expect: 100-continue\r\ncontent-length: 100000\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 413 ")


def test_the_rest_of_a_refused_body_is_read_no_longer_than_a_request() -> None:
    with live_service(FakeSource(FakeEngine()), most_bytes=100, seconds=0.5) as live, live.connect() as connection:
        connection.sendall(HEAD + b"content-length: 100000\r\n\r\n" + b" " * 200)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413 ")
        started = time.monotonic()
        with pytest.raises(ConnectionError):
            while time.monotonic() < started + 10:
                connection.sendall(b" ")
                time.sleep(0.05)


@pytest.mark.parametrize("seconds", [0.5, 10.0])
def test_a_stop_waits_for_what_is_at_work_but_not_for_ever(busy: FakeEngine, seconds: float) -> None:
    live = LiveService(FakeSource(busy), drain_seconds=seconds)
    with ThreadPoolExecutor(1) as client:
        future = client.submit(live.client.get, "/v1/search?q=a")
        assert busy.has_begun.wait(10)
        idle = live.connect()
        wait_until(lambda: connections(live) == 2)
        stopping = threading.Thread(target=live.stop)
        stopping.start()
        assert read_all(idle) == b""
        with pytest.raises(OSError):
            wait_until(lambda: live.connect().close(), 2)  # it takes no new ones
        if seconds > 1:
            busy.let_go.set()
        assert future.result().status_code == (200 if seconds > 1 else 503)
        stopping.join(20)
        busy.let_go.set()
    live.client.close()
    assert live.is_done == (seconds > 1)
    assert live.events[-1]["event"] == "stopped"


def test_a_client_that_comes_at_the_moment_of_a_stop_does_not_hold_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    introduce = TimedConnection.connection_made
    has_come = threading.Event()

    def introduce_late(connection: TimedConnection, transport: asyncio.Transport) -> None:
        """As where the event loop has accepted a client, and then closes the connections that it knows first."""
        has_come.set()
        if live.service._server.servers[0].is_serving():
            connection.loop.call_later(0.001, introduce_late, connection, transport)
        else:
            introduce(connection, transport)

    live = LiveService(FakeSource(FakeEngine()))
    monkeypatch.setattr(TimedConnection, "connection_made", introduce_late)
    late = live.connect()
    assert has_come.wait(10)
    started = time.monotonic()
    live.close()
    assert read_all(late) == b""
    assert time.monotonic() - started < 5  # nothing is at work; a silent client would have 10 s
    assert live.is_done


def test_requests_sent_without_waiting_are_all_answered_unless_no_answer_is_read() -> None:
    with live_service(FakeSource(FakeEngine()), seconds=60.0) as live:
        connection = live.connect()
        connection.sendall(ALIVE * 500 + ALIVE[:-2] + b"connection: close\r\n\r\n")
        assert read_all(connection).count(b"HTTP/1.1 200 ") == 501
        with answered_again(live), live.connect() as connection:
            connection.settimeout(10)
            started = time.monotonic()
            with pytest.raises(ConnectionError):  # before its answers fill the memory
                while time.monotonic() < started + 30:
                    connection.sendall(SEARCH * 1000)


def test_each_client_too_many_reads_why_whatever_it_has_sent() -> None:
    request = b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n" + b" " * 100_000
    with live_service(FakeSource(FakeEngine()), connections=3) as live:
        with live.connect(), live.connect(), live.connect():
            wait_until(lambda: connections(live) == 3)
            for content in (b"", *[request] * 10):
                connection = live.connect()
                with contextlib.suppress(ConnectionError):
                    connection.sendall(content)
                answer = read_all(connection)
                assert answer.startswith(b"HTTP/1.1 503 ") and b"retry-after: 1" in answer
                assert "3 clients" in error_in(answer)
        wait_until(lambda: not connections(live))
        assert live.client.get("/v1/search?q=a").status_code == 200


class FullStream(io.StringIO):
    """A stream on a disk that is full after some lines."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.lines = lines

    def write(self, text: str) -> int:
        if self.getvalue().count("\n") >= self.lines:
            raise OSError(28, "No space left on device")
        return super().write(text)


@pytest.mark.parametrize("lines", [0, 1, 2, 3])
def test_a_service_whose_log_cannot_be_written_stops_and_says_so(lines: int) -> None:
    service = Service(FakeSource(FakeEngine()), ServiceSettings(port=0), FullStream(lines))

    def ask(port: int) -> None:
        def ask_until_it_ends() -> None:
            with contextlib.suppress(httpx.HTTPError):
                while True:
                    httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=10)

        threading.Thread(target=ask_until_it_ends, daemon=True).start()

    with ThreadPoolExecutor(1) as thread, pytest.raises(DataError, match="No space left on device"):
        thread.submit(service.run, ask).result(30)

"""Requests that are wrong: each gets a status of 4xx and a sentence, and none stops the service."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.serving.fake_engines import FakeEngine, FakeSource
from tests.serving.live_service import LiveService, live_service, read_all

pytestmark = pytest.mark.tensors

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def live() -> Iterator[LiveService]:
    limits = {"most_bytes": 4000, "most_query_characters": 50, "most_k": 20, "most_documents": 3, "seconds": 5.0}
    with live_service(FakeSource(FakeEngine()), most_text_characters=100, **limits) as service:
        yield service


@pytest.mark.parametrize(
    ("request_line", "sent", "status", "reported"),
    [
        ("GET /v1/search", {}, 422, "q "),
        ("GET /v1/search?q=%20%20", {}, 422, "got '  '"),
        ("GET /v1/search?q=%C2%85%EF%BB%BF", {}, 422, "q "),
        (f"GET /v1/search?q={'a' * 51}", {}, 422, "50 characters"),
        ("GET /v1/search?q=a&k=21", {}, 422, "20"),
        ("GET /v1/search?q=a&k=ten", {}, 422, "'ten'"),
        ("GET /v1/search?q=a&lang=fr", {}, 422, "lang"),
        ("GET /v1/explain?q=a", {}, 422, "place"),
        ("GET /v1/search?q=a&where=", {}, 422, "where"),
        ("GET /v2/search?q=a", {}, 404, "'/v2/search'; see /openapi.json."),
        ("GET /../../etc/passwd", {}, 404, "path"),
        ("GET /v1/search/?q=a", {}, 404, "path"),
        ("PUT /v1/search", {}, 405, "GET or POST; got PUT"),
        ("FROB /v1/rank", {}, 405, "POST; got FROB"),
        ("POST /", {}, 405, "GET or HEAD; got POST"),
        ("POST /v1/rank", {"content": b"{}"}, 415, "got ''"),
        ("POST /v1/rank", {"data": {"query": "a"}}, 415, "got 'application/x-www-form-urlencoded'"),
        ("POST /v1/rank", {"content": b"{", "headers": JSON}, 400, "JSON"),
        ("POST /v1/rank", {"content": b'{"query": "\xff"}', "headers": JSON}, 400, "UTF-8"),
        ("POST /v1/rank", {"content": b"[" * 3000, "headers": JSON}, 400, "JSON"),
        ("POST /v1/rank", {"content": b"", "headers": JSON}, 422, "the body"),
        ("POST /v1/rank", {"json": []}, 422, "the body"),
        ("POST /v1/rank", {"json": {"query": "a"}}, 422, "documents"),
        ("POST /v1/rank", {"json": {"query": "a", "documents": ["b", " "]}}, 422, "documents.1"),
        ("POST /v1/rank", {"json": {"query": "a", "documents": ["b"] * 4}}, 422, "documents"),
        ("POST /v1/rank", {"json": {"query": "a", "documents": ["b" * 101]}}, 422, "100 characters"),
        ("POST /v1/rank", {"json": {"query": "\ud800", "documents": ["b"]}}, 422, "surrogate"),
        ("POST /v1/search", {"json": {"query": "a", "k": "5"}}, 422, "k: "),
        ("POST /v1/search", {"json": {"query": "a", "extra": 1}}, 422, "extra"),
        ("POST /v1/search", {"json": {"query": "a" * 5000}}, 413, "4,000 bytes"),
        *(
            ("GET /readyz", {"headers": {"host": host}}, 421, "host")
            for host in ("evil.example", "localhost:evil.com", "localhost:80:80", "[::1]evil", "[::1]:x", "x@localhost")
        ),
    ],
)
def test_a_bad_request_gets_a_status_and_a_sentence(
    live: LiveService, request_line: str, sent: dict[str, Any], status: int, reported: str
) -> None:
    if "json" in sent:  # httpx would refuse half a character itself
        sent = {"content": json.dumps(sent["json"]).encode(), "headers": JSON}
    answer = live.client.request(*request_line.split(" "), **sent)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    ((key, sentence),) = answer.json().items()
    assert (key, reported in sentence, sentence[-1]) == ("error", True, ".")
    assert live.client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50,
        b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 200_000,
        b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
    ],
    ids=["TLS", "a head without end", "bytes in the address", "two lengths"],
)
def test_bytes_that_are_no_http_get_400_and_a_sentence(live: LiveService, sent: bytes) -> None:
    connection = live.connect()
    connection.sendall(sent)
    answer = read_all(connection)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"].endswith(".")
    assert live.client.get("/readyz").status_code == 200


def test_a_fault_of_our_own_gets_500_with_a_number_that_stands_in_the_log(live: LiveService) -> None:
    answer = live.client.get("/v1/search?q=boom")
    assert answer.status_code == 500
    number = answer.headers["x-request-id"]
    assert number in answer.json()["error"]
    (event,) = [event for event in live.events if event["event"] == "request failed" and event["id"] == number]
    assert "the engine fails at boom" in event["exception"]
    assert live.client.get("/v1/search?q=a").status_code == 200

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
    ("method", "path", "sent", "status", "sentence"),
    [
        ("GET", "/v1/search", {}, 422, "q must be given"),
        ("GET", "/v1/search?q=", {}, 422, "q: string should have at least 1 character"),
        ("GET", "/v1/search?q=%20%20", {}, 422, "q must hold a word; got '  '"),
        ("GET", "/v1/search?q=%C2%85%EF%BB%BF", {}, 422, "q must hold a word; got "),
        ("GET", "/v1/search?q=" + "a" * 51, {}, 422, "q: string should have at most 50 characters"),
        ("GET", "/v1/search?q=a&k=0", {}, 422, "k: input should be greater than or equal to 1; got '0'"),
        ("GET", "/v1/search?q=a&k=21", {}, 422, "k: input should be less than or equal to 20"),
        ("GET", "/v1/search?q=a&k=ten", {}, 422, "k: input should be a valid integer"),
        ("GET", "/v1/search?q=a&snippets=perhaps", {}, 422, "snippets: input should be a valid boolean"),
        ("GET", "/v1/search?q=a&lang=fr", {}, 422, "lang is not known here"),
        ("GET", "/v1/explain?q=a", {}, 422, "place must be given"),
        ("GET", "/v2/search?q=a", {}, 404, "unknown path '/v2/search'; see /openapi.json."),
        ("GET", "/../../etc/passwd", {}, 404, "unknown path"),
        ("GET", "/v1/search/?q=a", {}, 404, "unknown path"),
        ("PUT", "/v1/search", {}, 405, "the method of /v1/search must be GET or POST; got PUT"),
        ("GET", "/v1/rank", {}, 405, "the method of /v1/rank must be POST; got GET"),
        ("FROB", "/v1/rank", {}, 405, "the method of /v1/rank must be POST; got FROB"),
        ("POST", "/", {}, 405, "the method of / must be GET or HEAD; got POST"),
        ("POST", "/v1/rank", {"content": b"{}"}, 415, "must be application/json; got ''"),
        ("POST", "/v1/rank", {"data": {"query": "a"}}, 415, "got 'application/x-www-form-urlencoded'"),
        ("POST", "/v1/rank", {"content": b"{", "headers": JSON}, 400, "must be JSON: "),
        ("POST", "/v1/rank", {"content": b'{"query": "\xff"}', "headers": JSON}, 400, "must be JSON in UTF-8, such as"),
        ("POST", "/v1/rank", {"content": b"[" * 3000, "headers": JSON}, 400, "must be JSON"),
        ("POST", "/v1/rank", {"content": b"", "headers": JSON}, 422, "the body must be given"),
        ("POST", "/v1/rank", {"json": []}, 422, "the body: input should be a valid dictionary"),
        ("POST", "/v1/rank", {"json": {"query": "a"}}, 422, "documents must be given"),
        ("POST", "/v1/rank", {"json": {"query": 5, "documents": ["b"]}}, 422, "query: input should be a valid string"),
        ("POST", "/v1/rank", {"json": {"query": "a", "documents": []}}, 422, "documents: list should have at least 1"),
        ("POST", "/v1/rank", {"json": {"query": "a", "documents": ["b", " "]}}, 422, "documents.1 must hold a word"),
        ("POST", "/v1/rank", {"json": {"query": "a", "documents": ["b"] * 4}}, 422, "documents: list should have at m"),
        ("POST", "/v1/rank", {"json": {"query": "a", "documents": ["b" * 101]}}, 422, "at most 100 characters"),
        ("POST", "/v1/rank", {"json": {"query": "\ud800", "documents": ["b"]}}, 422, "half of a surrogate pair"),
        ("POST", "/v1/search", {"json": {"query": "a", "k": "5"}}, 422, "k: input should be a valid integer; got '5'"),
        ("POST", "/v1/search", {"json": {"query": "a", "extra": 1}}, 422, "extra is not known here"),
        ("POST", "/v1/search", {"json": {"query": "a" * 5000}}, 413, "must hold at most 4,000 bytes; got 5,0"),
        ("GET", "/v1/search?q=a", {"content": b"x" * 9}, 415, "must be application/json"),
        *(
            ("GET", "/readyz", {"headers": {"host": host}}, 421, "the host of a request must be")
            for host in (
                "evil.example",
                "localhost:evil.com",
                "localhost:80:80",
                "[::1]evil",
                "[::1]:x",
                "x@localhost",
                "[]",
            )
        ),
    ],
)
def test_a_bad_request_gets_a_status_and_a_sentence(
    live: LiveService, method: str, path: str, sent: dict[str, Any], status: int, sentence: str
) -> None:
    if "json" in sent:  # httpx would refuse half a character itself
        sent = {"content": json.dumps(sent["json"]).encode(), "headers": JSON}
    answer = live.client.request(method, path, **sent)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    (reported,) = answer.json().items()
    assert reported[0] == "error"
    assert sentence in reported[1]
    assert reported[1].endswith(".")
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
def test_what_is_no_http_gets_400_and_a_sentence(live: LiveService, sent: bytes) -> None:
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

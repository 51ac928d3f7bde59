"""Headers of every answer, the log and the metrics."""

import threading
from collections.abc import Iterator

import pytest

from schemas.errors import DataError
from serving.http_records import SearchAnswer
from tests.serving.fake_engines import FakeEngine, FakeSource
from tests.serving.live_service import LiveService, live_service

pytestmark = pytest.mark.tensors


@pytest.fixture
def live() -> Iterator[LiveService]:
    with live_service(FakeSource(FakeEngine("7"))) as service:
        yield service


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/v1/search?q=a", "/v1/search", "/none", "/metrics", "/openapi.json"]
)
def test_every_answer_keeps_browsers_safe_and_has_a_number(live: LiveService, path: str) -> None:
    headers = live.client.get(path).headers
    policy = dict(one.strip().split(" ", 1) for one in headers["content-security-policy"].split(";"))
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'none'", "'self'", "'self'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers
    assert len(headers["x-request-id"]) == 12


def test_the_page_is_sent_again_only_when_it_has_changed(live: LiveService) -> None:
    first = live.client.get("/page.css")
    assert first.headers["content-type"] == "text/css; charset=utf-8"
    again = live.client.get("/page.css", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_page_has_no_script_or_style_within_and_loads_nothing_from_elsewhere(live: LiveService) -> None:
    page = live.client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert "onload" not in page
    assert page.count("<script") == 1
    for path in ("/", "/page.css", "/page.js"):
        text = live.client.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        assert "innerHTML" not in text


def test_answers_say_which_versions_they_are_of(live: LiveService) -> None:
    for answer in (
        live.client.get("/v1/search?q=a"),
        live.client.post("/v1/search", json={"query": "a", "k": 3}),
        live.client.post("/v1/rank", json={"query": "a", "documents": ["b"]}),
        live.client.post("/v1/explain", json={"query": "a", "text": "b"}),
        live.client.get("/v1/collection"),
    ):
        assert answer.status_code == 200
        assert (answer.json()["model_version"], answer.json()["index_version"]) == ("7", "7")
        assert answer.headers["cache-control"] == "no-store"


def test_a_line_of_the_log_tells_of_a_request_but_not_of_its_query(live: LiveService) -> None:
    live.client.get("/v1/search?q=my+illness&k=3")
    live.client.post("/v1/rank", json={"query": "my illness", "documents": ["une maladie"]})
    live.client.get("/v1/search?q=my+illness&k=none")
    live.client.get("/healthz")  # an answer is on its way before its line is written
    first, second, third, *_ = [event for event in live.events if event["event"] == "request"]
    assert {key: first[key] for key in ("method", "route", "status", "query_characters", "k", "level")} == {
        "method": "GET", "route": "/v1/search", "status": 200, "query_characters": 10, "k": 3, "level": "info",
    }  # fmt: skip
    assert first["milliseconds"] > 0
    assert (second["route"], second["documents"], third["status"]) == ("/v1/rank", 1, 422)
    assert "illness" not in live.log.getvalue()
    assert "maladie" not in live.log.getvalue()


def test_metrics_count_answers_by_route_and_status(live: LiveService) -> None:
    for path in ("/v1/search?q=a", "/v1/search?q=a", "/v1/search", "/some/path"):
        live.client.get(path)
    lines = live.client.get("/metrics").text.splitlines()
    for line in (
        'clir_requests_total{method="GET",route="/v1/search",status="200"} 2.0',
        'clir_requests_total{method="GET",route="/v1/search",status="422"} 1.0',
        'clir_requests_total{method="GET",route="none",status="404"} 1.0',
        'clir_request_seconds_count{route="/v1/search"} 3.0',
        'clir_engine_info{index_version="7",model_version="7"} 1.0',
        "clir_index_documents 3.0",
        "clir_requests_in_flight 1.0",
        "clir_requests_waiting 0.0",
        "clir_engine_swaps_total 1.0",
    ):
        assert line in lines


def test_a_model_that_cannot_be_reached_is_503(live: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> SearchAnswer:
        raise DataError("no TF Serving answers at localhost:8500. Start it, or name another.")

    monkeypatch.setattr(FakeEngine, "search", fail)
    answer = live.client.get("/v1/search?q=a")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error"].startswith("no TF Serving answers at localhost:8500")
    assert live.client.get("/readyz").json() == {"ready": True}


@pytest.mark.parametrize(
    ("settings", "host", "status"),
    [
        ({}, "localhost:1", 200), ({}, "127.0.0.1", 200), ({}, "[::1]:80", 200), ({}, "search.example", 421),
        ({"allowed_hosts": ("search.example",)}, "search.example:443", 200),
        ({"allowed_hosts": ("search.example",)}, "other.example", 421),
        ({"host": "0.0.0.0"}, "search.example", 200),
    ],
)  # fmt: skip
def test_a_service_of_this_machine_alone_is_asked_by_its_own_name(
    settings: dict[str, object], host: str, status: int
) -> None:
    with live_service(FakeSource(FakeEngine()), **settings) as live:
        assert live.client.get("/readyz", headers={"host": host}).status_code == status


def test_a_port_that_is_taken_is_reported(live: LiveService) -> None:
    from serving.service import Service
    from serving.settings import ServiceSettings

    second = Service(FakeSource(FakeEngine()), ServiceSettings(port=live.port), live.log)
    with pytest.raises(DataError, match="must be an address that is free"):
        second.run()
    assert threading.active_count() < 20

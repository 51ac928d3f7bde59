"""Headers of every answer, the log and the metrics."""

import threading
from collections.abc import Iterator

import pytest

from schemas.errors import DataError
from schemas.index_manifest import Drift
from smooth_clir.retrieval.answers import SearchAnswer
from smooth_clir.serving.service import Service
from smooth_clir.serving.settings import ServiceSettings
from smooth_clir.serving.telemetry import ServiceMetrics
from smooth_clir.serving.work_queue import WorkQueue
from tests.serving.fake_engines import FakeEngine, FakeSource
from tests.serving.live_service import LiveService, live_service

pytestmark = pytest.mark.tensors


@pytest.fixture
def live() -> Iterator[LiveService]:
    with live_service(FakeSource(FakeEngine("7"))) as service:
        yield service


def test_every_answer_keeps_browsers_safe_and_has_a_number(live: LiveService) -> None:
    for path in ("/", "/page.js", "/v1/search?q=a", "/v1/search", "/none", "/metrics", "/openapi.json"):
        headers = live.client.get(path).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert (policy["default-src"], policy["script-src"], policy["style-src"]) == ("'none'", "'self'", "'self'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert not {"access-control-allow-origin", "server"} & headers.keys()
        assert len(headers["x-request-id"]) == 12


def test_the_page_loads_nothing_from_elsewhere_and_is_sent_again_only_when_it_has_changed(live: LiveService) -> None:
    page = live.client.get("/").text
    assert not any(part in page for part in ("<style", " style=", "onload"))
    assert page.count("<script") == 1
    for path in ("/", "/page.css", "/page.js"):
        text = live.client.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert not any(part in text for part in ("http:", "https:", "innerHTML"))
    first = live.client.get("/page.css")
    assert first.headers["content-type"] == "text/css; charset=utf-8"
    second = live.client.get("/page.css", headers={"if-none-match": first.headers["etag"]})
    assert (second.status_code, second.content) == (304, b"")


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
    assert "illness" not in live.log.getvalue() and "maladie" not in live.log.getvalue()


def test_metrics_count_answers_by_route_and_status(live: LiveService) -> None:
    for path in ("/v1/search?q=a", "/v1/search?q=a", "/v1/search", "/some/path"):
        live.client.get(path)
    lines = live.client.get("/metrics").text.splitlines()
    assert {
        'clir_requests_total{method="GET",route="/v1/search",status="200"} 2.0',
        'clir_requests_total{method="GET",route="/v1/search",status="422"} 1.0',
        'clir_requests_total{method="GET",route="none",status="404"} 1.0',
        'clir_request_seconds_count{route="/v1/search"} 3.0',
        'clir_engine_info{index_version="7",model_version="7"} 1.0',
        "clir_index_documents 3.0",
        "clir_requests_in_flight 1.0",
        "clir_requests_waiting 0.0",
        "clir_engine_swaps_total 1.0",
    } <= {*lines}


def test_metrics_have_the_drift_of_the_index_that_answers_and_no_row_for_an_unknown_figure() -> None:
    metrics = ServiceMetrics(WorkQueue(1, 1, 1.0))
    names = ("model_documents", "length_ratio", "unknown_share", "divergence")
    prefixes = tuple(f"clir_index_{name}{{" for name in names)
    full = Drift(documents=3, model_documents=9, mean_length=3, model_mean_length=2, unknown_share=0.25, divergence=0.5)
    partial = Drift(documents=3, mean_length=3, unknown_share=0.0, reason="there is no lexicon")
    for drift, values in ((full, (9.0, 1.5, 0.25, 0.5)), (partial, (None, None, 0.0, None)), (None, (None,) * 4)):
        engine = FakeEngine("7")
        engine.drift = drift or engine.drift
        metrics.swapped(engine)
        rows = [line for line in metrics.text().decode().splitlines() if line.startswith(prefixes)]
        assert rows == [
            f'{prefix}index_version="7"}} {value}'
            for prefix, value in zip(prefixes, values, strict=True)
            if value is not None
        ]


def test_a_model_that_cannot_be_reached_is_503(live: LiveService, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> SearchAnswer:
        raise DataError("no TF Serving answers at localhost:8500. Start it, or name another.")

    monkeypatch.setattr(FakeEngine, "search", fail)
    answer = live.client.get("/v1/search?q=a")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "localhost:8500" in answer.json()["error"]
    assert live.client.get("/readyz").json() == {"ready": True}


@pytest.mark.parametrize(
    ("settings", "hosts"),
    [
        ({}, {"localhost:1": 200, "127.0.0.1": 200, "[::1]:80": 200, "search.example": 421}),
        ({"allowed_hosts": ("search.example",)}, {"search.example:443": 200, "other.example": 421}),
        ({"host": "0.0.0.0"}, {"search.example": 200}),
    ],
)
def test_a_service_of_this_machine_alone_is_asked_by_its_own_name(
    settings: dict[str, object], hosts: dict[str, int]
) -> None:
    with live_service(FakeSource(FakeEngine()), **settings) as live:
        assert {host: live.client.get("/readyz", headers={"host": host}).status_code for host in hosts} == hosts


def test_a_port_that_is_taken_is_reported(live: LiveService) -> None:
    second = Service(FakeSource(FakeEngine()), ServiceSettings(port=live.port), live.log)
    with pytest.raises(DataError, match=str(live.port)):
        second.run()
    assert threading.active_count() < 20

"""Swaps: a newer engine takes the place of an older one, and nobody notices but in the version."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from schemas.errors import DataError
from smooth_clir.serving.engine_holder import AGAIN_SECONDS, EngineHolder
from smooth_clir.serving.refusals import Busy
from tests.serving.fake_engines import FakeEngine, FakeSource, Watch
from tests.serving.live_service import live_service

pytestmark = pytest.mark.tensors


def test_without_a_pair_nothing_can_be_loaded_and_nobody_is_answered() -> None:
    holder = EngineHolder(FakeSource(), Watch(), 1)
    with pytest.raises(DataError, match="No index found"):
        holder.load_first()
    with pytest.raises(Busy), holder.engine():
        pass


def test_the_older_engine_is_closed_only_when_its_last_request_is_answered() -> None:
    old, new, watch = FakeEngine("1"), FakeEngine("2"), Watch()
    source = FakeSource(old)
    holder = EngineHolder(source, watch, 1)
    holder.load_first()
    source.add(new)
    with holder.engine() as older:
        swapping = threading.Thread(target=holder.refresh)
        swapping.start()
        while holder._current.engine is old:
            time.sleep(0.001)
        with holder.engine() as newer:
            assert (older, newer) == (old, new)
        assert swapping.is_alive()
        assert not old.is_closed
    swapping.join(5)
    assert (old.is_closed, new.is_closed) == (True, False)
    assert watch.reported == [("swapped", "1"), ("swapped", "2"), ("drained", "1")]


def test_a_newer_pair_that_cannot_be_loaded_leaves_the_older_one_and_is_tried_again_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, watch = FakeEngine("2", fault=DataError("it is damaged.")), Watch()
    source = FakeSource(FakeEngine("1"))
    holder = EngineHolder(source, watch, 1)
    holder.load_first()
    source.add(broken)
    for _ in range(3):
        holder.refresh()
    assert source.loads == ["1", "2"]
    assert broken.is_closed
    assert watch.reported == [("swapped", "1"), ("failed", "2", "it is damaged.")]
    with holder.engine() as engine:
        assert engine.model_version == "1"
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + AGAIN_SECONDS + 1)
    broken.fault = None
    holder.refresh()
    with holder.engine() as engine:
        assert engine.model_version == "2"


def test_no_request_is_dropped_while_engines_are_swapped_under_load() -> None:
    engines = [FakeEngine(str(number), seconds=0.01) for number in range(1, 5)]
    source = FakeSource(engines[0])
    with live_service(source, poll_seconds=0.05, waiting=200) as live, ThreadPoolExecutor(8) as clients:
        is_over = threading.Event()

        def ask() -> list[tuple[int, str]]:
            answers = []
            while not is_over.is_set():
                answer = live.client.get("/v1/search?q=a")
                answers.append((answer.status_code, answer.json().get("model_version")))
            return answers

        asking = [clients.submit(ask) for _ in range(8)]
        for engine in engines[1:]:
            time.sleep(0.1)
            source.add(engine)
            while not (engine.answers or asking[0].done()):  # each answers some
                time.sleep(0.01)
        is_over.set()
        answers = [answer for future in asking for answer in future.result()]
    assert {status for status, _ in answers} == {200}
    assert {version for _, version in answers} == {engine.model_version for engine in engines}
    assert not any(engine.worked_when_closed for engine in engines)
    assert all(engine.is_closed for engine in engines)


def test_a_failed_swap_is_counted_and_logged() -> None:
    source = FakeSource(FakeEngine("1"))
    with live_service(source, poll_seconds=0.02) as live:
        source.add(FakeEngine("2", fault=DataError("it is damaged.")))
        while "clir_engine_failures_total 1.0" not in live.client.get("/metrics").text:
            time.sleep(0.02)
        assert 'clir_engine_info{index_version="1",model_version="1"} 1.0' in live.client.get("/metrics").text
        (event,) = [event for event in live.events if event["event"] == "not loaded"]
        assert (event["name"], event["error"], event["level"]) == ("2", "it is damaged.", "warning")

"""`clir serve` as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.command import Clir

pytestmark = pytest.mark.stages


@contextmanager
def served(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that it prints."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("clir")), "serve", *map(str, arguments), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"},
    )
    assert process.stdout
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_signal_ends_it_with_0_after_the_requests_that_are_at_work(searchable: Path, number: signal.Signals) -> None:
    with served(searchable) as (process, address):
        collection = httpx.get(f"{address}v1/collection", timeout=20).json()
        assert (collection["query_language"], collection["document_language"], collection["documents"]) == (
            "en",
            "fr",
            5,
        )
        statuses, is_over = list[int](), threading.Event()

        def ask() -> None:
            with httpx.Client(timeout=20) as client:
                while not is_over.is_set():
                    try:
                        statuses.append(client.get(f"{address}v1/search?q=white+cat&snippets=true").status_code)
                    except httpx.TransportError:  # the idle connection was closed; the log has all that was begun
                        return

        asking = [threading.Thread(target=ask) for _ in range(4)]
        for one in asking:
            one.start()
        while len(statuses) < 20:
            is_over.wait(0.01)
        process.send_signal(number)
        _, log = process.communicate(timeout=40)
        is_over.set()
        for one in asking:
            one.join(20)
    assert process.returncode == 0
    assert set(statuses) == {200}
    loading, *lines = log.splitlines()
    events = [json.loads(line) for line in lines]
    assert loading == "loading"
    assert [event["event"] for event in events if event["event"] != "request"] == ["loaded", "listening", "stopped"]
    assert {event["status"] for event in events if event["event"] == "request"} == {200}


def test_folders_without_an_index_and_limits_that_are_none_are_reported(
    searchable: Path, tmp_path: Path, clir: Clir
) -> None:
    done = clir("serve", searchable, "--index", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "there must be a model and an index that it made; there are none." in done.err
    assert clir("serve", tmp_path).code == 1
    done = clir("serve", searchable, "--threads", "0")
    assert done.code == 2
    assert "--threads: Input should be greater than or equal to 1; got 0." in done.err

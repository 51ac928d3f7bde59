"""`clir serve` as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from tests.cli.command import Clir

pytestmark = pytest.mark.stages


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
def test_a_signal_ends_it_with_0_after_the_requests_that_are_at_work(searchable: Path, number: signal.Signals) -> None:
    # Takes above 5 s: a process of its own imports TensorFlow and loads a model.
    command = [str(Path(sys.executable).with_name("clir")), "serve", str(searchable), "--port", "0"]
    environment = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"}
    statuses, is_over = list[int](), threading.Event()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            collection = httpx.get(f"{address}v1/collection", timeout=20).json()
            languages = collection["query_language"], collection["document_language"]
            assert (*languages, collection["documents"]) == ("en", "fr", 5)

            def ask() -> None:
                with httpx.Client(timeout=20) as client:
                    while not is_over.is_set():
                        try:
                            answer = client.get(f"{address}v1/search?q=white+cat&snippets=true")
                        except httpx.TransportError:  # the idle connection was closed; the log has all that was begun
                            return
                        statuses.append(answer.status_code)

            asking = [threading.Thread(target=ask) for _ in range(4)]
            for thread in asking:
                thread.start()
            while len(statuses) < 20:
                is_over.wait(0.01)
            process.send_signal(number)
            _, log = process.communicate(timeout=40)
            is_over.set()
            for thread in asking:
                thread.join(20)
        finally:
            process.kill()
    assert process.returncode == 0
    assert set(statuses) == {200}
    loading, *lines = log.splitlines()
    events = [json.loads(line) for line in lines]
    assert loading == "loading"
    assert [event["event"] for event in events if event["event"] != "request"] == ["loaded", "listening", "stopped"]
    assert {event["status"] for event in events if event["event"] == "request"} == {200}


def test_folders_without_an_index_and_limits_below_1_are_reported(searchable: Path, tmp_path: Path, clir: Clir) -> None:
    answer = clir("serve", searchable, "--index", tmp_path)
    assert (answer.code, answer.out, "No index found" in answer.err) == (1, "", True)
    assert clir("serve", tmp_path).code == 1
    answer = clir("serve", searchable, "--threads", "0")
    assert (answer.code, "--threads" in answer.err) == (2, True)

"""A run whose index is searched in Milvus."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.search_report import SearchReport
from tests.e2e.process import SampleRun
from tests.milvus_server import MilvusServer

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    server = MilvusServer(tmp_path_factory.mktemp("milvus"))
    yield server
    server.kill()


def settings(server: MilvusServer) -> list[str]:
    given = {"index": True, "engine": "milvus", "milvus.address": server.address("sample")}
    return [word for key, value in given.items() for word in ("--set", f"search.{key}={value}")]


def report(output: Path) -> SearchReport:
    return SearchReport.from_json((output / "evaluation" / "search.json").read_text())


def test_a_run_publishes_its_index_and_evaluates_what_is_searched(
    server: MilvusServer, search_run: SampleRun, tmp_path: Path
) -> None:
    arguments = ["--set", "training.epochs=6", *settings(server)]
    run = SampleRun(tmp_path / "out", "configs/sample.yaml", *arguments)
    assert run.code == 0, run.err
    here, there = report(search_run.output), report(tmp_path / "out")
    assert (here.engine, there.engine) == ("", server.address("sample"))
    assert there.approximation.overlap_10 == 1
    assert there.approximation.queries > 0
    assert (there.metrics, there.channels) == (here.metrics, here.channels)
    again = SampleRun(tmp_path / "out", "configs/sample.yaml", *arguments)
    assert again.code == 0, again.err
    assert again.ran == {"IndexPusher"}
    assert len(server.client().list_collections()) == 1


def test_a_server_that_does_not_answer_is_reported_before_any_stage(server: MilvusServer, tmp_path: Path) -> None:
    arguments = [one.replace(str(server.port), "1") for one in settings(server)]
    run = SampleRun(tmp_path / "out", "configs/sample.yaml", *arguments)
    assert (run.code, run.stages) == (1, {})
    assert "no Milvus answers at milvus://127.0.0.1:1/sample" in run.err

"""A run whose index is searched in Milvus."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.search_report import SearchReport
from tests.e2e.process import SampleRun
from tests.milvus_server import MilvusServer

pytestmark = pytest.mark.long

SETTINGS = ("configs/sample.yaml", "--set=evaluation.baselines=[]", "--set=search.index=true")
"""Those of `demo_output`."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    server = MilvusServer(tmp_path_factory.mktemp("milvus"))
    yield server
    server.kill()


def in_milvus(address: str) -> list[str]:
    return ["--set=search.engine=milvus", f"--set=search.milvus.address={address}"]


def report(output: Path) -> SearchReport:
    return SearchReport.from_json((output / "evaluation" / "search.json").read_text())


def test_a_run_publishes_its_index_and_evaluates_what_is_searched(server: MilvusServer, demo_output: Path) -> None:
    on_disk = report(demo_output)
    run = SampleRun(demo_output, *SETTINGS, *in_milvus(server.address("sample")))
    assert run.code == 0, run.err
    assert run.ran == {"IndexPusher", "SearchEvaluator"}
    searched = report(demo_output)
    assert (on_disk.engine, searched.engine) == ("", server.address("sample"))
    assert searched.approximation.overlap_10 == 1
    assert searched.approximation.queries > 0
    assert (searched.metrics, searched.channels) == (on_disk.metrics, on_disk.channels)
    assert len(server.client().list_collections()) == 1
    # The next run, without Milvus, leaves the shared folder as it was.
    assert SampleRun(demo_output, *SETTINGS).code == 0
    assert report(demo_output) == on_disk


def test_a_server_that_does_not_answer_is_reported_before_any_stage(tmp_path: Path) -> None:
    run = SampleRun(tmp_path / "out", *SETTINGS, *in_milvus("milvus://127.0.0.1:1/sample"))
    assert (run.code, run.stages) == (1, {})
    assert "no Milvus answers at milvus://127.0.0.1:1/sample" in run.err

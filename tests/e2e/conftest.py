"""Runs of the whole pipeline on the sample, shared by all tests here."""

from pathlib import Path

import pytest

from tests.e2e.process import SampleRun, fresh


@pytest.fixture(scope="session")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """A run of the paper's system with few epochs.

    No test changes its folder but by an identical run, or it puts it back as it was.
    """
    settings = ("--set", "preset=paper", "--set", "training.epochs=12")
    run = SampleRun(tmp_path_factory.mktemp("run") / "out", "configs/sample.yaml", *settings, start=fresh)
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="session")
def model_path(sample_run: SampleRun) -> str:
    """The SavedModel that the run pushed."""
    (version,) = sample_run.versions
    return str(version)


@pytest.fixture(scope="session")
def search_run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """A run of the default preset with few epochs, an index of the collection, and the paper's system beside it.

    No test changes its folder but by an identical run.
    """
    settings = ("--set=search.index=true", "--set=training.epochs=6", "--set=evaluation.baselines=[bm25, paper]")
    run = SampleRun(tmp_path_factory.mktemp("search") / "out", "configs/sample.yaml", *settings)
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="session")
def demo_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run of the sample with an index, of which the pages for Python and TF Serving are."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    run = SampleRun(folder, "configs/sample.yaml", "--set", "evaluation.baselines=[]", "--set", "search.index=true")
    assert run.code == 0, run.err
    return folder

"""`clir run --estimate`: its numbers of the sample are those of a run, and its sizes are near."""

import json

import pytest

from tests.e2e.process import SampleRun, forked

pytestmark = pytest.mark.runs


def test_it_counts_what_the_run_makes(sample_run: SampleRun) -> None:
    ended = forked("run", sample_run.output / "config.yaml", "--estimate", "--json")
    assert ended.code == 0, ended.err
    estimate = json.loads(ended.out)
    data, trained = (
        json.loads((sample_run.output / name).read_text()) for name in ("data/report.json", "training/training.json")
    )
    collection, training = estimate["collection"], estimate["trainings"]["the model"]
    assert {key: collection[key] for key in ("lists", "pairs")} == {key: data[key] for key in ("lists", "pairs")}
    assert training["pairs"] == trained["train_pairs"]
    assert (training["steps"], training["epochs"]) == (trained["steps"], len(trained["history"]))
    disk = sum(path.stat().st_size for path in sample_run.output.rglob("*") if path.is_file())
    assert 1 / 3 < sum(estimate["disk_bytes"].values()) / disk < 3
    assert min(estimate["memory_bytes"].values()) > 0

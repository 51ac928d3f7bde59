"""`clir run --estimate`: what it says of the sample, beside what a run of it was."""

import json

import pytest

from pipeline.estimate.estimate_run import STAGES_OF_PART
from tests.e2e.process import SampleRun, forked

pytestmark = pytest.mark.runs


def test_it_counts_what_the_run_made_and_its_parts_are_the_stages_that_ran(sample_run: SampleRun) -> None:
    ended = forked("run", sample_run.output / "config.yaml", "--estimate", "--json")
    assert ended.code == 0, ended.err
    estimate = json.loads(ended.out)
    data, trained = (
        json.loads((sample_run.output / name).read_text()) for name in ("data/report.json", "training/training.json")
    )
    assert {key: estimate["size"][key] for key in ("lists", "pairs")} == {key: data[key] for key in ("lists", "pairs")}
    assert estimate["size"]["trained_pairs"] == trained["train_pairs"]
    assert (estimate["step"]["steps"], estimate["step"]["epochs"]) == (trained["steps"], len(trained["history"]))
    parts = [part for part, stages in STAGES_OF_PART.items() if {*stages} & sample_run.stages.keys()]
    assert [*estimate["seconds"]] == ["start", *parts]
    assert estimate["all_seconds"] == pytest.approx(sum(estimate["seconds"].values()))
    assert min(*estimate["seconds"].values(), estimate["memory_bytes"], estimate["disk_bytes"]) > 0

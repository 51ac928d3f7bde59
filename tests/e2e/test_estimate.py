"""`clir run --estimate`: what it says of the sample, beside what a run of it was."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.estimate.estimate_run import STAGES_OF_PART
from tests.e2e.process import SampleRun, forked

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module")
def estimate(sample_run: SampleRun) -> dict[str, Any]:
    """That of a run's resolved configuration."""
    ended = forked("run", sample_run.output / "config.yaml", "--estimate", "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_it_counts_the_lists_and_pairs_that_the_run_made(sample_run: SampleRun, estimate: dict[str, Any]) -> None:
    report = json.loads((sample_run.output / "data" / "report.json").read_text())
    for key in ("lists", "pairs"):
        assert estimate["size"][key] == report[key]


def test_it_counts_the_pairs_and_steps_of_the_training(sample_run: SampleRun, estimate: dict[str, Any]) -> None:
    trained = json.loads((sample_run.output / "training" / "training.json").read_text())
    assert estimate["size"]["trained_pairs"] == trained["train_pairs"]
    assert (estimate["step"]["steps"], estimate["step"]["epochs"]) == (trained["steps"], len(trained["history"]))


def test_its_parts_are_the_stages_that_ran(sample_run: SampleRun, estimate: dict[str, Any]) -> None:
    parts = [part for part, stages in STAGES_OF_PART.items() if set(stages) & set(sample_run.stages)]
    assert [*estimate["seconds"]] == ["start", *parts]
    assert estimate["all_seconds"] == pytest.approx(sum(estimate["seconds"].values()))
    assert min(*estimate["seconds"].values(), estimate["memory_bytes"], estimate["disk_bytes"]) > 0


def test_it_says_so_in_words_and_writes_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out"
    settings = ("search.index=true", "training.patience=2", "training.replicas=2", "training.device=cpu")
    sets = [part for setting in (f"output={output}", *settings) for part in ("--set", setting)]
    ended = forked("run", "configs/sample.yaml", "--estimate", *sets)
    assert ended.code == 0, ended.err
    lines = [line for line in ended.out.splitlines() if "other programs are at work" not in line]
    first, _, _, *parts, total, note = lines
    assert first.startswith("156 documents of ")
    names = ["start", *(part for part in STAGES_OF_PART if "paper" not in part and part != "encoder")]
    assert [line.split("  ")[0] for line in parts] == names
    assert total.startswith("in all ")
    assert note == "note: training stops earlier where training.patience is spent"
    assert not output.exists()


def test_what_it_cannot_estimate_is_an_error() -> None:
    dumps = forked("run", "configs/sample_dumps.yaml", "--estimate")
    assert (dumps.code, dumps.out) == (1, "")
    assert "data must name files for an estimate" in dumps.err
    workers = forked("run", "configs/sample.yaml", "--set", "training.workers=2", "--estimate")
    assert workers.code == 1
    assert "training.workers must be 1 or null" in workers.err

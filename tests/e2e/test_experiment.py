"""`clir experiment` on the sample: killed as a whole, killed in one cell, resumed, edited, and done."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.stages import DATA_STAGES
from schemas.evaluation import EVALUATION_FILES
from tests.e2e.forked import clir
from tests.e2e.process import ROOT, SAMPLE
from tests.hparams_of import hparams_of

pytestmark = pytest.mark.long

LOSSES = ["sosl", "mse", "three_part_l2", "softmax"]
IMPOSSIBLE, LONG = "softmax-seed2", "three_part_l2-seed2"
SETTINGS: dict[str, Any] = {
    "title": "Four losses",
    "run": {
        "preset": "paper",
        "data": {
            "queries": str(SAMPLE / "wiki_en.queries"),
            "documents": str(SAMPLE / "wiki_fr.documents"),
            "judgments": str(SAMPLE / "en2fr.rel"),
            "query_language": "en",
            "document_language": "fr",
            "max_queries": 150,
            "negatives": 15,
        },
        "model": {"embedding_dim": 8},
        "training": {"epochs": 1},
    },
    "grid": {"loss.name": LOSSES, "training.seed": [1, 2, 3]},
    "adjust": [
        {"when": {"loss.name": "softmax", "training.seed": 2}, "set": {"loss.theta": [0.5]}},
        {"when": {"loss.name": "three_part_l2", "training.seed": 2}, "set": {"training.epochs": 60}},
    ],
    "output": "out",
}
CELLS = [f"{loss}-seed{seed}" for loss in LOSSES for seed in (1, 2, 3)]
KILLED_AFTER = 5


class Started:
    """`clir experiment` on the way, in a session of its own."""

    def __init__(self, file: Path) -> None:
        self._out, self._err = file.with_suffix(".out"), file.with_suffix(".err")
        with open(self._out, "w") as out, open(self._err, "w") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from cli.main import main; main()", "experiment", str(file), "--json"],
                cwd=ROOT, start_new_session=True, stdout=out, stderr=err,
            )  # fmt: skip

    def processes(self) -> dict[int, int]:
        """Process to parent, of those that are alive."""
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(session) == self._process.pid and state != "Z":
                found[int(stat.parent.name)] = int(parent)
        return found

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until something is so, or no process is left to make it so."""
        while not condition():
            assert self._process.poll() is None, self.err
            time.sleep(0.02)

    def kill(self) -> None:
        """Kills the command itself; its cell must not outlive it."""
        self._process.kill()
        self._process.wait()
        deadline = time.monotonic() + 20
        while self.processes():
            assert time.monotonic() < deadline, self.processes()
            time.sleep(0.02)

    def kill_cell(self) -> None:
        """Kills the process of the cell that is running: the child of a child."""
        children = {one for one, parent in self.processes().items() if parent == self._process.pid}
        (cell,) = (one for one, parent in self.processes().items() if parent in children)
        os.kill(cell, signal.SIGKILL)

    def wait(self) -> int:
        """Its exit code."""
        return self._process.wait()

    def end(self) -> tuple[int, dict[str, Any]]:
        """Its exit code and its results."""
        return self.wait(), json.loads(self._out.read_text())

    @property
    def err(self) -> str:
        """Its stderr so far."""
        return self._err.read_text()


def status(output: Path) -> dict[str, str]:
    """The status of every cell of the experiment, in its order."""
    names = json.loads((output / "experiment.json").read_text())["cells"]
    return {name: json.loads((output / "cells" / name / "cell.json").read_text())["status"] for name in names}


def done(output: Path) -> list[str]:
    if not (output / "experiment.json").exists():
        return []
    return [name for name, one in status(output).items() if one == "done"]


def files(output: Path, names: list[str]) -> dict[Path, tuple[int, bytes]]:
    """Time stamp and content of every file of cells."""
    paths = [path for name in names for path in (output / "cells" / name).iterdir()]
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def completed(output: Path) -> Counter[str]:
    """How often each stage ran to its end."""
    from ml_metadata import MetadataStore
    from ml_metadata.proto import metadata_store_pb2
    from tfx.orchestration.metadata import sqlite_metadata_connection_config

    store = MetadataStore(sqlite_metadata_connection_config(str(output / "metadata.sqlite")))
    complete = metadata_store_pb2.Execution.COMPLETE
    return Counter(one.type.rpartition(".")[2] for one in store.get_executions() if one.last_known_state == complete)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of twelve cells, one of them impossible."""
    file = tmp_path_factory.mktemp("experiment") / "experiment.yaml"
    file.write_text(yaml.safe_dump(SETTINGS, sort_keys=False))
    return file


@pytest.fixture(scope="module")
def killed(file: Path) -> dict[Path, tuple[int, bytes]]:
    """The files of the cells that were done when the experiment was killed."""
    output = file.parent / "out"
    experiment = Started(file)
    experiment.wait_for(lambda: len(done(output)) >= KILLED_AFTER)
    experiment.kill()
    assert KILLED_AFTER <= len(done(output)) < len(CELLS)
    return files(output, done(output))


@pytest.fixture(scope="module")
def resumed(file: Path, killed: dict[Path, tuple[int, bytes]]) -> tuple[int, dict[str, dict[str, Any]], str]:
    """The experiment started again, and one of its cells killed in the midst of its training: code, cells, stderr."""
    experiment = Started(file)
    checkpoints = file.parent / "out" / "artifacts" / "checkpoints" / LONG
    experiment.wait_for(lambda: any(checkpoints.glob("*/checkpoint")))
    experiment.kill_cell()
    code, results = experiment.end()
    return code, {cell["name"]: cell for cell in results["cells"]}, experiment.err


@pytest.fixture(scope="module")
def again(file: Path, resumed: object) -> tuple[int, dict[str, Any], str]:
    """The same once more, after the cell that was killed."""
    experiment = Started(file)
    return *experiment.end(), experiment.err


def test_a_killed_experiment_loses_no_cell_that_was_done(
    killed: dict[Path, tuple[int, bytes]], resumed: tuple[int, dict[str, Any], str]
) -> None:
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in killed} == killed
    assert f"{len({path.parent for path in killed})} of 12 cells were done before" in resumed[2]


def test_a_cell_that_is_killed_or_impossible_fails_alone(resumed: tuple[int, dict[str, Any], str]) -> None:
    code, cells, err = resumed
    assert code == 1
    assert "2 of 12 cells failed" in err
    assert [name for name, cell in cells.items() if cell["status"] != "done"] == [LONG, IMPOSSIBLE]
    assert cells[LONG]["reason"].startswith("its process was killed by SIGKILL")
    assert cells[IMPOSSIBLE]["reason"].endswith("must be null for softmax, which has no thresholds; got [0.5]")
    assert all(cell["metrics"]["ndcg_5"] > 0 for cell in cells.values() if cell["status"] == "done")


def test_a_killed_cell_goes_on_with_its_training(file: Path, again: tuple[int, dict[str, Any], str]) -> None:
    code, _, err = again
    assert (code, status(file.parent / "out")[LONG]) == (1, "done")  # the impossible one fails as before
    assert "10 of 12 cells were done before" in err
    # The trainings of the cells after it have not removed its checkpoint.
    assert "going on after epoch " in (file.parent / "out" / "cells" / LONG / "log.txt").read_text()


def test_data_stages_run_once_and_nothing_is_pushed(file: Path, again: object) -> None:
    output = file.parent / "out"
    counts = completed(output)
    # The paper's system has no lexicon and no encoder, the data are no dumps, and no rival is asked for.
    stages = {*DATA_STAGES} - {"LexiconGen", "TextVectorGen", "WikipediaGen", "Rivals"}
    assert {stage: counts[stage] for stage in stages} == dict.fromkeys(stages, 1)
    assert counts["Trainer"] == counts["Evaluator"] == len(CELLS) - 1
    assert counts["Pusher"] == 0 and not (output / "serving").exists()


def test_tensorboard_tells_the_cells_apart_by_their_settings(file: Path, again: object) -> None:
    runs = [link for link in (file.parent / "out" / "tensorboard").iterdir() if link.exists()]
    shown = {(one["loss.name"], one["training.seed"]) for one in map(hparams_of, runs)}
    assert {f"{loss}-seed{seed:g}" for loss, seed in shown} == {*CELLS} - {IMPOSSIBLE}


def test_an_edited_grid_runs_the_cells_that_are_new(file: Path, again: object) -> None:
    output = file.parent / "out"
    before = files(output, done(output))
    edited = {**SETTINGS, "adjust": SETTINGS["adjust"][1:]}
    edited["grid"] = {"loss.name": ["three_part_l2", "softmax"], "training.seed": [1, 2, 3]}
    file.write_text(yaml.safe_dump(edited, sort_keys=False))
    code, results = Started(file).end()
    assert code == 0
    assert [cell["name"] for cell in results["cells"]] == done(output) == CELLS[6:]
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before} == before
    assert completed(output)["Trainer"] == len(CELLS)

    code, results = Started(file).end()
    assert code == 0 and len(results["cells"]) == 6
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before} == before
    assert completed(output)["Evaluator"] == len(CELLS)


def test_a_collection_that_cannot_be_used_stops_the_experiment_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.rel").write_text("".join(f"{line}\tno grade\n" for line in range(9)) + "1\t1\t2\n")
    data = {**SETTINGS["run"]["data"], "judgments": str(tmp_path / "bad.rel")}
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({**SETTINGS, "run": {**SETTINGS["run"], "data": data}}))
    experiment = Started(tmp_path / "bad.yaml")
    assert experiment.wait() == 1
    assert "no cell can be run: " in experiment.err
    assert [*status(tmp_path / "out").values()].count("waiting") == len(CELLS) - 2  # one tried, one is impossible


def test_a_cell_s_configuration_gives_its_numbers(file: Path, again: object, tmp_path: Path) -> None:
    cell = file.parent / "out" / "cells" / "three_part_l2-seed1"
    arguments = ["run", cell / "config.yaml", "--set", f"output={tmp_path / 'out'}", "--set", "evaluation.minimums={}"]
    assert clir(*arguments, log=tmp_path / "log") == 0, (tmp_path / "log").read_text()
    for name in EVALUATION_FILES:
        assert (tmp_path / "out" / "evaluation" / name).read_bytes() == (cell / name).read_bytes()

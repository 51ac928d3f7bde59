"""`clir experiment` on a part of the sample: killed in one cell and as a whole, edited, and completed."""

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
from tests.e2e.process import ROOT, SAMPLE
from tests.hparams_of import hparams_of

pytestmark = pytest.mark.long

DONE, KILLED, IMPOSSIBLE, LAST = "sosl-seed1", "three_part_l2-seed1", "softmax-seed1", "mse-seed1"
SETTINGS: dict[str, Any] = {
    "title": "Losses",
    "run": {
        "preset": "paper",
        "data": {
            "queries": str(SAMPLE / "wiki_en.queries"),
            "documents": str(SAMPLE / "wiki_fr.documents"),
            "judgments": str(SAMPLE / "en2fr.rel"),
            "query_language": "en",
            "document_language": "fr",
            "max_queries": 100,
            "negatives": 15,
        },
        "channels": {"towers": {"embedding_dim": 8}},
        "training": {"epochs": 1},
    },
    "grid": {"loss.kind": ["sosl", "three_part_l2", "softmax", "mse"], "training.seed": [1]},
    "adjust": [
        {"when": {"loss.kind": "softmax"}, "set": {"loss.theta": [0.5]}},
        *({"when": {"loss.kind": loss}, "set": {"training.epochs": 60}} for loss in ("three_part_l2", "mse")),
    ],
    "output": "out",
}


class Started:
    """`clir experiment` on the way, in a session of its own."""

    def __init__(self, file: Path) -> None:
        self._out, self._err = file.with_suffix(".out"), file.with_suffix(".err")
        with open(self._out, "w") as out, open(self._err, "w") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "smooth_clir", "experiment", str(file), "--json"],
                cwd=ROOT, start_new_session=True, stdout=out, stderr=err,
            )  # fmt: skip

    def processes(self) -> dict[int, int]:
        """Process to parent, of those that are alive."""
        processes = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(session) == self._process.pid and state != "Z":
                processes[int(stat.parent.name)] = int(parent)
        return processes

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
        parents = self.processes()
        children = {child for child, parent in parents.items() if parent == self._process.pid}
        (cell,) = (process for process, parent in parents.items() if parent in children)
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


def cells(output: Path) -> dict[str, dict[str, Any]]:
    """The state of every cell of the experiment, in its order."""
    names = json.loads((output / "experiment.json").read_text())["cells"]
    return {name: json.loads((output / "cells" / name / "cell.json").read_text()) for name in names}


def status(output: Path) -> dict[str, str]:
    """The status of every cell."""
    return {name: cell["status"] for name, cell in cells(output).items()}


def files(cell: Path) -> dict[Path, tuple[int, bytes]]:
    """Time stamp and content of every file of a cell."""
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in cell.iterdir()}


def completed(output: Path) -> Counter[str]:
    """How often each stage ran to its end."""
    from ml_metadata import MetadataStore
    from ml_metadata.proto import metadata_store_pb2
    from tfx.orchestration.metadata import sqlite_metadata_connection_config

    store = MetadataStore(sqlite_metadata_connection_config(str(output / "metadata.sqlite")))
    complete = metadata_store_pb2.Execution.COMPLETE
    return Counter(
        execution.type.rpartition(".")[2]
        for execution in store.get_executions()
        if execution.last_known_state == complete
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of four cells, one of them impossible."""
    file = tmp_path_factory.mktemp("experiment") / "experiment.yaml"
    file.write_text(yaml.safe_dump(SETTINGS, sort_keys=False))
    return file


@pytest.fixture(scope="module")
def killed(file: Path) -> dict[str, dict[str, Any]]:
    """The cells after one was killed in the midst of its training, and then the whole in the midst of the last."""
    output = file.parent / "out"
    checkpoints = output / "artifacts" / "checkpoints"
    experiment = Started(file)
    experiment.wait_for(lambda: any((checkpoints / KILLED).glob("*/checkpoint")))
    experiment.kill_cell()
    experiment.wait_for(lambda: any((checkpoints / LAST).glob("*/checkpoint")))
    experiment.kill()
    return cells(output)


@pytest.fixture(scope="module")
def done_before(file: Path, killed: object) -> dict[Path, tuple[int, bytes]]:
    """The files of the cell that was done then."""
    return files(file.parent / "out" / "cells" / DONE)


@pytest.fixture(scope="module")
def edited(file: Path, done_before: object) -> tuple[int, dict[str, Any]]:
    """The exit code and results of the same with another grid, without the done and the impossible cell."""
    grid = {"loss.kind": ["three_part_l2", "mse"], "training.seed": [1]}
    file.write_text(yaml.safe_dump({**SETTINGS, "adjust": SETTINGS["adjust"][1:], "grid": grid}, sort_keys=False))
    return Started(file).end()


def test_a_cell_that_is_killed_or_impossible_fails_alone(killed: dict[str, dict[str, Any]]) -> None:
    statuses = {name: cell["status"] for name, cell in killed.items()}
    assert statuses == {DONE: "done", KILLED: "failed", IMPOSSIBLE: "failed", LAST: "waiting"}
    assert "SIGKILL" in killed[KILLED]["reason"]
    assert "loss.theta" in killed[IMPOSSIBLE]["reason"] and "of the kinds sosl, " in killed[IMPOSSIBLE]["reason"]


def test_an_edited_grid_completes_what_was_killed_and_leaves_what_was_done(
    file: Path, done_before: dict[Path, tuple[int, bytes]], edited: tuple[int, dict[str, Any]]
) -> None:
    output = file.parent / "out"
    code, results = edited
    assert code == 0
    assert [cell["name"] for cell in results["cells"]] == [KILLED, LAST]
    assert all(cell["metrics"]["ndcg_5"] > 0 for cell in results["cells"])
    assert status(output) == {KILLED: "done", LAST: "done"}
    for name in (KILLED, LAST):
        assert "resuming after epoch " in (output / "cells" / name / "log.txt").read_text()
    assert done_before and files(output / "cells" / DONE) == done_before


def test_data_stages_run_once_nothing_is_pushed_and_tensorboard_tells_the_cells_apart(
    file: Path, edited: object
) -> None:
    output = file.parent / "out"
    counts = completed(output)
    # The paper's system has no lexicon and no encoder, the data are no dumps, documents are whole, no rival is named.
    others = {"LexiconGen", "TextVectorGen", "WikipediaGen", "PassageGen", "Rivals", "TranslationGen"}
    stages = {*DATA_STAGES} - others
    assert {stage: counts[stage] for stage in stages} == dict.fromkeys(stages, 1)
    assert counts["Trainer"] == counts["Evaluator"] == 3
    assert counts["Pusher"] == 0 and not (output / "serving").exists()
    runs = [hparams_of(link) for link in (output / "tensorboard").iterdir() if link.exists()]
    assert {f"{hparams['loss.kind']}-seed{hparams['training.seed']:g}" for hparams in runs} == {DONE, KILLED, LAST}


def test_a_collection_that_cannot_be_used_stops_the_experiment_at_once(tmp_path: Path) -> None:
    (tmp_path / "bad.rel").write_text("".join(f"{line}\tno grade\n" for line in range(9)) + "1\t1\t2\n")
    data = {**SETTINGS["run"]["data"], "judgments": str(tmp_path / "bad.rel")}
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({**SETTINGS, "run": {**SETTINGS["run"], "data": data}}))
    experiment = Started(tmp_path / "bad.yaml")
    assert experiment.wait() == 1
    assert "no cell can be run: " in experiment.err
    assert status(tmp_path / "out") == {DONE: "failed", KILLED: "waiting", IMPOSSIBLE: "failed", LAST: "waiting"}

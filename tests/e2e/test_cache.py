"""An exact cache: after each edit of a file or a setting, the stages that use it run, and no others."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.forked import clir
from tests.e2e.process import ROOT, SAMPLE, told_stages
from tests.e2e.test_run import STAGES

pytestmark = pytest.mark.e2e

SMALL = ["data.max_queries=150", "training.epochs=2", "evaluation.minimums={}", "evaluation.significance=0.0001"]


class CachedRun:
    """A run that is repeated after edits: of copies of the code and the input files, or of settings."""

    def __init__(self, folder: Path, stages: Sequence[str] = STAGES) -> None:
        self._stages = stages
        self.output, self.log = folder / "out", folder / "log"
        self.code, self.data = folder / "code", folder / "data"
        for room in ("schemas", "models", "components", "pipeline"):
            shutil.copytree(ROOT / room, self.code / room)
        shutil.copytree(SAMPLE, self.data)

    def __call__(self, *settings: str) -> set[str]:
        """Runs with some settings changed; returns the stages that ran."""
        files = {"queries": "wiki_en.queries", "documents": "wiki_fr.documents", "judgments": "en2fr.rel"}
        paths = [f"data.{role}={self.data / name}" for role, name in files.items()]
        overrides = [f"--set={one}" for one in [*SMALL, *paths, f"output={self.output}", *settings]]
        self.log.unlink(missing_ok=True)
        assert clir("run", "configs/sample.yaml", *overrides, log=self.log, code=self.code) == 0, self.log.read_text()
        stages = told_stages(self.log.read_text())
        assert set(stages) == set(self._stages)
        return {name for name, cached in stages.items() if not cached}

    def edit(self, file: str) -> set[str]:
        """Runs after an edit of one of the code's files, which is then undone."""
        path = self.code / file
        content = path.read_bytes()
        path.write_bytes(content + b"\n# edited\n")
        try:
            return self()
        finally:
            path.write_bytes(content)

    @property
    def versions(self) -> int:
        """How many versions were pushed."""
        return len(list((self.output / "serving").iterdir()))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> CachedRun:
    """A run that has been made once."""
    run = CachedRun(tmp_path_factory.mktemp("cache"))
    assert run() == set(STAGES)
    return run


def test_nothing_runs_again_where_nothing_changed(run: CachedRun) -> None:
    versions = run.versions
    assert run() == set()
    assert run.versions == versions


def test_a_touched_file_runs_nothing(run: CachedRun) -> None:
    for path in [*run.data.iterdir(), *run.code.rglob("*.py"), run.code / "schemas" / "schema.pbtxt"]:
        os.utime(path)
    assert run() == set()


def test_an_input_file_of_equal_size_and_time_stamp_runs_the_stages_that_read_it(run: CachedRun) -> None:
    path = run.data / "wiki_fr.documents"
    stat, content = path.stat(), path.read_bytes()
    path.write_bytes(content.replace(b"e", b"i", 1))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert run() == set(STAGES) - {"ImportSchemaGen"}
    path.write_bytes(content)
    assert run() == set()


def test_the_schema_runs_its_stage_and_those_that_read_it(run: CachedRun) -> None:
    assert run.edit("schemas/schema.pbtxt") == {
        "ImportSchemaGen", "ExampleValidator", "Transform", "Trainer", "Evaluator", "Pusher",
    }  # fmt: skip


def test_the_number_of_queries_runs_the_stages_that_see_the_lists(run: CachedRun) -> None:
    assert run("data.max_queries=140") == set(STAGES) - {"ImportSchemaGen"}


def test_the_length_of_documents_runs_transform_bm25_and_what_follows(run: CachedRun) -> None:
    assert run("data.max_document_tokens=50") == {"Transform", "LexicalBaseline", "Trainer", "Evaluator", "Pusher"}


def test_the_code_of_the_validator_runs_the_validator(run: CachedRun) -> None:
    assert run.edit("components/example_validator/executor.py") == {"ExampleValidator"}


def test_the_code_of_bm25_runs_bm25_and_the_evaluation(run: CachedRun) -> None:
    assert run.edit("components/lexical_baseline/bm25.py") == {"LexicalBaseline", "Evaluator", "Pusher"}


def test_a_setting_of_the_model_runs_the_training_and_what_follows(run: CachedRun) -> None:
    versions = run.versions
    assert run("model.epsilon=0.5") == {"Trainer", "Evaluator", "Pusher"}
    assert run.versions == versions + 1


def test_a_setting_of_the_gate_runs_the_evaluation_and_pushes_no_second_time(run: CachedRun) -> None:
    run("model.epsilon=0.6")
    versions = run.versions
    assert run("model.epsilon=0.6", "evaluation.significance=0.01") == {"Evaluator", "Pusher"}
    assert run.versions == versions


def test_the_code_of_the_pusher_runs_the_pusher(run: CachedRun) -> None:
    assert run.edit("components/pusher/executor.py") == {"Pusher"}


def test_code_of_the_theory_runs_nothing(run: CachedRun) -> None:
    assert run.edit("models/theory/theorem_3.py") == set()


def test_code_of_the_command_line_runs_nothing(run: CachedRun) -> None:
    assert run.edit("cli/main.py") == set()

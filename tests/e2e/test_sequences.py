"""Acts of people between two runs: move, copy, go back, change a file meanwhile. No run lies, and no file is lost."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.forked import Swap, clir
from tests.e2e.process import DECIDES, RESTORED, SAMPLE, SMALL, told_stages
from tests.e2e.test_run import STAGES, tree

pytestmark = pytest.mark.long

ALL = {*STAGES} - DECIDES


class Folders:
    """Runs of the sample into the folders of a workspace."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.said = ""
        self.expected: dict[str, bytes] = {}
        """The first run's evaluation."""

    def run(self, output: str, *settings: str, code: int = 0, swap: Swap | None = None) -> set[str]:
        """Runs; returns the stages that ran, but for those that always do."""
        log = self.top / "log"
        log.unlink(missing_ok=True)
        overrides = [f"--set={one}" for one in [*SMALL, f"output={self.top / output}", *settings]]
        ended = clir("run", "configs/sample.yaml", *overrides, log=log, swap=swap)
        self.said = log.read_text()
        assert ended == code, self.said
        assert "Traceback" not in self.said
        return {name for name, cached in told_stages(self.said).items() if not cached} - DECIDES

    def evaluation(self, output: str) -> dict[str, bytes]:
        """The files that depend on configuration and data alone."""
        files = tree(self.top / output / "evaluation")
        return {name: content for name, content in files.items() if name != "verdict.json"}

    def reason(self, output: str) -> str:
        verdict: dict[str, Any] = json.loads((self.top / output / "evaluation" / "verdict.json").read_text())
        return str(verdict["reason"])

    def versions(self, output: str) -> list[str]:
        return sorted(path.name for path in (self.top / output / "serving").iterdir())


def model(version: Path) -> dict[str, bytes]:
    """A version's files without its card, which holds the gate's reason, too."""
    files = tree(version)
    assert files.pop("MODEL_CARD.md").startswith(b"---\nlanguage:\n- en\n- fr\n")
    return files


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A workspace with one run, in `first`, which tests copy or only read."""
    folders = Folders(tmp_path_factory.mktemp("sequences"))
    assert folders.run("first") == ALL
    folders.expected = folders.evaluation("first")
    return folders


# What is pushed


def test_going_back_to_an_earlier_model_pushes_it_anew(first: Folders) -> None:
    (one,) = first.versions("first")
    first.run("first", "training.seed=2")
    assert f"not significantly worse than version {one}" in first.reason("first")
    _, two = first.versions("first")
    assert first.run("first") == set()
    *_, three = first.versions("first")
    assert f"not significantly worse than version {two}" in first.reason("first")
    assert f"pushed as the newest version, {first.top / 'first' / 'serving' / three}: " in first.said
    models = [model(first.top / "first" / "serving" / version) for version in (one, two, three)]
    assert models[0] == models[2] != models[1]


def test_a_verdict_speaks_of_what_is_there(first: Folders) -> None:
    serving = first.top / "first" / "serving"
    version = max(first.versions("first"), key=int)
    serving.rename(first.top / "moved away")
    assert first.run("first") == set()
    assert first.reason("first") == "no minimum is set; no model was pushed before"
    (pushed,) = first.versions("first")
    assert model(serving / pushed) == model(first.top / "moved away" / version)
    shutil.rmtree(serving)
    (first.top / "moved away").rename(serving)
    # With what had been pushed back in its place, the model is the newest version again.
    first.run("first")
    assert f"not compared with version {version}, which is this very model" in first.reason("first")


def test_a_refusal_ends_with_what_caused_it(first: Folders) -> None:
    worse = ("training.learning_rate=1e-6", "evaluation.significance=0.5")
    first.run("first", *worse, code=1)
    newest = max(first.versions("first"), key=int)
    assert f"the model is significantly worse than version {newest}" in first.said
    assert f"As before, the newest version is {first.top / 'first' / 'serving' / newest}." in first.said
    first.run("first", *worse, "evaluation.start_anew=true")
    first.run("first", *worse)
    assert "which is this very model" in first.reason("first")


# Files that change while a run reads them


def test_a_file_that_changes_while_it_is_read_ends_the_run_and_one_that_changes_later_does_no_harm(
    first: Folders,
) -> None:
    path, other = first.top / "en2fr.rel", first.top / "other.rel"
    content = (SAMPLE / path.name).read_bytes()
    # After it was hashed for the cache's keys: the run ends, and leaves nothing behind that a later one would take.
    path.write_bytes(content)
    other.write_bytes(content[: content.rindex(b"\n", 0, -1) + 1])
    first.run("meanwhile", f"data.judgments={path}", code=1, swap=Swap("CollectionGen", path, other))
    assert f"{path} must not change while a run reads it (data.judgments)" in first.said
    # After it was read.
    path.write_bytes(content)
    other.write_bytes(b"")
    assert first.run("meanwhile", f"data.judgments={path}", swap=Swap("ImportSchemaGen", path, other)) == ALL
    assert first.evaluation("meanwhile") == first.expected


# Files of a stage that are not those it made


def test_a_changed_byte_in_an_exported_vocabulary_is_not_pushed(first: Folders) -> None:
    first.run("first")
    folder, newest = first.top / "first", max(first.versions("first"), key=int)
    expected = tree(folder / "serving" / newest)
    shutil.rmtree(folder / "serving")
    for vocabulary in folder.glob("artifacts/Trainer/model/*/Format-Serving/assets/query_vocabulary"):
        vocabulary.write_bytes(vocabulary.read_bytes().replace(b"the\n", b"thE\n"))
    assert first.run("first") == {"Trainer"}
    assert RESTORED in first.said
    (pushed,) = first.versions("first")
    for name in ("assets/query_vocabulary", "variables/variables.data-00000-of-00001"):
        assert model(folder / "serving" / pushed)[name] == expected[name]


def test_artifacts_of_another_run_beside_newer_metadata_are_made_again(first: Folders) -> None:
    folder = first.top / "put back"
    first.run("put back")
    shutil.copytree(folder / "artifacts", first.top / "artifacts of before", symlinks=True)
    shutil.rmtree(folder)
    first.run("put back", "training.seed=2")
    expected = first.evaluation("put back")
    assert expected != first.expected
    shutil.rmtree(folder / "artifacts")
    (first.top / "artifacts of before").rename(folder / "artifacts")
    assert {"Trainer", "Evaluator"} <= first.run("put back", "training.seed=2")
    assert first.evaluation("put back") == expected


# What is ours


def test_damaged_metadata_say_how_to_go_on(first: Folders) -> None:
    metadata = first.top / "first" / "metadata.sqlite"
    metadata.rename(first.top / "metadata.sqlite")
    metadata.write_text("no database")
    first.run("first", code=1)
    assert f"{metadata} must hold the metadata of earlier runs, and cannot be used" in first.said
    assert "move it away, and run again; no stage is reused" in first.said
    (first.top / "metadata.sqlite").replace(metadata)
    assert first.run("first") == set()


# A store that is copied or moved; the last tests, for they leave other runs in `first`


def test_a_copied_output_writes_nothing_into_the_original(first: Folders) -> None:
    shutil.copytree(first.top / "first", first.top / "copy", symlinks=True)
    lost = next((first.top / "first").glob("artifacts/Evaluator/evaluation/*/run.trec"))
    content = lost.read_bytes()
    lost.unlink()
    before = tree(first.top / "first")
    assert first.run("copy") == ALL
    assert tree(first.top / "first") == before
    assert first.evaluation("copy") == first.expected
    lost.write_bytes(content)
    assert first.run("first") == set()


def test_a_moved_output_uses_nothing_of_the_folder_that_took_its_place(first: Folders) -> None:
    (first.top / "first").rename(first.top / "moved")
    assert first.run("first", "data.negatives=10") == ALL
    taken = tree(first.top / "first")
    assert first.evaluation("first") != first.expected
    assert first.run("moved") == ALL
    assert f"{first.top / 'moved'} was moved or copied: its artifacts belong to another folder" in first.said
    assert first.evaluation("moved") == first.expected
    assert tree(first.top / "first") == taken
    assert first.run("moved") == set()
    assert "moved or copied" not in first.said

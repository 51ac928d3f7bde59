"""Runs on a store that was damaged, moved, copied or swapped in between: none lies, and no file of others is lost."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from pipeline.layout import ARTIFACTS, METADATA_FILE, SERVING
from pipeline.tfx_interfaces import opened, sqlite_connection
from schemas.errors import DataError
from tests.moments import put_back, read_files
from tests.pipeline.toy_pipeline import DATA_STAGE, DECIDES, FILES, STAGES, Toy

pytestmark = pytest.mark.stages

CACHED: Final = {**dict.fromkeys(STAGES, "cached"), DECIDES: "run"}
RUN: Final = dict.fromkeys(STAGES, "run")
GRAPH: Final = "Format-Serving/saved_model.pb"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Toy, object]:
    """A run that ended, and the files of its folder."""
    toy = Toy(tmp_path_factory.mktemp("toy") / "toy")
    assert toy.run() == RUN
    return toy, read_files(toy.folder)


@pytest.fixture
def toy(finished) -> Toy:
    """The finished run, as it was when it ended."""
    toy, files = finished
    put_back(toy.folder, files)
    return toy


def test_an_identical_run_repeats_nothing(toy: Toy) -> None:
    before = toy.results()
    assert toy.run() == CACHED
    assert toy.results() == before
    assert toy.faults() == []


# Artifacts that are not as their stage made them


def damage_record(toy: Toy) -> None:
    """Cuts the record of the digests of the Trainer's files."""
    with opened(sqlite_connection(toy.output / METADATA_FILE)) as store:
        (execution,) = store.get_executions_by_id([int(toy.artifact("Trainer", "model").name)])
        record = execution.custom_properties["files"]
        record.string_value = record.string_value[1:]
        store.put_executions([execution])


def of_model(change: Callable[[Path], object]) -> Callable[[Toy], object]:
    return lambda toy: change(toy.artifact("Trainer", "model"))


DAMAGES: Final = {
    "missing file": of_model(lambda model: (model / GRAPH).unlink()),
    "empty file": of_model(lambda model: (model / GRAPH).write_bytes(b"")),
    "changed byte": of_model(lambda model: (model / GRAPH).write_bytes(b"S" + (model / GRAPH).read_bytes()[1:])),
    "renamed file": of_model(lambda model: (model / GRAPH).rename(model / "Format-Serving" / "model.pb")),
    "missing folder": of_model(shutil.rmtree),
    "missing folder of folders": of_model(lambda model: shutil.rmtree(model.parent)),
    "missing file of another output": lambda toy: (toy.artifact("Trainer", "model_run") / "events").unlink(),
    "cut record": damage_record,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_stage_whose_files_are_lost_or_changed_is_repeated_and_no_other(toy: Toy, damage) -> None:
    before = toy.results()
    damage(toy)
    shutil.rmtree(toy.output / SERVING)
    assert toy.run() == {**CACHED, "Trainer": "restored"}
    assert toy.results() == before
    assert toy.faults() == []
    assert toy.run() == CACHED
    assert toy.results() == before


def test_every_stage_but_the_deciding_one_is_restored(toy: Toy) -> None:
    before = toy.results()
    for path in (toy.output / ARTIFACTS).glob("*/*/*/**/*"):
        if path.is_file():
            path.unlink()
    assert toy.run() == {**dict.fromkeys(STAGES, "restored"), DECIDES: "run"}
    assert toy.results() == before


def test_artifacts_of_another_run_beside_newer_metadata_are_made_again(toy: Toy) -> None:
    shutil.copytree(toy.output / ARTIFACTS, toy.folder / "of before")
    shutil.rmtree(toy.output)
    toy.run("training.seed=2")
    expected = toy.results()
    shutil.rmtree(toy.output / ARTIFACTS)
    (toy.folder / "of before").rename(toy.output / ARTIFACTS)
    assert toy.run("training.seed=2") == {**CACHED, "Trainer": "restored", "Evaluator": "restored"}
    assert toy.results() == expected


def test_a_file_that_no_stage_wrote_is_named_for_stages_read_all_files_of_some_folders(toy: Toy) -> None:
    copy = toy.artifact(DATA_STAGE) / "copy.tsv"
    copy.write_text("theirs")
    with pytest.raises(DataError, match=f"{copy.relative_to(toy.output / ARTIFACTS / DATA_STAGE)}"):
        toy.run()
    assert copy.read_text() == "theirs"
    copy.unlink()
    assert toy.run() == CACHED


def test_what_no_run_uses_is_removed_and_what_is_the_user_s_stays(toy: Toy) -> None:
    artifacts, before = toy.output / ARTIFACTS, toy.results()
    for left in ("Trainer/model/77/half", "Trainer/model_run/1/half", "Evaluator/.system/executor_execution/8/output"):
        (artifacts / left).parent.mkdir(parents=True)
        (artifacts / left).write_text("of a killed run")
    assert toy.run() == CACHED
    assert toy.results() == before
    theirs = ("notes", "Trainer/notes", "Trainer/model/best.txt", "mine/of/2024", "checkpoints/5eed/epoch/3/weights")
    for name in theirs:
        (artifacts / name).parent.mkdir(parents=True, exist_ok=True)
        (artifacts / name).write_text("theirs")
    toy.run()
    assert {(artifacts / name).read_text() for name in theirs} == {"theirs"}


# Metadata, and whole folders


def test_damaged_metadata_are_named_and_can_be_put_back(toy: Toy) -> None:
    metadata = toy.output / METADATA_FILE
    metadata.rename(toy.folder / "kept")
    for content in (b"no database", (toy.folder / "kept").read_bytes()[:20000]):
        metadata.write_bytes(content)
        with pytest.raises(DataError, match=f"{metadata}.*move it away"):
            toy.run()
    (toy.folder / "kept").replace(metadata)
    assert toy.run() == CACHED
    metadata.unlink()
    before = toy.results()
    assert toy.run() == RUN
    assert toy.results() == before


def test_a_copied_output_writes_nothing_into_the_original(toy: Toy) -> None:
    original, before = read_files(toy.output), toy.results()
    toy.output = Path(shutil.copytree(toy.output, toy.folder / "copy", symlinks=True))
    (toy.artifact("Evaluator") / "run.trec").write_text("changed")
    assert toy.run() == RUN
    copied = toy.results()
    toy.output = toy.folder / "out"
    assert read_files(toy.output) == original
    assert [name for name, _ in copied] == [name for name, _ in before]
    assert toy.run() == CACHED


def test_a_moved_output_uses_nothing_of_the_folder_that_took_its_place(
    toy: Toy, caplog: pytest.LogCaptureFixture
) -> None:
    metrics = (toy.output / "evaluation" / "metrics.json").read_bytes()
    toy.output = toy.output.rename(toy.folder / "moved")
    successor = Toy(toy.folder)
    assert successor.run("training.seed=2") == RUN
    taken = read_files(successor.output)
    with caplog.at_level("INFO", "clir.run"):
        assert toy.run() == RUN
        assert str(toy.output) in caplog.text
        caplog.clear()
        assert toy.run() == CACHED
        assert str(toy.output) not in caplog.text  # a move is reported once
    assert (toy.output / "evaluation" / "metrics.json").read_bytes() == metrics
    assert read_files(successor.output) == taken


# Input files that change meanwhile


@pytest.mark.parametrize("role", FILES)
def test_an_input_that_changes_after_it_was_hashed_ends_the_run_and_leaves_nothing_to_take(toy: Toy, role: str) -> None:
    expected = toy.results()
    shutil.rmtree(toy.output)
    config, path = toy.config(), toy.folder / role
    path.write_text(FILES[role] + FILES[role])
    with pytest.raises(DataError, match=rf"{path} .*data\.{role}"):
        toy.run(config=config)
    path.write_text(FILES[role])
    assert toy.run() == RUN
    assert toy.results() == expected
    assert toy.faults() == []


def test_an_input_that_changes_after_it_was_read_does_no_harm(toy: Toy) -> None:
    expected = toy.results()
    shutil.rmtree(toy.output)
    config = toy.config()

    def change(number: int, total: int, stage: str) -> None:
        if stage != DATA_STAGE:
            (toy.folder / "judgments").write_text("")

    assert toy.run(config=config, on_start=change) == RUN
    assert toy.results() == expected


def test_another_content_of_equal_size_and_time_runs_the_stages_that_read_it(toy: Toy) -> None:
    path = toy.folder / "queries"
    status = path.stat()
    path.write_text(FILES["queries"].replace("Wolf", "Wulf"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert toy.run() == RUN
    assert len(toy.versions()) == 2
    path.write_text(FILES["queries"])
    assert toy.run() == CACHED
    assert len(toy.versions()) == 3  # the model of before is the newest again

"""Runs on a store that was damaged, moved, copied or swapped in between: none lies, and no file of others is lost."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from pipeline.layout import ARTIFACTS, METADATA_FILE, SERVING
from pipeline.stages import How
from pipeline.tfx_interfaces import opened, sqlite_connection
from schemas.errors import DataError
from tests.moments import Files, put_back, read_files
from tests.pipeline.toy_pipeline import FILES, GRAPH, STAGES, Toy

pytestmark = pytest.mark.stages


def hows(*first: How) -> dict[str, How]:
    """How the stages come by their outputs: the first ones so, the others from the cache; the last runs always."""
    return dict(zip(STAGES, (*first, *["cached"] * (len(STAGES) - len(first) - 1), "run"), strict=True))


CACHED, RUN = hows(), hows("run", "run", "run")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Files]:
    """The folder of a run that ended, and what it held."""
    toy = Toy(tmp_path_factory.mktemp("toy"))
    assert toy.run() == RUN
    return toy.folder, read_files(toy.folder)


@pytest.fixture
def toy(finished: tuple[Path, Files]) -> Toy:
    """The run as it ended."""
    put_back(*finished)
    return Toy(finished[0])


# Artifacts that are not as their stage made them


def damage_record(toy: Toy) -> None:
    """Cuts the record of the digests of the Trainer's files."""
    with opened(sqlite_connection(toy.output / METADATA_FILE)) as store:
        (execution,) = store.get_executions_by_id([int(toy.artifact("Trainer").name)])
        record = execution.custom_properties["files"]
        record.string_value = record.string_value[1:]
        store.put_executions([execution])


def at_model(change: Callable[[Path], object]) -> Callable[[Toy], object]:
    return lambda toy: change(toy.artifact("Trainer", "model"))


DAMAGES: Final = {
    "missing file": at_model(lambda model: (model / GRAPH).unlink()),
    "empty file": at_model(lambda model: (model / GRAPH).write_bytes(b"")),
    "changed byte": at_model(lambda model: (model / GRAPH).write_bytes(b"S" + (model / GRAPH).read_bytes()[1:])),
    "renamed file": at_model(lambda model: (model / GRAPH).rename(model / "Format-Serving" / "model.pb")),
    "missing folder": at_model(shutil.rmtree),
    "missing folder of folders": at_model(lambda model: shutil.rmtree(model.parent)),
    "missing file of another output": lambda toy: (toy.artifact("Trainer", "model_run") / "events").unlink(),
    "cut record": damage_record,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_stage_whose_files_are_lost_or_changed_is_repeated_and_no_other(toy: Toy, damage) -> None:
    before = toy.results()
    damage(toy)
    shutil.rmtree(toy.output / SERVING)
    assert toy.run() == hows("cached", "restored")
    assert toy.results() == before
    assert toy.run() == CACHED
    assert toy.results() == before


def test_artifacts_of_another_run_beside_newer_metadata_are_made_again(toy: Toy) -> None:
    (toy.output / ARTIFACTS).rename(toy.folder / "of before")
    shutil.rmtree(toy.output)
    toy.run("training.seed=2")
    expected = toy.results()
    shutil.rmtree(toy.output / ARTIFACTS)
    (toy.folder / "of before").rename(toy.output / ARTIFACTS)
    assert toy.run("training.seed=2") == hows("cached", "restored", "restored")
    assert toy.results() == expected


def test_a_file_that_no_stage_wrote_is_named_for_stages_read_all_files_of_some_folders(toy: Toy) -> None:
    copy = toy.artifact("CollectionGen") / "copy.tsv"
    copy.write_text("theirs")
    with pytest.raises(DataError, match="/".join(copy.parts[-3:])):
        toy.run()
    assert copy.read_text() == "theirs"
    copy.unlink()
    assert toy.run() == CACHED


def test_what_no_run_uses_is_removed_and_what_is_the_user_s_stays(toy: Toy) -> None:
    def write(*names: str) -> None:
        for path in (toy.output / ARTIFACTS / name for name in names):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("text")

    before = toy.results()
    write("Trainer/model/77/half", "Trainer/model_run/1/half", "Evaluator/.system/executor_execution/8/output")
    assert toy.run() == CACHED
    assert toy.results() == before
    theirs = ("notes", "Trainer/notes", "Trainer/model/best.txt", "mine/of/2024", "checkpoints/5eed/epoch/3/weights")
    write(*theirs)
    toy.run()
    assert all((toy.output / ARTIFACTS / name).read_text() == "text" for name in theirs)


# Metadata, and whole folders


def test_damaged_metadata_are_named_and_can_be_put_back(toy: Toy) -> None:
    metadata, before = toy.output / METADATA_FILE, toy.results()
    content = metadata.read_bytes()
    for damaged in (b"no database", content[: len(content) // 2]):
        metadata.write_bytes(damaged)
        with pytest.raises(DataError, match=f"{metadata} .*move it away"):
            toy.run()
    metadata.write_bytes(content)
    assert toy.run() == CACHED
    metadata.unlink()
    assert toy.run() == RUN
    assert toy.results() == before


def test_a_copied_output_writes_nothing_into_the_original(toy: Toy) -> None:
    original = read_files(toy.output)
    shutil.copytree(toy.output, toy.folder / "copy", symlinks=True)
    assert toy.run(f"output={toy.folder / 'copy'}") == RUN
    assert read_files(toy.output) == original
    assert toy.run() == CACHED


def test_a_moved_output_uses_nothing_of_the_folder_that_took_its_place(toy: Toy, caplog) -> None:
    metrics = (toy.output / "evaluation" / "metrics.json").read_bytes()
    moved = toy.output.rename(toy.folder / "moved")
    assert toy.run("training.seed=2") == RUN
    taken = read_files(toy.output)
    with caplog.at_level("INFO", "clir.run"):
        assert toy.run(f"output={moved}") == RUN
        assert str(moved) in caplog.text
        caplog.clear()
        assert toy.run(f"output={moved}") == CACHED
        assert str(moved) not in caplog.text  # a move is reported once
    assert (moved / "evaluation" / "metrics.json").read_bytes() == metrics
    assert read_files(toy.output) == taken


# Input files that change


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


def test_an_input_that_changes_after_it_was_read_does_no_harm(toy: Toy) -> None:
    expected = toy.results()
    shutil.rmtree(toy.output)
    assert toy.run(after=lambda name: (toy.folder / "judgments").write_text("")) == RUN
    assert toy.results() == expected


def test_another_content_of_equal_size_and_time_runs_all_and_going_back_pushes_the_earlier_model_anew(toy: Toy) -> None:
    path = toy.folder / "queries"
    status = path.stat()
    path.write_text(FILES["queries"].replace("Wolf", "Wulf"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert toy.run() == RUN
    assert len(toy.versions()) == 2
    path.write_text(FILES["queries"])
    assert toy.run() == CACHED
    assert len(toy.versions()) == 3

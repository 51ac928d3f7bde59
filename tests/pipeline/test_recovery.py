"""pipeline/recovery.py, on real metadata in SQLite: what is removed, what is whole, what is put back."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from ml_metadata import MetadataStore
from ml_metadata.proto import metadata_store_pb2
from ml_metadata.proto.metadata_store_pb2 import Artifact, Execution

from pipeline.recovery import are_whole, record_files, recover, replace_files
from schemas.errors import DataError

pytestmark = pytest.mark.stages  # it imports TFX

FILES = {"saved_model.pb": "graph", "variables/variables.index": "tables"}


class Workspace:
    """A folder of artifacts, and the metadata that record them."""

    def __init__(self, root: Path, metadata_file: Path) -> None:
        self.root = root
        config = metadata_store_pb2.ConnectionConfig()
        config.sqlite.filename_uri = str(metadata_file)
        config.sqlite.connection_mode = metadata_store_pb2.SqliteMetadataSourceConfig.READWRITE_OPENCREATE
        self.store = MetadataStore(config)
        self._artifact_type = self.store.put_artifact_type(metadata_store_pb2.ArtifactType(name="Model"))
        self._execution_type = self.store.put_execution_type(metadata_store_pb2.ExecutionType(name="Trainer"))

    def artifact(
        self,
        place: str,
        state: "Artifact.State" = Artifact.LIVE,
        files: Mapping[str, str] = FILES,
        recorded: bool = True,
    ) -> Artifact:
        """Makes an artifact `<stage>/<output>/<execution>` with its files, and records what it holds.

        The metadata number executions from 1 on: those before this one are made, too.
        """
        artifact = Artifact(uri=str(self.root / place), type_id=self._artifact_type, state=state)
        write(self.root / place, files)
        while len(self.store.get_executions()) < int(Path(place).name):
            self.execution(Execution.COMPLETE)
        if recorded:
            self.record([artifact.uri])
        (artifact.id,) = self.store.put_artifacts([artifact])
        return self.stored(artifact)

    def execution(self, state: "Execution.State") -> int:
        execution = Execution(type_id=self._execution_type, last_known_state=state)
        (number,) = self.store.put_executions([execution])
        return number

    def stored(self, artifact: Artifact) -> Artifact:
        """The record of an artifact in the metadata."""
        (stored,) = self.store.get_artifacts_by_id([artifact.id])
        return stored

    def state(self, execution: int) -> int:
        (stored,) = self.store.get_executions_by_id([execution])
        return stored.last_known_state

    def record(self, uris: Sequence[str]) -> None:
        record_files(self.store, uris)

    def is_whole(self, *uris: str) -> bool:
        return are_whole(self.store, uris)

    def recover(self) -> bool:
        return recover(self.store, self.root)


def write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


def contents(folder: Path | str) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "artifacts", tmp_path / "metadata.sqlite")


# Leftovers


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Execution.NEW, Execution.FAILED),
        (Execution.RUNNING, Execution.FAILED),
        (Execution.COMPLETE, Execution.COMPLETE),
        (Execution.CACHED, Execution.CACHED),
        (Execution.FAILED, Execution.FAILED),
    ],
)
def test_an_execution_that_never_ended_has_failed(workspace: Workspace, before: int, after: int) -> None:
    execution = workspace.execution(before)
    workspace.recover()
    assert workspace.state(execution) == after


def test_what_belongs_to_no_living_artifact_is_removed(workspace: Workspace) -> None:
    workspace.artifact("Trainer/model/7")
    expected = contents(workspace.root)
    for number, state in enumerate((Artifact.DELETED, Artifact.ABANDONED, Artifact.PENDING), 8):
        workspace.artifact(f"Trainer/model/{number}", state)
    write(workspace.root / "Trainer" / "model" / "77", FILES)
    write(workspace.root / "Trainer" / "model_run" / "7", FILES)
    write(workspace.root / "Trainer" / ".system" / "executor_execution" / "8", {"executor_output.pb": "none"})
    workspace.recover()
    assert contents(workspace.root) == expected
    assert [path.name for path in (workspace.root / "Trainer" / "model").iterdir() if path.is_dir()] == ["7"]


def test_living_artifacts_stay_whole_and_so_does_the_kept_folder(workspace: Workspace) -> None:
    uris = [
        workspace.artifact(place).uri
        for place in ("Trainer/model/7", "Evaluator/evaluation/8", "Transform/transform_graph/12")
    ]
    write(workspace.root / "checkpoints" / "5eed" / "epoch" / "3", FILES)
    before = contents(workspace.root)
    workspace.recover()
    assert contents(workspace.root) == before
    assert all(map(workspace.is_whole, uris))


def test_what_was_decided_on_an_earlier_run_is_removed(workspace: Workspace) -> None:
    decided, made = workspace.artifact("Gate/blessing/7"), workspace.artifact("Trainer/model/6")
    assert not workspace.recover()
    assert workspace.stored(decided).state == Artifact.DELETED
    assert not Path(decided.uri).exists()
    assert workspace.is_whole(made.uri)


def test_a_file_of_the_user_s_among_the_artifacts_stays(workspace: Workspace) -> None:
    workspace.artifact("Trainer/model/7")
    theirs = {
        "notes.txt": "theirs",
        "Trainer/notes.txt": "theirs",
        "Trainer/model/best.txt": "theirs",
        "mine/of/2024": "theirs",
    }
    write(workspace.root, theirs)
    before = contents(workspace.root)
    workspace.recover()
    assert contents(workspace.root) == before


# A store that was moved or copied


def test_artifacts_of_another_store_are_not_used_and_left_alone(workspace: Workspace, tmp_path: Path) -> None:
    artifact = workspace.artifact("Trainer/model/7")
    before = contents(workspace.root)
    copied = Path(shutil.copytree(workspace.root, tmp_path / "elsewhere" / "artifacts"))
    original, workspace.root = workspace.root, copied
    assert workspace.recover()
    assert workspace.stored(artifact).state == Artifact.DELETED
    assert contents(original) == before
    assert contents(copied) == {}  # which belongs to no artifact of this store
    assert not workspace.recover()  # a move is reported once


def test_a_store_that_lies_within_another_s_path_is_another(workspace: Workspace) -> None:
    elsewhere = workspace.artifact("../artifacts_of_before/Trainer/model/7")
    elsewhere.uri = str(Path(elsewhere.uri).resolve())
    workspace.store.put_artifacts([elsewhere])
    assert workspace.recover()
    assert contents(elsewhere.uri) == FILES


def test_a_first_run_finds_nothing_to_remove(workspace: Workspace) -> None:
    workspace.recover()
    assert not workspace.root.exists()


# Missing folders


def test_a_living_artifact_s_missing_folder_is_made_and_found_to_lack_its_files(workspace: Workspace) -> None:
    lost, whole = (workspace.artifact(place) for place in ("Trainer/model/7", "Evaluator/evaluation/8"))
    shutil.rmtree(workspace.root / "Trainer" / "model")
    workspace.recover()
    assert Path(lost.uri).is_dir() and not workspace.is_whole(lost.uri)
    assert contents(whole.uri) == FILES and workspace.is_whole(whole.uri)


def test_no_folder_is_made_for_an_artifact_that_ended(workspace: Workspace) -> None:
    deleted = workspace.artifact("Trainer/model/8", Artifact.DELETED)
    shutil.rmtree(deleted.uri)
    workspace.recover()
    assert not Path(deleted.uri).exists()


# Whole artifacts


def test_an_artifact_is_whole_as_it_was_recorded(workspace: Workspace) -> None:
    assert workspace.is_whole(workspace.artifact("Trainer/model/7").uri)
    assert workspace.is_whole(workspace.artifact("Evaluator/blessing/8", files={}).uri)


DAMAGES: Mapping[str, Callable[[Path], object]] = {
    "missing file": lambda folder: (folder / "variables" / "variables.index").unlink(),
    "shorter file": lambda folder: (folder / "saved_model.pb").write_text(FILES["saved_model.pb"][:-1]),
    "changed byte": lambda folder: (folder / "saved_model.pb").write_text("G" + FILES["saved_model.pb"][1:]),
    "missing folder": lambda folder: shutil.rmtree(folder),
    "renamed file": lambda folder: (folder / "saved_model.pb").rename(folder / "model.pb"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_artifact_is_whole_while_every_recorded_file_is_there_as_it_was(workspace: Workspace, damage: str) -> None:
    artifact = workspace.artifact("Trainer/model/7")
    DAMAGES[damage](Path(artifact.uri))
    assert not workspace.is_whole(artifact.uri)


def test_all_artifacts_of_a_stage_are_whole_or_it_is_repeated(workspace: Workspace) -> None:
    uris = [workspace.artifact(f"Trainer/{name}/7", recorded=False).uri for name in ("model", "model_run")]
    workspace.record(uris)
    assert workspace.is_whole(*uris)
    (Path(uris[1]) / "saved_model.pb").unlink()
    assert not workspace.is_whole(*uris)


def test_a_file_that_no_stage_wrote_is_named_for_stages_read_all_files_of_some_folders(workspace: Workspace) -> None:
    artifact = workspace.artifact("WikiClirExampleGen/examples/7", files={"Split-train/data-00000.gz": "lists"})
    (Path(artifact.uri) / "Split-train" / "copy.gz").write_text("lists")
    with pytest.raises(
        DataError, match=r"ExampleGen must hold only files that runs wrote.*examples/7/Split-train/copy\.gz"
    ):
        workspace.is_whole(artifact.uri)
    assert (Path(artifact.uri) / "Split-train" / "copy.gz").exists()


def test_an_artifact_of_a_copy_beside_other_metadata_is_not_whole(workspace: Workspace, tmp_path: Path) -> None:
    ours = workspace.artifact("Trainer/model/7")
    other = Workspace(tmp_path / "other", tmp_path / "other.sqlite")
    theirs = other.artifact("Trainer/model/7", files={**FILES, "saved_model.pb": "GRAPH"})  # of equal size
    shutil.rmtree(ours.uri)
    shutil.copytree(theirs.uri, ours.uri)
    assert not workspace.is_whole(ours.uri)


def test_an_artifact_without_a_record_is_not_whole(workspace: Workspace) -> None:
    artifact = workspace.artifact("Trainer/model/7", recorded=False)
    assert not workspace.is_whole(artifact.uri)
    workspace.record([artifact.uri])
    assert workspace.is_whole(artifact.uri)


def test_an_artifact_with_a_damaged_record_is_not_whole(workspace: Workspace) -> None:
    artifact = workspace.artifact("Trainer/model/7")
    (execution,) = workspace.store.get_executions_by_id([7])
    execution.custom_properties["files"].string_value = execution.custom_properties["files"].string_value[1:]
    workspace.store.put_executions([execution])
    assert not workspace.is_whole(artifact.uri)


# Files that are put back


def test_the_files_of_a_repeated_stage_take_the_lost_ones_place(workspace: Workspace) -> None:
    lost = workspace.artifact("Trainer/model/7", files={**FILES, "assets/vocabulary": "words"})
    (Path(lost.uri) / "saved_model.pb").unlink()
    new = workspace.artifact("Trainer/model/8", recorded=False)
    replace_files(workspace.store, [lost], [new])
    assert contents(lost.uri) == FILES  # nothing of the damaged ones is left
    assert workspace.is_whole(lost.uri)
    assert not Path(new.uri).exists()
    assert workspace.stored(new).state == Artifact.DELETED
    before = contents(workspace.root)
    workspace.recover()
    assert contents(workspace.root) == before


def test_files_half_put_back_are_not_whole(workspace: Workspace) -> None:
    lost = workspace.artifact("Trainer/model/7", files={**FILES, "events.1": "before"})
    new = workspace.artifact("Trainer/model/8", files={**FILES, "events.2": "after"}, recorded=False)
    gone = Artifact(uri=str(workspace.root / "Trainer/model_run/8"), type_id=new.type_id)
    other = workspace.artifact("Trainer/model_run/7", recorded=False)
    with pytest.raises(OSError):
        replace_files(workspace.store, [lost, other], [new, gone])
    assert not workspace.is_whole(lost.uri, other.uri)


def test_the_lost_artifact_s_metadata_stay_as_they_are_for_they_are_in_cache_keys(workspace: Workspace) -> None:
    lost, new = workspace.artifact("Trainer/model/7"), workspace.artifact("Trainer/model/8", recorded=False)
    replace_files(workspace.store, [lost], [new])
    assert workspace.stored(lost).SerializeToString(deterministic=True) == lost.SerializeToString(deterministic=True)


def test_the_lost_artifact_s_folder_may_be_gone(workspace: Workspace) -> None:
    lost, new = workspace.artifact("Trainer/model/7"), workspace.artifact("Trainer/model/8", recorded=False)
    shutil.rmtree(lost.uri)
    replace_files(workspace.store, [lost], [new])
    assert contents(lost.uri) == FILES

"""What stands behind the cache: the folders of artifacts, whether they are whole, and what killed runs left among them.

An artifact lies in `<stage>/<output>/<execution>`; the file `.<execution>.files` beside it tells what it holds.
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import ml_metadata
from ml_metadata.proto import metadata_store_pb2

from pipeline.atomic_file import write_atomically

_UNFINISHED = (metadata_store_pb2.Execution.NEW, metadata_store_pb2.Execution.RUNNING)


def remove_leftovers(store: ml_metadata.MetadataStore, root: Path, keep: str) -> None:
    """Removes what runs that were killed left: folders that belong to no artifact, and TFX's working folders.

    The caller holds the output folder, so no execution is alive.

    Args:
      store: the metadata.
      root: folder of all artifacts.
      keep: the one folder in it that is no stage's.
    """
    dead = [execution for execution in store.get_executions() if execution.last_known_state in _UNFINISHED]
    for execution in dead:
        execution.last_known_state = metadata_store_pb2.Execution.FAILED
    store.put_executions(dead)
    # By their ends alone: a whole output folder may have been moved.
    living = {Path(uri).parts[-3:] for uri in _living(store)}
    for stage in root.glob("*"):
        if stage.name == keep:
            continue
        shutil.rmtree(stage / ".system", ignore_errors=True)
        for path in stage.glob("*/*"):
            if (*path.parts[-3:-1], path.name.removeprefix(".").removesuffix(".files")) not in living:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def make_missing_folders(store: ml_metadata.MetadataStore, root: Path) -> None:
    """Makes the folder of every artifact under `root` that lost it.

    TFX takes a missing folder for a stage that never ran, and would run all that follows anew, too. An empty one is
    seen by `is_whole`, and the stage alone is repeated.
    """
    for uri in _living(store):
        if root in Path(uri).parents:
            Path(uri).mkdir(parents=True, exist_ok=True)


def record_files(uris: Iterable[str]) -> None:
    """Records what the artifacts of a stage hold, for `is_whole`."""
    for uri in uris:
        write_atomically(_record(uri), json.dumps(_sizes(Path(uri)), sort_keys=True, indent=1))


def is_whole(uri: str, folder: str | None = None) -> bool:
    """Whether every recorded file of an artifact is there, in its size; or in `folder`, which holds a copy of it."""
    if not has_record(uri):
        return False
    recorded: dict[str, int] = json.loads(_record(uri).read_text(encoding="utf-8"))
    return recorded.items() <= _sizes(Path(folder or uri)).items()


def has_record(uri: str) -> bool:
    """Whether it is known what an artifact holds."""
    return _record(uri).is_file()


def replace_files(
    store: ml_metadata.MetadataStore, lost: metadata_store_pb2.Artifact, new: metadata_store_pb2.Artifact
) -> None:
    """Moves the files of a repeated stage's artifact to where the lost ones were; the new artifact ends with that."""
    _record(lost.uri).unlink(missing_ok=True)
    shutil.rmtree(lost.uri, ignore_errors=True)
    new.state = metadata_store_pb2.Artifact.DELETED
    store.put_artifacts([new])
    shutil.move(new.uri, lost.uri)
    record_files([lost.uri])


def _living(store: ml_metadata.MetadataStore) -> list[str]:
    """Where the artifacts lie that the cache may use."""
    return [one.uri for one in store.get_artifacts() if one.state == metadata_store_pb2.Artifact.LIVE]


def _record(uri: str) -> Path:
    folder = Path(uri)
    return folder.with_name(f".{folder.name}.files")


def _sizes(folder: Path) -> dict[str, int]:
    """Size in bytes of every file under a folder, by its path there."""
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}

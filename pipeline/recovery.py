"""What stands behind the cache: whether the artifacts are this store's and whole, and what killed runs left among them.

A store is `artifacts/` and `metadata.sqlite` under one folder. An artifact lies in `<stage>/<output>/<execution>`; the
file `.<execution>.files` beside it tells what it holds.
"""

import json
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path

import ml_metadata
from ml_metadata.proto import metadata_store_pb2

from pipeline.output_folder import write_atomically
from pipeline.stages import STAGES

_UNFINISHED = (metadata_store_pb2.Execution.NEW, metadata_store_pb2.Execution.RUNNING)
_LIVE, _DELETED = metadata_store_pb2.Artifact.LIVE, metadata_store_pb2.Artifact.DELETED


def recover(store: ml_metadata.MetadataStore, root: Path, superseded: Collection[str]) -> bool:
    """Makes a store one that a run can begin with.

    Artifacts that lie outside it are none of its own: it was moved or copied, and another store may hold them now. They
    are never read; the stages that made them run anew. What runs that were killed left is removed: folders that belong
    to no artifact, and TFX's working folders. The caller holds the output folder, so no execution is alive.

    Args:
      store: the metadata.
      root: folder of all artifacts.
      superseded: the stages that run on every run; what they decided before is of no more use.

    Returns:
      whether the store was moved or copied.
    """
    dead = [execution for execution in store.get_executions() if execution.last_known_state in _UNFINISHED]
    for execution in dead:
        execution.last_known_state = metadata_store_pb2.Execution.FAILED
    store.put_executions(dead)
    living = [artifact for artifact in store.get_artifacts() if artifact.state == _LIVE]
    foreign = [artifact for artifact in living if root not in Path(artifact.uri).parents]
    old = [artifact for artifact in living if Path(artifact.uri).parts[-3] in superseded]
    ended = {artifact.id: artifact for artifact in [*foreign, *old]}
    for artifact in ended.values():
        artifact.state = _DELETED
    store.put_artifacts([*ended.values()])
    kept = [Path(artifact.uri) for artifact in living if artifact.id not in ended]
    _sweep(root, {path.relative_to(root) for path in kept})
    for path in kept:
        # TFX takes a missing folder for a stage that never ran, and would run all that follows anew, too. An empty one
        # is seen by `is_whole`, and the stage alone is repeated.
        path.mkdir(parents=True, exist_ok=True)
    return bool(foreign)


def _sweep(root: Path, living: Collection[Path]) -> None:
    """Removes the folders of executions that made no living artifact, and the records of such."""
    for stage in (root / name for name in STAGES):
        shutil.rmtree(stage / ".system", ignore_errors=True)
        for path in stage.glob("*/*"):
            execution = path.name.removeprefix(".").removesuffix(".partial").removesuffix(".files")
            is_living = path.relative_to(root).with_name(execution) in living and path.suffix != ".partial"
            if is_living or not execution.isdigit():
                continue
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def record_files(uris: Iterable[str]) -> None:
    """Records what the artifacts of a stage hold, for `is_whole`."""
    for uri in uris:
        write_atomically(_record(uri), json.dumps(_sizes(Path(uri)), sort_keys=True, indent=1))


def is_whole(uri: str) -> bool:
    """Whether every recorded file of an artifact is there, in its size."""
    if not _record(uri).is_file():
        return False
    recorded: dict[str, int] = json.loads(_record(uri).read_text(encoding="utf-8"))
    return recorded.items() <= _sizes(Path(uri)).items()


def replace_files(
    store: ml_metadata.MetadataStore, lost: metadata_store_pb2.Artifact, new: metadata_store_pb2.Artifact
) -> None:
    """Moves the files of a repeated stage's artifact to where the lost ones were; the new artifact ends with that."""
    _record(lost.uri).unlink(missing_ok=True)
    shutil.rmtree(lost.uri, ignore_errors=True)
    new.state = _DELETED
    store.put_artifacts([new])
    shutil.move(new.uri, lost.uri)
    record_files([lost.uri])


def _record(uri: str) -> Path:
    folder = Path(uri)
    return folder.with_name(f".{folder.name}.files")


def _sizes(folder: Path) -> dict[str, int]:
    """Size in bytes of every file under a folder, by its path there."""
    return {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}

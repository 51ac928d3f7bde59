"""Keeps the store behind the cache sound: its artifacts are its own and whole, and killed runs leave nothing in it.

A store is `artifacts/` and `metadata.sqlite` in one folder. An artifact lies in `<stage>/<output>/<execution>`, and the
file `.<execution>.files` beside it lists its files.
"""

import json
import logging
import shutil
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path

import ml_metadata
from ml_metadata.proto import metadata_store_pb2

from pipeline.layout import ARTIFACTS, METADATA_FILE
from pipeline.output_folder import write_atomically
from pipeline.stages import ALWAYS_RUN, STAGES
from pipeline.tfx_interfaces import opened, sqlite_connection
from schemas.errors import DataError

log = logging.getLogger("clir.run")

_UNFINISHED = (metadata_store_pb2.Execution.NEW, metadata_store_pb2.Execution.RUNNING)
_LIVE, _DELETED = metadata_store_pb2.Artifact.LIVE, metadata_store_pb2.Artifact.DELETED


def open_store(folder: Path) -> metadata_store_pb2.ConnectionConfig:
    """Makes a store ready for a run.

    Args:
      folder: the store.

    Raises:
      DataError: the metadata cannot be used.
    """
    path = folder / METADATA_FILE
    if path.exists():
        _check_metadata(path)
    connection = sqlite_connection(path)
    with opened(connection) as store:
        if recover(store, folder / ARTIFACTS):
            log.info("%s was moved or copied: its artifacts belong to another folder, and its stages run again", folder)
    return connection


def _check_metadata(path: Path) -> None:
    """Refuses a file that is not a database, or is damaged."""
    try:
        with closing(sqlite3.connect(path)) as database:
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise DataError(
            f"{path} must hold the metadata of earlier runs, and cannot be used ({found}); move it away, and run "
            "again; no stage is reused."
        )


def recover(store: ml_metadata.MetadataStore, root: Path) -> bool:
    """Ends the artifacts that no run may use, and removes the files that killed runs left.

    Artifacts outside the root belong to another store, because this store was moved or copied. They are never read, and
    the stages that made them run again. The earlier outputs of `ALWAYS_RUN` are of no more use. Folders without an
    artifact and TFX's working folders are removed. The caller holds the output folder, so no execution is alive.

    Args:
      store: the metadata.
      root: folder of all artifacts.

    Returns:
      whether the store was moved or copied.
    """
    dead = [execution for execution in store.get_executions() if execution.last_known_state in _UNFINISHED]
    for execution in dead:
        execution.last_known_state = metadata_store_pb2.Execution.FAILED
    store.put_executions(dead)
    living = [artifact for artifact in store.get_artifacts() if artifact.state == _LIVE]
    foreign = [artifact for artifact in living if root not in Path(artifact.uri).parents]
    old = [artifact for artifact in living if Path(artifact.uri).parts[-3] in ALWAYS_RUN]
    ended = {artifact.id: artifact for artifact in [*foreign, *old]}
    for artifact in ended.values():
        artifact.state = _DELETED
    store.put_artifacts([*ended.values()])
    kept = [Path(artifact.uri) for artifact in living if artifact.id not in ended]
    _sweep(root, {path.relative_to(root) for path in kept})
    for path in kept:
        # Without the folder TFX would rerun the stage and all stages after it. An empty folder is not whole (see
        # `is_whole`), so that the stage alone is repeated.
        path.mkdir(parents=True, exist_ok=True)
    return bool(foreign)


def _sweep(root: Path, living: Collection[Path]) -> None:
    """Removes the folders of executions without a living artifact, and their records."""
    for stage in (root / name for name in STAGES):
        shutil.rmtree(stage / ".system", ignore_errors=True)
        for path in stage.glob("*/*"):
            execution = path.name.removeprefix(".").removesuffix(".partial").removesuffix(".files")
            is_living = path.relative_to(root).with_name(execution) in living and path.suffix != ".partial"
            if is_living or not execution.isdigit():
                continue
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def record_files(uris: Iterable[str]) -> None:
    """Records the files of a stage's artifacts, for `is_whole`."""
    for uri in uris:
        write_atomically(_record(uri), json.dumps(_sizes(Path(uri)), sort_keys=True, indent=1))


def is_whole(uri: str) -> bool:
    """Whether an artifact has every recorded file, with its recorded size."""
    if not _record(uri).is_file():
        return False
    recorded: dict[str, int] = json.loads(_record(uri).read_text(encoding="utf-8"))
    return recorded.items() <= _sizes(Path(uri)).items()


def replace_files(
    store: ml_metadata.MetadataStore, lost: metadata_store_pb2.Artifact, new: metadata_store_pb2.Artifact
) -> None:
    """Moves the files of a repeated stage's artifact into the place of the lost files, and ends the new artifact."""
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

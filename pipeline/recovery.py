"""Repairs the store behind the cache: its artifacts match the metadata again, and leftovers of killed runs are removed.

A store is a folder with `artifacts/` and `metadata.sqlite`. An artifact lies in `<stage>/<output>/<execution>`. The
metadata of that execution hold the digests of its files, which reveal artifacts from another store.
"""

import json
import logging
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import ml_metadata
from ml_metadata.proto import metadata_store_pb2

from pipeline.input_files import sha256_of_file
from pipeline.layout import ARTIFACTS, METADATA_FILE
from pipeline.stages import ALWAYS_RUN, STAGES
from pipeline.tfx_interfaces import opened, sqlite_connection
from schemas.errors import DataError
from schemas.json_files import parse_json

log = logging.getLogger("clir.run")

_UNFINISHED = (metadata_store_pb2.Execution.NEW, metadata_store_pb2.Execution.RUNNING)
_FILES: Final = "files"
"""The property of an execution that holds the digests of the files that it made."""
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
            (result,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        result = str(error)
    if result != "ok":
        raise DataError(
            f"The metadata of earlier runs in {path} cannot be used ({result}); move it away, and run again. Every "
            "stage then runs again."
        )


def recover(store: ml_metadata.MetadataStore, root: Path) -> bool:
    """Marks artifacts that no run may use as deleted, and removes the files that killed runs left.

    Artifacts outside the root belong to another store, because this store was moved or copied. They are never read, and
    the stages that made them run again. The earlier outputs of `ALWAYS_RUN` are no longer needed. Folders without an
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
        # `are_whole`), so that only this stage is repeated.
        path.mkdir(parents=True, exist_ok=True)
    return bool(foreign)


def _sweep(root: Path, living: Collection[Path]) -> None:
    """Removes the folders of executions without a living artifact."""
    for stage in (root / name for name in STAGES):
        shutil.rmtree(stage / ".system", ignore_errors=True)
        for path in stage.glob("*/*"):
            if path.name.isdigit() and path.relative_to(root) not in living:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def record_files(store: ml_metadata.MetadataStore, uris: Sequence[str]) -> None:
    """Records the digests of the files of a stage's artifacts, all of one execution, for `are_whole`."""
    _record(store, uris, json.dumps(_digests(uris), sort_keys=True))


def are_whole(store: ml_metadata.MetadataStore, uris: Sequence[str]) -> bool:
    """Whether a stage's artifacts hold, byte for byte, the files that were recorded.

    Raises:
      DataError: there is a file that no stage wrote. Stages would read it, because they read all files of a folder.
    """
    (execution,) = store.get_executions_by_id([_execution(uris)])
    try:
        recorded: dict[str, str] = parse_json(execution.custom_properties[_FILES].string_value)
    except ValueError:  # nothing was recorded, or the record is damaged
        return False
    present = _digests(uris)
    if not recorded.items() <= present.items():
        return False
    if extra := sorted(present.keys() - recorded.keys()):
        raise DataError(
            f"{Path(uris[0]).parents[1]} must hold only files that runs wrote, because stages read all files of a "
            f"folder; got {extra[0]}: move it away, and run again."
        )
    return True


def replace_files(
    store: ml_metadata.MetadataStore,
    lost: Sequence[metadata_store_pb2.Artifact],
    new: Sequence[metadata_store_pb2.Artifact],
) -> None:
    """Moves the files of a repeated stage's artifacts to the lost artifacts, and marks the new artifacts as deleted."""
    uris = [artifact.uri for artifact in lost]
    _record(store, uris, "")  # after a kill, the artifacts do not count as whole
    for old, made in zip(lost, new, strict=True):
        shutil.rmtree(old.uri, ignore_errors=True)
        made.state = _DELETED
        store.put_artifacts([made])
        shutil.move(made.uri, old.uri)
    record_files(store, uris)


def _record(store: ml_metadata.MetadataStore, uris: Sequence[str], files: str) -> None:
    # Not recorded with the artifacts, because their metadata are in the cache keys of the stages that read them.
    (execution,) = store.get_executions_by_id([_execution(uris)])
    execution.custom_properties[_FILES].string_value = files
    store.put_executions([execution])


def _execution(uris: Sequence[str]) -> int:
    return int(Path(uris[0]).name)


def _digests(uris: Iterable[str]) -> dict[str, str]:
    """SHA-256 of every file of a stage's artifacts, by its path under the stage's folder."""
    return {
        str(path.relative_to(folder.parents[1])): sha256_of_file(str(path))
        for folder in map(Path, uris)
        for path in folder.rglob("*")
        if path.is_file()
    }

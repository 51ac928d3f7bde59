"""The versions of an index: numbered folders with a manifest, which appear whole and never change."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from models.retrieval.corpus_index import read_manifest
from schemas.errors import DataError
from schemas.index_manifest import MANIFEST_FILE
from schemas.lock_file import held_lock
from schemas.served_versions import served_versions

KEPT: Final = 2
"""Number of versions that stay, including the newest: searches in the one before it can go on."""

_STAGING: Final = ".incoming"
_LOCK: Final = ".lock"


class IndexVersions:
    """The versions in a folder.

    Args:
      folder: the folder of the index, which need not exist.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def newest(self) -> Path | None:
        """The newest version, if there is one."""
        return self.folder / versions[-1] if (versions := self._versions()) else None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Locks the folder for writing; at the end, removes a version that was begun but not committed.

        Raises:
          DataError: another process writes, or the folder holds something else than an index.
        """
        self.check()
        self.folder.mkdir(parents=True, exist_ok=True)
        busy = f"{self.folder} is being written by another process; wait until it is done, and try again."
        with held_lock(self.folder / _LOCK, busy):
            try:
                yield
            finally:
                self._discard()

    def check(self) -> None:
        """Checks that the folder, which need not exist, may hold versions.

        Raises:
          DataError: it holds something else than an index.
        """
        if others := sorted(set(self._names()) - {_STAGING, _LOCK} - set(self._versions())):
            raise DataError(
                f"{self.folder} must be a folder for an index alone; it holds {', '.join(others[:3])}; choose another."
            )

    def begin(self) -> Path:
        """An empty folder for a new version. The caller has locked the folder."""
        staging = self.folder / _STAGING
        self._discard()  # what a killed process left
        staging.mkdir()
        return staging

    def commit(self) -> Path:
        """Makes the begun folder a version, whole and on the disk, or not at all.

        Removes the versions before the last two; a process that has one of them open can go on reading.
        """
        staging = self.folder / _STAGING
        _sync(staging)
        version = self.folder / str(1 + max(map(int, self._versions()), default=0))
        os.rename(staging, version)
        _sync_folder(self.folder)
        self._remove_old()
        return version

    def _remove_old(self) -> None:
        for old in self._versions()[:-KEPT]:
            shutil.rmtree(self.folder / old, ignore_errors=True)

    def _discard(self) -> None:
        shutil.rmtree(self.folder / _STAGING, ignore_errors=True)

    def _names(self) -> list[str]:
        return [entry.name for entry in self.folder.iterdir()] if self.folder.is_dir() else []

    def _versions(self) -> list[str]:
        # A number alone is no proof: it may be a year of photographs, or a version of a model.
        return [name for name in served_versions(self._names()) if (self.folder / name / MANIFEST_FILE).is_file()]


def link_files(source: Path, target: Path) -> None:
    """Puts a folder's files into another one too, by links where the disk has them, otherwise by copies."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_dir():
            link_files(path, target / path.name)
            continue
        try:
            os.link(path, target / path.name)
        except OSError:
            shutil.copyfile(path, target / path.name)


def _sync(folder: Path) -> None:
    """Writes a folder's files to the disk: a version's content must be there before its name."""
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                os.fsync(file.fileno())
        _sync_folder(Path(place))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def push_index(index: str, folder: str) -> str:
    """Makes a run's index the newest version, unless it already is, even with later updates.

    Args:
      index: folder of the run's index.
      folder: folder of the versions.

    Returns:
      the folder of the newest version.
    """
    versions = IndexVersions(folder)
    origin = hashlib.sha256((Path(index) / MANIFEST_FILE).read_bytes()).hexdigest()
    with versions.writing():
        newest = versions.newest()
        if newest is not None and read_manifest(str(newest)).origin == origin:
            return str(newest)
        staging = versions.begin()
        staging.rmdir()
        link_files(Path(index), staging)
        manifest = read_manifest(index).model_copy(update={"origin": origin})
        (staging / MANIFEST_FILE).unlink()  # a link must not be written through
        (staging / MANIFEST_FILE).write_text(manifest.to_json(), encoding="utf-8")
        return str(versions.commit())

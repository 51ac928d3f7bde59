"""The versions of an index: numbered folders with a manifest, which appear whole and never change."""

import logging
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from schemas.errors import DataError
from schemas.index_manifest import LEFT_FILE, MANIFEST_FILE, SEGMENTS
from schemas.lock_file import held_lock
from schemas.served_versions import served_versions
from smooth_clir.retrieval.corpus_index import open_segments
from smooth_clir.retrieval.index_files import VersionFiles, check_version, describe_faults, origin_of
from smooth_clir.retrieval.segment import Segment

KEPT: Final = 2
"""Number of versions that stay, including the newest: searches in the one before it can go on."""

WAIT_SECONDS: Final = 60.0
"""Seconds for which the push of a run's index waits for another process that writes the versions."""

_STAGING: Final = ".incoming"
_LOCK: Final = ".lock"

log = logging.getLogger("clir.index")


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

    def all(self) -> list[Path]:
        """The versions, the newest last."""
        return [self.folder / name for name in self._versions()]

    def way_back(self, damaged: Path) -> str:
        """The sentence that says how to go on without a damaged version.

        Args:
          damaged: the folder of the version.
        """
        for version in reversed(self.all()):
            if _number(version) < _number(damaged) and not check_version(str(version)).faults:
                return f"Version {version.name} is sound; to go back to it: rm -r {shlex.quote(str(damaged))}"
        return "No version before it is sound; index all documents again: `clir index` without --add and --remove."

    @contextmanager
    def writing(
        self, wait_seconds: float = 0.0, way_out: str = "wait until it is done, and try again"
    ) -> Iterator[None]:
        """Locks the folder for writing; at the end, removes a version that was begun but not committed.

        Args:
          wait_seconds: seconds to wait for another process that writes.
          way_out: the end of the error's sentence where that is not enough.

        Raises:
          DataError: another process writes, or the folder holds something else than an index.
        """
        self.check()
        self.folder.mkdir(parents=True, exist_ok=True)
        busy = f"{self.folder} is being written by another process; {way_out}."
        with held_lock(self.folder / _LOCK, busy, wait_seconds):
            try:
                yield
            finally:
                self._discard()

    def check_free(self) -> None:
        """Checks the folder before long work whose result goes there; makes nothing in it.

        Raises:
          DataError: as in `writing`.
        """
        self.check()
        if os.path.lexists(self.folder / _LOCK):
            with self.writing():
                pass

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
        for old in self.all()[:-KEPT]:
            if (old / MANIFEST_FILE).is_file():
                with suppress(OSError):
                    # A version goes by one rename, as it came: a kill leaves no part of it.
                    os.rename(old, self.folder / _STAGING)
                self._discard()

    def _discard(self) -> None:
        staging = self.folder / _STAGING
        if staging.is_symlink() or staging.is_file():
            staging.unlink()
        shutil.rmtree(staging, ignore_errors=True)

    def _names(self) -> list[str]:
        return [entry.name for entry in self.folder.iterdir()] if self.folder.is_dir() else []

    def _versions(self) -> list[str]:
        # A number alone is no proof: it may be a year of photographs, or a version of a model. A version that lost its
        # manifest is damaged, but is one.
        return [
            name
            for name in served_versions(self._names())
            if (self.folder / name / MANIFEST_FILE).is_file() or (self.folder / name / SEGMENTS).is_dir()
        ]


def _number(version: Path) -> int:
    """A version's number; 0, before all others, where the folder has another name."""
    return int(version.name) if served_versions([version.name]) else 0


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


def copy_newest(source: IndexVersions, target: IndexVersions) -> None:
    """Makes the newest version of an index the first of another, so that its documents are not encoded again.

    Args:
      source: an index, which may have no version.
      target: another, which stays as it is where it has a version.

    Raises:
      DataError: another process writes the target.
    """
    if (newest := source.newest()) and not target.newest():
        with target.writing():
            staging = target.begin()
            staging.rmdir()
            link_files(newest, staging)
            target.commit()


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


def push_index(
    index: str,
    folder: str,
    model: str = "MODEL",
    wait_seconds: float = 0.0,
    publish: Callable[[Path], str] | None = None,
) -> str:
    """Makes a run's index the newest version, unless it already is, even with later updates.

    Where `clir index` changed the version before, documents that this one lacks, or has with another content, may be a
    user's own: they are written into `left.tsv`, and the log says so.

    Args:
      index: folder of the run's index.
      folder: folder of the versions.
      model: a folder of the model, for the command that the log names.
      wait_seconds: seconds to wait for another process that writes the versions.
      publish: puts the newest version into an engine too, if it is not there yet; a damaged one is not put.

    Returns:
      the folder of the newest version.

    Raises:
      DataError: another process writes the versions, or the run's index is damaged.
    """
    versions = IndexVersions(folder)
    origin = origin_of(index)
    way_out = "the model is pushed, its index is not; when that process is done, the same command completes the run"
    with versions.writing(wait_seconds, way_out):
        newest = versions.newest()
        before = check_version(str(newest)) if newest else VersionFiles(None, {})
        if newest and before.manifest and before.manifest.origin == origin:
            if not before.faults:
                if publish:
                    publish(newest)
                return str(newest)
            if not before.manifest.of_run:
                damage = describe_faults(before.faults)
                way_back = versions.way_back(newest)
                log.warning(
                    "%s is damaged, and stays because `clir index` changed it: %s. %s", newest, damage, way_back
                )
                return str(newest)
        if before.faults:
            is_of_run = before.manifest is not None and before.manifest.of_run
            added = "" if is_of_run else f" Documents that `clir index` added: {newest}/{SEGMENTS}/*/documents.tsv"
            damage = describe_faults(before.faults)
            log.warning("%s is damaged, and the run's index replaces it: %s.%s", newest, damage, added)
        version = _push(index, versions, origin, before, model)
        if publish:
            publish(version)
    return str(version)


def _push(index: str, versions: IndexVersions, origin: str, before: VersionFiles, model: str) -> Path:
    """Makes a run's index the next version."""
    ours = check_version(index)
    if ours.manifest is None or ours.faults:
        raise DataError(
            f"{index} must hold the index that the run made: {describe_faults(ours.faults)}. Remove this folder and "
            "run again: the index is then made again."
        )
    staging = versions.begin()
    staging.rmdir()
    link_files(Path(index), staging)
    left = came = 0
    newest = versions.newest()
    if newest and before.manifest and not before.manifest.of_run:
        theirs = open_segments(str(newest), before.sound_segments())
        documents = open_segments(index, ours.manifest.segments)
        came = sum(len(rows) for _, rows in _others(documents, theirs))
        with open(staging / LEFT_FILE, "wb") as file:
            for segment, rows in _others(theirs, documents):
                left += len(rows)
                file.writelines(segment.line(row) for row in rows.tolist())
        if not left:
            (staging / LEFT_FILE).unlink()
    manifest = ours.manifest.model_copy(update={"origin": origin})
    (staging / MANIFEST_FILE).unlink()  # a link must not be written through
    (staging / MANIFEST_FILE).write_text(manifest.to_json(), encoding="utf-8")
    version = versions.commit()
    if left or came:
        command = shlex.join(
            ["clir", "index", model, "--index", str(versions.folder), "--add", str(version / LEFT_FILE)]
        )
        may_have = "may have " if before.manifest and before.manifest.files is None else ""
        log.warning(
            "%s takes the place of %s, which `clir index` %schanged; documents that leave: %s, that come: %s%s",
            version, newest, may_have, f"{left:,}", f"{came:,}", f"; to bring back what leaves: {command}" * bool(left),
        )  # fmt: skip
    return version


def _others(segments: Sequence[Segment], than: Sequence[Segment]) -> Iterator[tuple[Segment, npt.NDArray[np.int64]]]:
    """The rows of segments whose documents other segments lack, or have with another content."""

    def digests(segment: Segment) -> npt.NDArray[np.bytes_]:
        kept: npt.NDArray[np.uint8] = segment.digests[segment.kept]
        return kept.view(f"S{kept.shape[1]}").ravel()

    known = np.concatenate([digests(segment) for segment in than]) if than else np.zeros(0, "S16")
    for segment in segments:
        yield segment, segment.kept[~np.isin(digests(segment), known)]

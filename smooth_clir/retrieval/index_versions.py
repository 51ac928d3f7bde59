"""Writes the versions of an index: numbered folders with a manifest, which appear whole and never change."""

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

KEPT_VERSIONS: Final = 2
"""Number of versions that are kept, including the newest: searches in the previous version can go on."""

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
        """Returns the newest version, if there is one."""
        return self.folder / versions[-1] if (versions := self._versions()) else None

    def all(self) -> list[Path]:
        """Returns the versions, the newest last."""
        return [self.folder / name for name in self._versions()]

    def way_back(self, damaged: Path) -> str:
        """Returns a sentence that says how to go on without a damaged version.

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
          way_out: what to do then, for the error's message.

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
        """Checks the folder before long work whose result goes there; writes nothing.

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
        if foreign := sorted(set(self._names()) - {_STAGING, _LOCK} - set(self._versions())):
            raise DataError(
                f"{self.folder} must hold only an index; got {', '.join(foreign[:3])}. Choose another folder."
            )

    def begin(self) -> Path:
        """Makes an empty folder for a new version. The caller has locked the versions."""
        staging = self.folder / _STAGING
        self._discard()  # what a killed process left
        staging.mkdir()
        return staging

    def commit(self) -> Path:
        """Makes the begun folder a version, whole and on the disk, or not at all.

        Removes the versions before the last two; a process that has opened such a version can go on reading.
        """
        staging = self.folder / _STAGING
        _sync(staging)
        version = self.folder / str(1 + max(map(int, self._versions()), default=0))
        os.rename(staging, version)
        _sync_folder(self.folder)
        self._remove_old()
        return version

    def _remove_old(self) -> None:
        for version in self.all()[:-KEPT_VERSIONS]:
            if (version / MANIFEST_FILE).is_file():
                with suppress(OSError):
                    # Removed by a single rename: a kill leaves no part of the version.
                    os.rename(version, self.folder / _STAGING)
                self._discard()

    def _discard(self) -> None:
        staging = self.folder / _STAGING
        if staging.is_symlink() or staging.is_file():
            staging.unlink()
        shutil.rmtree(staging, ignore_errors=True)

    def _names(self) -> list[str]:
        return [entry.name for entry in self.folder.iterdir()] if self.folder.is_dir() else []

    def _versions(self) -> list[str]:
        # A number alone may be a year of photographs, or a version of a model. A version that lost its manifest is
        # damaged, but still a version.
        return [
            name
            for name in served_versions(self._names())
            if (self.folder / name / MANIFEST_FILE).is_file() or (self.folder / name / SEGMENTS).is_dir()
        ]


def _number(version: Path) -> int:
    """Returns a version's number; 0, before all others, if the folder's name is not a number."""
    return int(version.name) if served_versions([version.name]) else 0


def link_files(source: Path, target: Path) -> None:
    """Links a folder's files into another folder; copies them if the disk has no links."""
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
      target: another index, unchanged if it has a version.

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
    """Writes a folder's files to the disk: a version's content must be on the disk before its name."""
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as file:
                os.fsync(file.fileno())
        _sync_folder(Path(parent))


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

    If `clir index` changed the previous version, it may hold documents of the user that the run's index lacks, or has
    with another content: they are written into `left.tsv`, and the log says so.

    Args:
      index: folder of the run's index.
      folder: folder of the versions.
      model: a folder of the model, for the command in the log.
      wait_seconds: seconds to wait for another process that writes the versions.
      publish: also puts the newest version into an engine; not called for a damaged version.

    Returns:
      the folder of the newest version.

    Raises:
      DataError: another process writes the versions, or the run's index is damaged.
    """
    versions = IndexVersions(folder)
    origin = origin_of(index)
    way_out = "the model was pushed without its index; repeat the command when that process is done"
    with versions.writing(wait_seconds, way_out):
        newest = versions.newest()
        previous = check_version(str(newest)) if newest else VersionFiles(None, {})
        if newest and previous.manifest and previous.manifest.origin == origin:
            if not previous.faults:
                if publish:
                    publish(newest)
                return str(newest)
            if not previous.manifest.of_run:
                damage = describe_faults(previous.faults)
                way_back = versions.way_back(newest)
                log.warning("%s is damaged, but kept because `clir index` changed it: %s. %s", newest, damage, way_back)
                return str(newest)
        if previous.faults:
            is_of_run = previous.manifest is not None and previous.manifest.of_run
            added = "" if is_of_run else f" Documents that `clir index` added: {newest}/{SEGMENTS}/*/documents.tsv"
            damage = describe_faults(previous.faults)
            log.warning("%s is damaged; the run's index replaces it: %s.%s", newest, damage, added)
        version = _push(index, versions, origin, previous, model)
        if publish:
            publish(version)
    return str(version)


def _push(index: str, versions: IndexVersions, origin: str, previous: VersionFiles, model: str) -> Path:
    """Makes a run's index the next version."""
    pushed = check_version(index)
    if pushed.manifest is None or pushed.faults:
        raise DataError(
            f"The run's index {index} is damaged: {describe_faults(pushed.faults)}. Remove this folder and run again "
            "to make the index again."
        )
    staging = versions.begin()
    staging.rmdir()
    link_files(Path(index), staging)
    leaving = coming = 0
    lost_fields: list[str] = []
    newest = versions.newest()
    if newest and previous.manifest and not previous.manifest.of_run:
        previous_segments = open_segments(str(newest), previous.sound_segments())
        pushed_segments = open_segments(index, pushed.manifest.segments)
        coming = sum(len(rows) for _, rows in _different_rows(pushed_segments, previous_segments))
        fields = [*previous.manifest.fields]
        lost_fields = [field for field in fields if field not in pushed.manifest.fields]
        with open(staging / LEFT_FILE, "wb") as file:
            if fields:
                file.write("\t".join(("id", "title", "text", *fields)).encode() + b"\n")
            for segment, rows in _different_rows(previous_segments, pushed_segments):
                leaving += len(rows)
                file.writelines(segment.line(row) for row in rows.tolist())
        if not leaving:
            (staging / LEFT_FILE).unlink()
    manifest = pushed.manifest.model_copy(update={"origin": origin})
    (staging / MANIFEST_FILE).unlink()  # a link must not be written through
    (staging / MANIFEST_FILE).write_text(manifest.to_json(), encoding="utf-8")
    version = versions.commit()
    if leaving or coming:
        command = shlex.join(
            ["clir", "index", model, "--index", str(versions.folder), "--add", str(version / LEFT_FILE)]
        )
        may_have = "may have " if previous.manifest and previous.manifest.files is None else ""
        log.warning(
            "%s replaces %s, which `clir index` %schanged; documents left out: %s, documents added: %s%s%s",
            version, newest, may_have, f"{leaving:,}", f"{coming:,}",
            f"; to bring back those left out: {command}" * bool(leaving),
            f"; the fields {', '.join(lost_fields)} are gone, because search.fields lacks them" * bool(lost_fields),
        )  # fmt: skip
    return version


def _different_rows(
    segments: Sequence[Segment], known: Sequence[Segment]
) -> Iterator[tuple[Segment, npt.NDArray[np.int64]]]:
    """Yields the rows of segments whose documents the known segments lack, or have with another content."""

    def digests(segment: Segment) -> npt.NDArray[np.bytes_]:
        kept_digests: npt.NDArray[np.uint8] = segment.digests[segment.kept_rows]
        return kept_digests.view(f"S{kept_digests.shape[1]}").ravel()

    known_digests = np.concatenate([np.zeros(0, "S16"), *map(digests, known)])
    for segment in segments:
        yield segment, segment.kept_rows[~np.isin(digests(segment), known_digests)]

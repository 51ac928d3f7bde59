"""Reads the manifest of a version of an index, and compares the version's files with it."""

import os
from collections.abc import Mapping
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.byte_streams import stream_sha256
from schemas.errors import DataError
from schemas.index_manifest import FORMAT, MANIFEST_FILE, FileRecord, IndexManifest, SegmentRecord
from schemas.json_record import JsonRecord

LOADED_BYTES: Final = 1 << 30
"""The number of bytes whose digests are compared when an index is loaded: about a second, see docs/formats.md."""

_MISSING: Final = "is missing"


class VersionFiles(NamedTuple):
    """The state of a version's files."""

    manifest: IndexManifest | None
    """The manifest; None if it cannot be used."""
    faults: dict[str, str]
    """A description of the fault of each damaged file, by path."""

    def sound_segments(self) -> list[SegmentRecord]:
        """Returns the segments without a damaged file."""
        records = self.manifest.segments if self.manifest else ()
        return [record for record in records if not {*record.paths(), record.removed_file} & self.faults.keys()]

    def states(self, folder: str) -> dict[str, str]:
        """Returns the state of each file, in the folder or recorded: sound, damaged, or unrecorded (no digest)."""
        recorded = {*self.manifest.paths()} if self.manifest else set[str]()
        if self.manifest and self.manifest.files is not None:
            recorded.add(MANIFEST_FILE)
        paths = {
            os.path.relpath(os.path.join(parent, name), folder)
            for parent, _, names in os.walk(folder)
            for name in names
        }
        return {
            path: "damaged" if path in self.faults else "sound" if path in recorded else "unrecorded"
            for path in sorted(recorded | paths | self.faults.keys())
        }


def check_version(folder: str) -> VersionFiles:
    """Compares all files of a version with their records, whatever its state."""
    try:
        manifest = read_manifest(folder)
    except DataError as error:
        return VersionFiles(None, {MANIFEST_FILE: f"cannot be used: {str(error).rstrip('.')}"})
    return VersionFiles(manifest, file_faults(folder, manifest))


def file_faults(folder: str, manifest: IndexManifest, max_bytes: int | None = None) -> dict[str, str]:
    """Describes the files of a version that differ from their records in the manifest, by path.

    Args:
      folder: the folder of the version.
      manifest: its manifest.
      max_bytes: the number of bytes whose digests are compared, from the smallest file to the largest; only the
        lengths of larger files are compared. None compares all digests.
    """
    records = sorted(manifest.paths().items(), key=lambda item: (item[1].bytes, item[0]))
    sums = accumulate(record.bytes for _, record in records)
    faults = {
        path: fault
        for (path, record), total in zip(records, sums, strict=True)
        if (fault := _fault(folder, path, record, has_digest=max_bytes is None or total <= max_bytes))
    }
    for segment in manifest.segments:
        # An index of an earlier version of the project has no records of the removed rows.
        if segment.removed_file not in faults:
            try:
                removed_rows(folder, segment)
            except (OSError, ValueError) as error:
                faults[segment.removed_file] = getattr(error, "strerror", None) or str(error)
    return faults


def removed_rows(folder: str, record: SegmentRecord) -> npt.NDArray[np.int32]:
    """Reads the rows of a segment whose documents were removed.

    Raises:
      OSError: the file is missing.
      ValueError: the file does not match the record, or should not exist.
    """
    path = os.path.join(folder, record.removed_file)
    if not record.removed:
        # Without this check a manifest of another version would bring back what was removed.
        if os.path.exists(path):
            raise ValueError("must not exist, because no row was removed")
        return np.zeros(0, np.int32)
    rows: npt.NDArray[np.int32] = np.load(path)
    if len(np.unique(rows[(rows >= 0) & (rows < record.documents)])) != record.removed:
        raise ValueError(f"must hold {record.removed:,} rows below {record.documents:,}")
    return rows


def describe_faults(faults: Mapping[str, str]) -> str:
    """Describes the first fault, and counts the others."""
    (path, fault), *more = faults.items()
    return f"{path} {fault}" + f" (and {len(more)} more)" * bool(more)


def _fault(folder: str, path: str, record: FileRecord, has_digest: bool) -> str | None:
    """Describes the difference of a file from its record; None without a difference."""
    try:
        if (size := os.path.getsize(os.path.join(folder, path))) != record.bytes:
            return f"must have {record.bytes:,} bytes; got {size:,}"
        digest = file_record(os.path.join(folder, path)).sha256 if has_digest else record.sha256
    except FileNotFoundError:
        return _MISSING
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if digest == record.sha256 else f"must have the SHA-256 {record.sha256[:16]}…; got {digest[:16]}…"


def file_record(path: str) -> FileRecord:
    with open(path, "rb") as file:
        return FileRecord(bytes=os.path.getsize(path), sha256=stream_sha256(file))


def read_manifest(folder: str) -> IndexManifest:
    """Reads the manifest of a version of an index.

    Raises:
      DataError: the folder holds no index, or the manifest is damaged or of another format.
    """
    try:
        with open(os.path.join(folder, MANIFEST_FILE), encoding="utf-8") as file:
            text = file.read()
        format_number = _Format.from_json(text).format
        manifest = IndexManifest.from_json(text) if format_number == FORMAT else None
    except OSError as error:
        raise DataError(f"Cannot read the index {folder} ({MANIFEST_FILE}): {error.strerror}.") from None
    except ValueError as error:
        raise DataError(
            f"{folder}/{MANIFEST_FILE} is damaged: {str(error).partition(';')[0]}. Make the index again with "
            "`clir index`."
        ) from None
    if manifest is None:
        raise DataError(
            f"{folder} must hold an index of format {FORMAT}; got {format_number}. Make it again with `clir index`."
        )
    return manifest


def origin_of(folder: str) -> str:
    """Returns the name of a run's index in the versions made from it: see `IndexManifest.origin`."""
    with open(os.path.join(folder, MANIFEST_FILE), "rb") as file:
        return stream_sha256(file)


class _Format(JsonRecord):
    """The format of a manifest, read first, because another format may have other fields."""

    format: int

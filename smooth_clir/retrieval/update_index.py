"""Brings an index up to date; documents that have not changed are not encoded again."""

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import LoadedModel
from models.exported.versions import model_fingerprint
from schemas.errors import DataError
from schemas.index_manifest import REMOVED, SEGMENTS, VECTORS_FILE, Drift, IndexManifest, SegmentRecord
from schemas.json_record import JsonRecord
from schemas.wikiclir import Text
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.corpus_index import document_numbers, open_segments
from smooth_clir.retrieval.index_files import VersionFiles, check_version, describe_faults
from smooth_clir.retrieval.index_versions import IndexVersions, link_files
from smooth_clir.retrieval.milvus_versions import MilvusVersions
from smooth_clir.retrieval.near_vectors import LEAST, NearVectors, lists_for
from smooth_clir.retrieval.segment import (
    MOST_DOCUMENTS,
    Segment,
    SegmentWriter,
    document_digest,
    document_line,
    encode_documents,
)

_NO_ROWS: Final = np.zeros(0, np.int32)
_KEY_BYTES: Final = 8

log = logging.getLogger("clir.index")


class IndexUpdate(JsonRecord):
    """The changes of an index's documents."""

    version: str
    """The folder of the newest version."""
    documents: int
    """Number of documents that can be found now."""
    added: int
    replaced: int
    removed: int
    unchanged: int
    unknown: int
    """Number of distinct ids to remove that the index did not hold."""
    drift: Drift
    """The newest version's drift."""


class IndexUpdater:
    """Makes the next version of an index.

    Args:
      model: folder of the exported model.
      versions: the versions of the index.
      report: is called repeatedly with the number of documents encoded so far.
      least: least number of vectors that need lists, see `smooth_clir.retrieval.near_vectors`.
      most: most documents of a segment, at most `MOST_DOCUMENTS`. Segments with less than half of that are joined,
        because a search goes through every segment.
      milvus: the versions of the index in Milvus, if each version goes there, too.
    """

    def __init__(
        self,
        model: str,
        versions: IndexVersions,
        report: Callable[[int], None] = lambda documents: None,
        least: int = LEAST,
        most: int = MOST_DOCUMENTS,
        milvus: MilvusVersions | None = None,
    ) -> None:
        self._model_path = model
        self._model = LoadedModel(model, "encode_document")
        self._fingerprint = model_fingerprint(model)
        self._statistics = self._model.statistics()
        self._versions = versions
        self._report = report
        self._least, self._most = least, most
        self._milvus = milvus

    def replace_all(self, documents: Iterable[Text]) -> IndexUpdate:
        """Makes the index hold these documents and no others. Damaged segments are made again.

        Args:
          documents: documents with distinct ids.

        Raises:
          DataError: another process writes the index, or its folder holds something else.
        """
        with self._versions.writing():
            newest = self._versions.newest()
            found = check_version(str(newest)) if newest else VersionFiles(None, {})
            if found.faults:
                log.warning("%s is damaged, and made again: %s", newest, describe_faults(found.faults))
            is_ours = found.manifest is not None and not self._fault_of(found.manifest)
            before = _Before(newest, found) if is_ours else _Before(None, VersionFiles(None, {}))
            return self._next(before, documents, (), keep_others=False)

    def change(self, documents: Iterable[Text], removed: Iterable[str]) -> IndexUpdate:
        """Adds documents, replaces those of the same ids, and removes others.

        Args:
          documents: documents with distinct ids.
          removed: ids; those that the index does not hold are counted.

        Raises:
          DataError: as in `replace_all`; or there is no index, it is damaged, or another model made it.
        """
        with self._versions.writing():
            if self._milvus:
                self._milvus.check_newest(self._versions.all())
            newest = self._versions.newest()
            if newest is None:
                raise DataError(f"{self._versions.folder} must hold an index; make one with `clir index` first.")
            found = check_version(str(newest))
            if found.manifest and (fault := self._fault_of(found.manifest)):
                raise DataError(
                    f"{newest} {fault}. Index the whole collection with this model: `clir index` with --documents."
                )
            if found.faults:
                raise DataError(
                    f"{newest} must hold a whole index to be changed: {describe_faults(found.faults)}. "
                    f"{self._versions.way_back(newest)}"
                )
            return self._next(_Before(newest, found), documents, removed, keep_others=True)

    def _fault_of(self, manifest: IndexManifest) -> str | None:
        """Returns an error message for an index whose documents must all be encoded again, or None."""
        if manifest.model != self._fingerprint:
            return f"must be an index that the model {self._model_path} made; another one did"
        if self._model.feedback.gain and not manifest.has_own_terms:
            return "must hold the documents' own terms for the second pass of its model; an earlier version made it"
        return None

    def _next(
        self, before: "_Before", documents: Iterable[Text], removed: Iterable[str], keep_others: bool
    ) -> IndexUpdate:
        staging = self._versions.begin()
        number = before.manifest.next_number if before.manifest else 0
        for doc_id in dict.fromkeys(removed):
            before.remove(doc_id.encode())
        folder = staging / SEGMENTS
        folder.mkdir()
        changed = before.changed(documents)
        new = list(encode_documents(self._model, changed, str(folder), number, self._report, self._most))
        if not keep_others:
            before.remove_unnamed()
        if before.folder is not None and before.manifest is not None and not before.is_changed:
            return before.summary(self._published(before.folder), before.manifest)
        segments = before.put_into(staging, new, self._most)
        manifest = assemble_index(
            str(staging),
            self._fingerprint,
            segments,
            next_number=max((one.number for one in segments), default=number - 1) + 1,
            origin=before.manifest.origin if before.manifest else "",
            near=before.near(staging, segments, self._least),
            least=self._least,
            statistics=self._statistics,
        )
        return before.summary(self._published(self._versions.commit()), manifest)

    def _published(self, version: Path) -> str:
        """Puts a version into Milvus, if it goes there, and returns its folder."""
        if self._milvus:
            self._milvus.publish(version)
        return str(version)


class _Before:
    """The version before, without its damaged segments, and the changes of its documents."""

    def __init__(self, folder: Path | None, files: VersionFiles) -> None:
        self.folder, self.manifest = folder, files.manifest
        self._faults = files.faults
        records = files.sound_segments()
        self._segments = open_segments(str(folder), records)
        self._records = {one.number: one for one in records}
        self._known = _KnownDocuments(self._segments)
        self._lost = [np.zeros(len(segment), np.bool_) for segment in self._segments]
        self._named = [np.zeros(len(segment), np.bool_) for segment in self._segments]
        self._added = self._replaced = self._unchanged = self._unknown = 0

    def remove(self, doc_id: bytes) -> None:
        """Marks a document as removed, or counts an unknown id."""
        if place := self._known.find(doc_id):
            self._lost[place.segment][place.row] = True
        else:
            self._unknown += 1

    def remove_unnamed(self) -> None:
        """Marks every document as removed that was not passed to `changed`."""
        for segment, lost, named in zip(self._segments, self._lost, self._named, strict=True):
            lost |= ~named & ~segment.is_removed

    def changed(self, documents: Iterable[Text]) -> Iterator[Text]:
        """Yields the documents that must be encoded."""
        for document in documents:
            place = self._known.find(document.id.encode())
            if place is None:
                self._added += 1
                yield document
                continue
            self._named[place.segment][place.row] = True
            if place.digest == document_digest(document_line(document)):
                self._lost[place.segment][place.row] = False
                self._unchanged += 1
                continue
            self._lost[place.segment][place.row] = True
            self._replaced += 1
            yield document

    @property
    def is_changed(self) -> bool:
        """Whether any document is, or a file is damaged."""
        return bool(self._faults or self._added or any(lost.any() for lost in self._lost))

    def summary(self, version: str, newest: IndexManifest) -> IndexUpdate:
        """The changes of the documents, up to the newest version."""
        lost = sum(int(one.sum()) for one in self._lost)
        return IndexUpdate(
            version=version,
            documents=newest.documents,
            added=self._added,
            replaced=self._replaced,
            removed=lost - self._replaced,
            unchanged=self._unchanged,
            unknown=self._unknown,
            drift=newest.drift,
        )

    def put_into(self, staging: Path, new: Sequence[SegmentRecord], most: int) -> list[SegmentRecord]:
        """Takes over the segments that stay, and joins small ones with the new.

        Returns:
          The records of all segments of the new version.
        """
        opened = {one.number: Segment(str(staging / SEGMENTS / str(one.number)), one, _NO_ROWS) for one in new}
        rows = {one.number: segment.kept for one, segment in zip(new, opened.values(), strict=True)}
        for segment, lost in zip(self._segments, self._lost, strict=True):
            opened[segment.number], rows[segment.number] = segment, np.flatnonzero(~lost & ~segment.is_removed)
        small = [number for number in sorted(rows) if len(rows[number]) < most // 2]
        joined = small if len(small) > 1 else [number for number in small if not len(rows[number])]
        records = [one for one in new if one.number not in joined]
        for segment, lost in zip(self._segments, self._lost, strict=True):
            if segment.number not in joined:
                link_files(Path(segment.folder), staging / SEGMENTS / str(segment.number))
                records.append(self._with_removed(staging, segment, np.flatnonzero(lost | segment.is_removed)))
        number = max(rows, default=-1) + 1
        writer = SegmentWriter()
        for small_one in joined:
            if len(writer) + len(rows[small_one]) > most:
                records.append(writer.write(str(staging / SEGMENTS / str(number)), number))
                writer, number = SegmentWriter(), number + 1
            if len(rows[small_one]):
                writer.take(opened[small_one], rows[small_one])
            shutil.rmtree(staging / SEGMENTS / str(small_one), ignore_errors=True)
        if len(writer):
            records.append(writer.write(str(staging / SEGMENTS / str(number)), number))
        return sorted(records, key=lambda record: record.number)

    def near(self, staging: Path, segments: Sequence[SegmentRecord], least: int) -> NearVectors | None:
        """The lists of the version before, updated to the new one; None where they would not fit it."""
        documents = sum(one.documents - one.removed for one in segments)
        if self.folder is None or self.manifest is None or not self.manifest.lists:
            return None
        if self._faults or VECTORS_FILE not in (self.manifest.files or {}):
            return None
        if documents < least or lists_for(documents) != self.manifest.lists:
            return None
        near = NearVectors.load(str(self.folder / VECTORS_FILE), self.manifest.probes, into_memory=True)
        stay = {one.number for one in segments}
        for segment, lost in zip(self._segments, self._lost, strict=True):
            gone = lost & ~segment.is_removed if segment.number in stay else ~segment.is_removed
            near.remove(document_numbers(segment.number, np.flatnonzero(gone)))
        for one in segments:
            if one.number not in self._records:
                segment = Segment(str(staging / SEGMENTS / str(one.number)), one, _NO_ROWS)
                near.add(segment.vectors, document_numbers(one.number, segment.kept))
        return near

    def _with_removed(self, staging: Path, segment: Segment, removed: npt.NDArray[np.int64]) -> SegmentRecord:
        if len(removed):
            (staging / REMOVED).mkdir(exist_ok=True)
            np.save(staging / self._records[segment.number].removed_file, removed.astype(np.int32))
        return self._records[segment.number].model_copy(update={"removed": len(removed)})


class _Place(NamedTuple):
    """The place of a document."""

    segment: int
    """Position of its segment among the given ones."""
    row: int
    digest: bytes
    """See `smooth_clir.retrieval.segment.document_digest`."""


class _KnownDocuments:
    """Finds the documents of segments by their ids. Keys take some 16 bytes a document, where a dict would take 200.

    Args:
      segments: the segments.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._digests = [segment.digests for segment in segments]
        keys, places, rows = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        for place, segment in enumerate(segments):
            kept = segment.kept
            keys.append(np.array([_key(segment.doc_id(row)) for row in kept.tolist()], np.uint64))
            places.append(np.full(len(kept), place, np.int32))
            rows.append(kept.astype(np.int32))
        order = np.argsort(np.concatenate(keys), kind="stable")
        self._keys, self._places, self._rows = (np.concatenate(part)[order] for part in (keys, places, rows))

    def find(self, doc_id: bytes) -> _Place | None:
        """The place of a document; None where it is not there."""
        key = np.uint64(_key(doc_id))
        start, end = (int(np.searchsorted(self._keys, key, side=side)) for side in ("left", "right"))
        for at in range(start, end):
            segment, row = int(self._places[at]), int(self._rows[at])
            if self._segments[segment].doc_id(row) == doc_id:
                return _Place(segment, row, self._digests[segment][row].tobytes())
        return None


def _key(doc_id: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(doc_id, digest_size=_KEY_BYTES).digest(), "little")

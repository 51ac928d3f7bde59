"""Brings an index up to date; encodes only new and changed documents."""

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.exported.model import LoadedModel
from models.exported.versions import model_fingerprint
from schemas.columns import check_values
from schemas.errors import DataError
from schemas.index_manifest import REMOVED, SEGMENTS, VECTORS_FILE, Drift, FieldRecord, IndexManifest, SegmentRecord
from schemas.json_record import JsonRecord
from schemas.passages import is_first_passage, passage_id
from schemas.wikiclir import Text
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.corpus_index import document_numbers, open_segments
from smooth_clir.retrieval.index_files import VersionFiles, check_version, describe_faults, read_manifest
from smooth_clir.retrieval.index_versions import IndexVersions, link_files
from smooth_clir.retrieval.milvus_versions import MilvusVersions
from smooth_clir.retrieval.near_vectors import MIN_VECTORS, NearVectors, lists_for
from smooth_clir.retrieval.segment import (
    MAX_DOCUMENTS,
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
    """Number of documents in the newest version, or of their passages."""
    has_passages: bool
    """Whether `documents` counts passages; the following numbers are always of documents."""
    added: int
    replaced: int
    removed: int
    unchanged: int
    unknown: int
    """Number of distinct ids to remove that were not in the index."""
    drift: Drift
    """The newest version's drift."""
    fields: dict[str, FieldRecord]
    """The newest version's fields."""


class IndexUpdater:
    """Makes the next version of an index.

    Args:
      model: folder of the exported model.
      versions: the versions of the index.
      report: called repeatedly with the number of documents encoded so far.
      min_vectors: smallest number of vectors that get lists, see `smooth_clir.retrieval.near_vectors`.
      max_documents: largest number of documents of a segment, up to `MAX_DOCUMENTS`. Segments less than half full are
        joined, because a search goes through every segment.
      milvus: the versions of the index in Milvus, if each version is also published there.
    """

    def __init__(
        self,
        model: str,
        versions: IndexVersions,
        report: Callable[[int], None] = lambda documents: None,
        min_vectors: int = MIN_VECTORS,
        max_documents: int = MAX_DOCUMENTS,
        milvus: MilvusVersions | None = None,
    ) -> None:
        self._model_path = model
        self._model = LoadedModel(model, "encode_document")
        self._fingerprint = model_fingerprint(model)
        self._statistics = self._model.statistics()
        self._versions = versions
        self._report = report
        self._min_vectors, self._max_documents = min_vectors, max_documents
        self._milvus = milvus

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the documents' fields, in the newest version with a readable manifest."""
        for version in reversed(self._versions.all()):
            with suppress(DataError):
                return tuple(read_manifest(str(version)).fields)
        return ()

    def replace_all(self, documents: Iterable[Text], fields: Sequence[str] = ()) -> IndexUpdate:
        """Makes the index hold exactly these documents, and makes damaged segments again.

        Args:
          documents: documents with distinct ids.
          fields: the names of their fields; with others than before, every document is encoded again.

        Raises:
          DataError: another process writes the index, its folder holds something else, or no document has a field.
        """
        with self._versions.writing():
            newest = self._versions.newest()
            files = check_version(str(newest)) if newest else VersionFiles(None, {})
            if files.faults:
                log.warning("%s is damaged; making it again: %s", newest, describe_faults(files.faults))
            previous = _Previous(None, VersionFiles(None, {}))
            if files.manifest and not self._fault_of(files.manifest):
                previous = _Previous(newest, files)
                if [*files.manifest.fields] != [*fields]:
                    without_documents = files.manifest.model_copy(update={"segments": ()})
                    previous = _Previous(None, VersionFiles(without_documents, {}))
            return self._next(previous, documents, (), fields, keep_unnamed=False)

    def change(self, documents: Iterable[Text], removed: Iterable[str]) -> IndexUpdate:
        """Adds documents, or replaces those with the same ids; removes documents by their ids.

        Args:
          documents: documents with distinct ids, and with the fields of the index.
          removed: ids; those that are not in the index are counted.

        Raises:
          DataError: as in `replace_all`; or the index is missing, damaged, or made by another model.
        """
        with self._versions.writing():
            if self._milvus:
                self._milvus.check_newest(self._versions.all())
            newest = self._versions.newest()
            if newest is None:
                raise DataError(f"No index found in {self._versions.folder}. Make one with `clir index` first.")
            files = check_version(str(newest))
            if files.manifest and (fault := self._fault_of(files.manifest)):
                raise DataError(
                    f"{newest} {fault}. Index the whole collection with this model: `clir index` with --documents."
                )
            if files.faults:
                raise DataError(
                    f"The index {newest} is damaged: {describe_faults(files.faults)}. {self._versions.way_back(newest)}"
                )
            fields = [*files.manifest.fields] if files.manifest else []
            return self._next(_Previous(newest, files), documents, removed, fields, keep_unnamed=True)

    def _fault_of(self, manifest: IndexManifest) -> str | None:
        """Returns an error message for an index whose documents must all be encoded again, or None."""
        if manifest.model != self._fingerprint:
            return f"was made by another model than {self._model_path}"
        if self._model.feedback.gain and not manifest.has_own_terms:
            return "lacks the documents' own terms, which its model's second pass needs: an earlier version made it"
        return None

    def _next(
        self,
        previous: "_Previous",
        documents: Iterable[Text],
        removed: Iterable[str],
        fields: Sequence[str],
        keep_unnamed: bool,
    ) -> IndexUpdate:
        staging = self._versions.begin()
        number = previous.manifest.next_number if previous.manifest else 0
        for doc_id in dict.fromkeys(removed):
            previous.remove(doc_id)
        folder = staging / SEGMENTS
        folder.mkdir()
        changed = previous.changed(documents, self._model.split)
        records = list(encode_documents(self._model, changed, str(folder), number, self._report, self._max_documents))
        if not keep_unnamed:
            previous.remove_unnamed()
        if previous.folder is not None and previous.manifest is not None and not previous.is_changed:
            return previous.summary(
                self._published(previous.folder), previous.manifest, self._model.passages is not None
            )
        segments = previous.put_into(staging, records, self._max_documents)
        manifest = assemble_index(
            str(staging),
            self._fingerprint,
            segments,
            next_number=max((segment.number for segment in segments), default=number - 1) + 1,
            origin=previous.manifest.origin if previous.manifest else "",
            near=previous.near(staging, segments, self._min_vectors),
            min_vectors=self._min_vectors,
            statistics=self._statistics,
            fields=fields,
        )
        if not keep_unnamed and manifest.documents:
            check_values({name: field.documents for name, field in manifest.fields.items()})
        return previous.summary(self._published(self._versions.commit()), manifest, self._model.passages is not None)

    def _published(self, version: Path) -> str:
        """Publishes a version in Milvus, if the index is there, too; returns the version's folder."""
        if self._milvus:
            self._milvus.publish(version)
        return str(version)


class _Previous:
    """The previous version without its damaged segments, and the changes of its documents."""

    def __init__(self, folder: Path | None, files: VersionFiles) -> None:
        self.folder, self.manifest = folder, files.manifest
        self._faults = files.faults
        records = files.sound_segments()
        self._segments = open_segments(str(folder), records)
        self._records = {record.number: record for record in records}
        self._known_documents = _KnownDocuments(self._segments)
        self._lost = [np.zeros(len(segment), np.bool_) for segment in self._segments]
        self._named = [np.zeros(len(segment), np.bool_) for segment in self._segments]
        self._added = self._replaced = self._unchanged = self._unknown = 0

    def remove(self, doc_id: str) -> None:
        """Marks a document as removed, with its passages, or counts an unknown id."""
        known = self._known(doc_id)
        self._mark(self._lost, known)
        self._unknown += not known

    def remove_unnamed(self) -> None:
        """Marks the documents that were not passed to `changed` as removed."""
        for segment, lost, named in zip(self._segments, self._lost, self._named, strict=True):
            lost |= ~named & ~segment.is_removed

    def changed(self, documents: Iterable[Text], split: Callable[[Text], Iterable[Text]]) -> Iterator[Text]:
        """Yields the documents that must be encoded, or their passages, as `split` gives them."""
        for document in documents:
            known, parts = self._known(document.id), list(split(document))
            self._mark(self._named, known)
            if [row.digest for row in known] == [document_digest(document_line(part)) for part in parts]:
                self._mark(self._lost, known, False)
                self._unchanged += 1
                continue
            self._mark(self._lost, known)
            self._replaced += bool(known)
            self._added += not known
            yield from parts

    def _known(self, doc_id: str) -> list["_KnownDocument"]:
        """The document with an id, or its passages in their order; empty if the previous version has neither."""
        if whole := self._known_documents.find(doc_id.encode()):
            return [whole]
        known: list[_KnownDocument] = []
        while passage := self._known_documents.find(passage_id(doc_id, len(known)).encode()):
            known.append(passage)
        return known

    @staticmethod
    def _mark(marks: Sequence[npt.NDArray[np.bool_]], known: Iterable["_KnownDocument"], value: bool = True) -> None:
        for document in known:
            marks[document.segment][document.row] = value

    @property
    def is_changed(self) -> bool:
        """Whether a document changed, or a file is damaged."""
        return bool(self._faults or self._added or any(lost.any() for lost in self._lost))

    def summary(self, version: str, newest: IndexManifest, has_passages: bool) -> IndexUpdate:
        """Returns the changes of the documents from this version to the newest."""
        lost = sum(
            is_first_passage(segment.doc_id(row).decode())
            for segment, rows in zip(self._segments, self._lost, strict=True)
            for row in np.flatnonzero(rows).tolist()
        )
        return IndexUpdate(
            version=version,
            documents=newest.documents,
            has_passages=has_passages,
            added=self._added,
            replaced=self._replaced,
            removed=lost - self._replaced,
            unchanged=self._unchanged,
            unknown=self._unknown,
            drift=newest.drift,
            fields=newest.fields,
        )

    def put_into(self, staging: Path, new_records: Sequence[SegmentRecord], max_documents: int) -> list[SegmentRecord]:
        """Links the kept segments into the new version, and joins small segments.

        Returns:
          the records of all segments of the new version.
        """
        folder = staging / SEGMENTS
        opened = {record.number: Segment(str(folder / str(record.number)), record, _NO_ROWS) for record in new_records}
        rows = {number: segment.kept_rows for number, segment in opened.items()}
        for segment, lost in zip(self._segments, self._lost, strict=True):
            opened[segment.number], rows[segment.number] = segment, np.flatnonzero(~lost & ~segment.is_removed)
        small = [number for number in sorted(rows) if len(rows[number]) < max_documents // 2]
        joined = small if len(small) > 1 else [number for number in small if not len(rows[number])]
        records = [record for record in new_records if record.number not in joined]
        for segment, lost in zip(self._segments, self._lost, strict=True):
            if segment.number not in joined:
                link_files(Path(segment.folder), folder / str(segment.number))
                records.append(self._with_removed(staging, segment, np.flatnonzero(lost | segment.is_removed)))
        number = max(rows, default=-1) + 1
        writer = SegmentWriter()
        for joined_number in joined:
            if len(writer) + len(rows[joined_number]) > max_documents:
                records.append(writer.write(str(folder / str(number)), number))
                writer, number = SegmentWriter(), number + 1
            if len(rows[joined_number]):
                writer.take(opened[joined_number], rows[joined_number])
            shutil.rmtree(folder / str(joined_number), ignore_errors=True)
        if len(writer):
            records.append(writer.write(str(folder / str(number)), number))
        return sorted(records, key=lambda record: record.number)

    def near(self, staging: Path, segments: Sequence[SegmentRecord], min_vectors: int) -> NearVectors | None:
        """Returns the previous version's lists, updated to the new version; None if they would not fit."""
        documents = sum(record.documents - record.removed for record in segments)
        if self.folder is None or self.manifest is None or not self.manifest.lists:
            return None
        if self._faults or VECTORS_FILE not in (self.manifest.files or {}):
            return None
        if documents < min_vectors or lists_for(documents) != self.manifest.lists:
            return None
        near = NearVectors.load(str(self.folder / VECTORS_FILE), self.manifest.probes, into_memory=True)
        stay = {record.number for record in segments}
        for segment, lost in zip(self._segments, self._lost, strict=True):
            removed = lost & ~segment.is_removed if segment.number in stay else ~segment.is_removed
            near.remove(document_numbers(segment.number, np.flatnonzero(removed)))
        for record in segments:
            if record.number not in self._records:
                segment = Segment(str(staging / SEGMENTS / str(record.number)), record, _NO_ROWS)
                near.add(segment.vectors, document_numbers(record.number, segment.kept_rows))
        return near

    def _with_removed(self, staging: Path, segment: Segment, removed: npt.NDArray[np.int64]) -> SegmentRecord:
        if len(removed):
            (staging / REMOVED).mkdir(exist_ok=True)
            np.save(staging / self._records[segment.number].removed_file, removed.astype(np.int32))
        return self._records[segment.number].model_copy(update={"removed": len(removed)})


class _KnownDocument(NamedTuple):
    """A document of the previous version."""

    segment: int
    """Position of its segment in the list of segments."""
    row: int
    digest: bytes
    """See `smooth_clir.retrieval.segment.document_digest`."""


class _KnownDocuments:
    """Finds the documents of segments by their ids, in about 16 bytes a document; a dict would take 200."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._digests = [segment.digests for segment in segments]
        keys, numbers, rows = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        for number, segment in enumerate(segments):
            kept_rows = segment.kept_rows
            keys.append(np.array([_key(segment.doc_id(row)) for row in kept_rows.tolist()], np.uint64))
            numbers.append(np.full(len(kept_rows), number, np.int32))
            rows.append(kept_rows.astype(np.int32))
        order = np.argsort(np.concatenate(keys), kind="stable")
        self._keys, self._segment_numbers, self._rows = (np.concatenate(part)[order] for part in (keys, numbers, rows))

    def find(self, doc_id: bytes) -> _KnownDocument | None:
        """Finds a document by its id; None if no segment has it."""
        key = np.uint64(_key(doc_id))
        start, end = (int(np.searchsorted(self._keys, key, side=side)) for side in ("left", "right"))
        for position in range(start, end):
            segment, row = int(self._segment_numbers[position]), int(self._rows[position])
            if self._segments[segment].doc_id(row) == doc_id:
                return _KnownDocument(segment, row, self._digests[segment][row].tobytes())
        return None


def _key(doc_id: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(doc_id, digest_size=_KEY_BYTES).digest(), "little")

"""Writes the versions of an index into Milvus: collections, and an alias for the newest."""

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from schemas.apply import Apply
from schemas.errors import DataError
from schemas.index_manifest import FieldRecord, IndexManifest, SegmentRecord
from smooth_clir.retrieval.corpus_index import open_segments
from smooth_clir.retrieval.index_files import check_version, describe_faults, read_manifest
from smooth_clir.retrieval.index_versions import IndexVersions
from smooth_clir.retrieval.milvus import Milvus, MilvusRefusal, MilvusVersion, record_of
from smooth_clir.retrieval.milvus_index import (
    DOC_ID,
    FIELD,
    NO_NUMBER,
    NO_TERM,
    NUMBER,
    OWN_TERMS,
    TERMS,
    TEXT,
    TITLE,
    VECTOR,
    sparse_terms,
)
from smooth_clir.retrieval.milvus_settings import MilvusAddress, MilvusSettings
from smooth_clir.retrieval.segment import MAX_DOCUMENTS, EncodedDocument, Segment
from smooth_clir.retrieval.where import number_of

_MAX_BYTES: Final = 65_535
"""The longest text that a field in Milvus holds, in bytes of UTF-8."""
_PIECE: Final = _MAX_BYTES // 4
"""Characters of a piece of a document's text, so that a piece fits into a field."""
_MAX_PIECES: Final = 4096
"""The largest number of values of an array in Milvus."""
_BATCH: Final = 1000
_BATCH_BYTES: Final = 8 << 20
_WRITE_SECONDS: Final = 60
_INDEX_SECONDS: Final = 24 * 3600

log = logging.getLogger("clir.index")
progress_log = logging.getLogger("clir.progress")


class MilvusVersions:
    """The versions of an index in Milvus.

    The name of a version's collection is derived from its content and settings: a repeated or resumed write goes to the
    same collection, and writers of different versions to different collections.

    Args:
      settings: the settings, with an address.

    Raises:
      DataError: Milvus does not answer, or `clir` did not write the collection of this name.
    """

    def __init__(self, settings: MilvusSettings) -> None:
        self._settings = settings
        self._address = MilvusAddress.parse(settings.address or "")
        self._milvus = Milvus(self._address)
        self._current()

    def check_newest(self, versions: Iterable[Path]) -> None:
        """Checks that the newest version in Milvus, if any, is one of these versions on disk.

        Args:
          versions: the folders of versions.

        Raises:
          DataError: the newest version is of another folder, and would be lost.
        """
        collection, newest = self._current()
        if newest and newest.identity not in _identities(versions):
            raise DataError(
                f"The newest version in {self._address}, {collection}, was made from another folder, or was removed "
                "from this one. Change it in its own folder, or index all documents: `clir index` without --add and "
                "--remove."
            )

    def fault_of(self, newest: Path) -> str:
        """Describes the difference of the newest version from a version on disk; empty without a difference.

        Args:
          newest: the folder of the version on disk.
        """
        collection, version = self._current()
        identity = read_manifest(str(newest)).identity
        if collection is None or version is None or version.identity != identity:
            return f"must hold the version {newest.name}; it holds {collection or 'none'}"
        self._milvus.load(collection, version, _INDEX_SECONDS)
        count = self._milvus.count(collection)
        return "" if count == version.documents else f"must hold {version.documents:,} documents; it holds {count:,}"

    def publish(self, folder: Path, apply: Apply = map) -> str:
        """Makes a version on disk the newest one in Milvus, unless it already is.

        The alias is switched once every document is there, and the previous version stays. Older and unfinished
        versions are removed.

        Args:
          folder: the folder of a whole version.
          apply: shares the segments among workers, which must see the folder.

        Returns:
          the version's collection.

        Raises:
          DataError: Milvus does not answer or refuses, a document is too large for it, or another version was
            published meanwhile.
        """
        files = check_version(str(folder))
        if files.manifest is None or files.faults:
            raise DataError(f"The index {folder} is damaged: {describe_faults(files.faults)}.")
        previous, newest = self._current()
        if newest and newest.identity not in _identities(IndexVersions(folder.parent).all()):
            log.warning(
                "%s in %s is not a version of %s; version %s replaces it",
                previous,
                self._address,
                folder.parent,
                folder.name,
            )
        version = self._version_of(folder, files.manifest)
        collection = f"{self._address.name}_{self._digest(version)}"
        try:
            if not self._is_whole(collection, version):
                self._write(folder, files.manifest, collection, version, apply)
            self._switch(previous, collection)
        except (MilvusRefusal, RuntimeError):  # Beam raises a RuntimeError for any error of a worker
            self._check_unchanged(previous, collection)  # another process may have removed the unfinished collection
            raise
        return collection

    def _version_of(self, folder: Path, manifest: IndexManifest) -> MilvusVersion:
        index = self._settings.vector_index
        return MilvusVersion(
            alias=self._address.name,
            number=folder.name,
            model=manifest.model,
            identity=manifest.identity,
            dimension=manifest.dimension,
            documents=manifest.documents,
            drift=manifest.drift,
            of_run=manifest.origin if manifest.of_run else "",
            vector_index=index.model_copy(update={"kind": index.chosen_for(manifest.documents)}),
            is_whole=False,
            replicas=self._settings.replicas,
            has_own_terms=manifest.has_own_terms,
            fields=manifest.fields,
        )

    def _digest(self, version: MilvusVersion) -> str:
        """Returns a digest of the content and the settings that distinguish the version's collection."""
        content = [version.identity, version.vector_index.kind, self._settings.model_dump(exclude={"address"})]
        return hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()

    def _current(self) -> tuple[str | None, MilvusVersion | None]:
        """Returns the collection behind the alias, and its record.

        Raises:
          DataError: `clir` did not write the collection.
        """
        collection = self._milvus.newest()
        return (collection, self._milvus.version(collection)) if collection else (None, None)

    def _is_whole(self, collection: str, version: MilvusVersion) -> bool:
        """Returns whether a collection holds every document of the version."""
        if not self._milvus.ask("has_collection", collection):
            return False
        record = self._milvus.version(collection)
        if record.is_whole:
            self._milvus.load(collection, record, _INDEX_SECONDS)
        return record.is_whole and self._milvus.count(collection) == version.documents

    def _write(
        self, folder: Path, manifest: IndexManifest, collection: str, version: MilvusVersion, apply: Apply
    ) -> None:
        if not self._milvus.ask("has_collection", collection):
            self._create(collection, version)
        written = 0
        write = partial(put_segment, str(folder), self._address, collection, version.fields)
        for documents in apply(write, manifest.segments):
            written += documents
            progress_log.info("%s of %s documents in Milvus", f"{written:,}", f"{version.documents:,}")
        self._milvus.ask("flush", collection, seconds=_INDEX_SECONDS)
        self._index(collection, version)
        self._milvus.ask("load_collection", collection, replica_number=self._settings.replicas, seconds=_INDEX_SECONDS)
        if (count := self._milvus.count(collection)) != version.documents:
            raise DataError(
                f"{collection} in {self._address} must hold {version.documents:,} documents; it holds {count:,}. "
                "Drop it, and index again; the alias was not switched."
            )
        whole_version = version.model_copy(update={"is_whole": True})
        self._milvus.ask("alter_collection_properties", collection, properties=record_of(whole_version))

    def _create(self, collection: str, version: MilvusVersion) -> None:
        from pymilvus import DataType

        schema = self._milvus.client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field(NUMBER, DataType.INT64, is_primary=True)
        schema.add_field(DOC_ID, DataType.VARCHAR, max_length=_MAX_BYTES)
        schema.add_field(TITLE, DataType.VARCHAR, max_length=_MAX_BYTES)
        schema.add_field(
            TEXT, DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=_MAX_PIECES, max_length=_MAX_BYTES
        )
        dimension = max(version.dimension, 2)  # 0 without documents; Milvus takes 2 or more
        schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=dimension)
        for field in _sparse_fields(version):
            schema.add_field(field, DataType.SPARSE_FLOAT_VECTOR)
        for position, record in enumerate(version.fields.values()):
            if record.type == "number":
                schema.add_field(f"{FIELD}{position}", DataType.DOUBLE)
            else:
                schema.add_field(f"{FIELD}{position}", DataType.VARCHAR, max_length=_MAX_BYTES)
        self._milvus.ask(
            "create_collection",
            collection,
            schema=schema,
            num_shards=self._settings.shards,
            consistency_level=self._settings.consistency,
            properties=record_of(version),
        )

    def _index(self, collection: str, version: MilvusVersion) -> None:
        """Makes the indexes that a collection lacks."""
        index = version.vector_index
        kind, vector_parameters = {
            "flat": ("FLAT", {}),
            "ivf": ("IVF_FLAT", {"nlist": index.nlist}),
            "hnsw": ("HNSW", {"M": index.m, "efConstruction": index.ef_construction}),
        }[index.kind]
        for field, index_type, parameters in (
            (VECTOR, kind, vector_parameters),
            *((field, "SPARSE_INVERTED_INDEX", {"drop_ratio_build": 0.0}) for field in _sparse_fields(version)),
        ):
            if not self._milvus.ask("list_indexes", collection, field_name=field):
                index_params = self._milvus.client.prepare_index_params()
                index_params.add_index(field, index_type=index_type, metric_type="IP", params=parameters)
                self._milvus.ask("create_index", collection, index_params, seconds=_INDEX_SECONDS)

    def _switch(self, previous: str | None, collection: str) -> None:
        """Points the alias at a collection, and removes collections that are no longer needed."""
        current = self._check_unchanged(previous, collection)
        if current == collection:
            return
        self._milvus.ask("alter_alias" if current else "create_alias", collection, self._address.name)
        for name in self._milvus.ask("list_collections"):
            is_old = name.startswith(f"{self._address.name}_") and name not in (current, collection)
            if is_old and self._milvus.version_if_ours(name):
                self._milvus.ask("drop_collection", name)

    def _check_unchanged(self, previous: str | None, collection: str) -> str | None:
        """Returns the collection behind the alias.

        Raises:
          DataError: another process published a version meanwhile.
        """
        current, version = self._current()
        if current not in (previous, collection):
            documents = f"with {version.documents:,} documents" if version else ""
            raise DataError(
                f"another process published {current} {documents} in {self._address} meanwhile, which stays the newest "
                "version. To publish yours, index again."
            )
        return current


def _sparse_fields(version: MilvusVersion) -> list[str]:
    return [TERMS, OWN_TERMS] if version.has_own_terms else [TERMS]


def _identities(versions: Iterable[Path]) -> set[str]:
    """Returns the identities of versions on disk, without those whose manifest is damaged."""
    identities = set()
    for version in versions:
        with suppress(DataError):
            identities.add(read_manifest(str(version)).identity)
    return identities


def put_segment(
    folder: str, address: MilvusAddress, collection: str, fields: Mapping[str, FieldRecord], record: SegmentRecord
) -> int:
    """Writes the documents of a segment into a collection; writing them again changes nothing.

    Args:
      folder: the folder of the version.
      address: the Milvus server.
      collection: the name of the collection.
      fields: the fields of the index.
      record: the segment's record.

    Returns:
      the number of documents.

    Raises:
      DataError: as in `MilvusVersions.publish`.
    """
    milvus = Milvus(address)
    (segment,) = open_segments(folder, [record])
    written = 0
    for batch in _batches(segment, fields):
        milvus.ask("upsert", collection, batch, seconds=_WRITE_SECONDS)
        written += len(batch)
    return written


def _batches(segment: Segment, fields: Mapping[str, FieldRecord]) -> Iterator[list[dict[str, Any]]]:
    """Yields the rows of a segment's documents, in batches of limited numbers and bytes."""
    batch: list[dict[str, Any]] = []
    size = 0
    for document in segment.encoded_documents():
        row_size = len(document.text.text.encode())
        if batch and (len(batch) == _BATCH or size + row_size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(_row(segment.number, document, segment.own_vectors is not None, fields))
        size += row_size
    if batch:
        yield batch


def _number(value: str) -> float:
    number = number_of(value)
    return NO_NUMBER if number is None else number


def _row(
    segment: int, document: EncodedDocument, has_own_terms: bool, fields: Mapping[str, FieldRecord]
) -> dict[str, Any]:
    """Returns a document's row.

    Raises:
      DataError: the document's id, title, text or value of a field is too long.
    """
    text = document.text
    pieces = [text.text[start : start + _PIECE] for start in range(0, len(text.text), _PIECE)]
    for field, length, limit in (
        ("id", len(text.id.encode()), _MAX_BYTES),
        ("title", len(text.title.encode()), _MAX_BYTES),
        ("text", len(text.text), _PIECE * _MAX_PIECES),
        *((name, len(value.encode()), _MAX_BYTES) for name, value in zip(fields, text.fields, strict=True)),
    ):
        if length > limit:
            raise DataError(f"{field} of {text.id[:80]} must be at most {limit:,} long in Milvus; got {length:,}.")
    own_terms = sparse_terms([*document.own_terms], np.array([*document.own_terms.values()], np.float32))
    return {
        NUMBER: segment * MAX_DOCUMENTS + text.line - 1,
        DOC_ID: text.id,
        TITLE: text.title,
        TEXT: pieces,
        VECTOR: document.vector.tolist(),
        TERMS: sparse_terms(document.terms, document.weights) or {NO_TERM: 1.0},
        **({OWN_TERMS: own_terms or {NO_TERM: 1.0}} if has_own_terms else {}),
        **{
            f"{FIELD}{position}": value if record.type == "text" else _number(value)
            for position, (record, value) in enumerate(zip(fields.values(), text.fields, strict=True))
        },
    }

"""Some of an index's documents: their vectors, the weights of their terms, and what people read of them."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.exported.model import LoadedModel
from models.retrieval.inverted_index import InvertedIndex, TermMatrix
from schemas.byte_streams import stream_sha256
from schemas.index_manifest import FileRecord, SegmentRecord
from schemas.wikiclir import Text

DOCUMENTS_FILE: Final = "documents.tsv"
STARTS_FILE: Final = "documents_starts.npy"
DIGESTS_FILE: Final = "documents_digests.npy"
VECTORS_FILE: Final = "vectors.npy"
COUNTS_FILE: Final = "documents_counts.npy"

MOST_DOCUMENTS: Final = 1 << 16
"""Of a segment: the scores of so many documents lie in a processor's cache while a query's postings are added up."""
_DIGEST_BYTES: Final = 16


class SegmentWriter:
    """Takes encoded documents, and writes them as a segment.

    It holds all of them in memory: some 8 bytes a posting, twice while they are put in order.
    """

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._vectors: list[npt.NDArray[np.float32]] = []
        self._terms = TermMatrix()
        self._counts: list[npt.NDArray[np.int32] | None] = []

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, documents: Sequence[Text], encoded: dict[str, Any], counted: dict[str, Any] | None = None) -> None:
        """Adds documents that the model has encoded.

        Args:
          documents: their ids, titles and texts.
          encoded: what the signature `encode_document` gives for their texts.
          counted: what `count_terms` gives; None where the model does not have it.
        """
        self._lines += [document_line(document) for document in documents]
        self._vectors.append(np.asarray(encoded["vector"], np.float32))
        self._counts.append(np.stack([counted["terms"], counted["unknown"]], axis=1) if counted else None)
        if "stems" in encoded:
            self._terms.add(encoded["stems"], encoded["weights"])
        else:
            self._terms.add_rows([], sparse.csr_matrix((len(documents), 0), dtype=np.float32))

    def take(self, segment: "Segment", rows: npt.NDArray[np.int64]) -> None:
        """Adds documents of another segment, which are not encoded again."""
        self._lines += [segment.line(int(row)) for row in rows]
        self._vectors.append(segment.vectors[rows])
        terms, weights = segment.words.rows()
        self._terms.add_rows(terms, weights[rows])
        self._counts.append(None if segment.counts is None else segment.counts[rows])

    def write(self, folder: str, number: int) -> SegmentRecord:
        """Writes the segment.

        Args:
          folder: new, or empty.
          number: the segment's.

        Returns:
          what the manifest has of it.
        """
        os.makedirs(folder, exist_ok=True)
        ends = np.cumsum([0, *map(len, self._lines)], dtype=np.int64)
        with open(os.path.join(folder, DOCUMENTS_FILE), "wb") as file:
            file.writelines(self._lines)
        digests = b"".join(document_digest(line) for line in self._lines)
        for name, array in (
            (STARTS_FILE, ends),
            (DIGESTS_FILE, np.frombuffer(digests, np.uint8).reshape(-1, _DIGEST_BYTES)),
            (VECTORS_FILE, np.concatenate(self._vectors)),
        ):
            np.save(os.path.join(folder, name), array)
        counts = [one for one in self._counts if one is not None]
        if len(counts) == len(self._counts):
            np.save(os.path.join(folder, COUNTS_FILE), np.concatenate(counts))
        index = InvertedIndex.of(self._terms)
        index.save(folder)
        return SegmentRecord(
            number=number, documents=len(self._lines), postings=index.postings, files=file_records(folder)
        )


class Segment:
    """A segment on disk, mapped into memory.

    Args:
      folder: in which it lies.
      record: what the manifest says of it.
      removed: rows that are documents no more.

    Attributes:
      folder: in which it lies.
      number: the segment's.
      vectors: float32 [documents, dim].
      words: the terms of its documents.
      is_removed: bool [documents]: rows that are documents no more.
      counts: int32 [documents, 2]: the terms of each document, and how many of them the model does not know (see
        `models.texts.text_features`); None where the model or an earlier version did not tell.

    Raises:
      OSError: a file is missing.
      ValueError: a file has not the size that the record says.
    """

    def __init__(self, folder: str, record: SegmentRecord, removed: npt.NDArray[np.int32]) -> None:
        _check_sizes(folder, record)
        self.folder = folder
        self.number = record.number
        self.vectors: npt.NDArray[np.float32] = np.load(os.path.join(folder, VECTORS_FILE), mmap_mode="r")
        self.words = InvertedIndex.load(folder, record.documents)
        self.is_removed = np.zeros(record.documents, np.bool_)
        self.is_removed[removed] = True
        self._removed = removed
        self.counts: npt.NDArray[np.int32] | None = None
        if COUNTS_FILE in record.files:
            self.counts = np.load(os.path.join(folder, COUNTS_FILE), mmap_mode="r")
        # As plain arrays: taking a slice of NumPy's memmap takes ten times as long.
        self._lines: npt.NDArray[np.uint8] = np.asarray(np.memmap(os.path.join(folder, DOCUMENTS_FILE), np.uint8, "r"))
        self._starts: npt.NDArray[np.int64] = np.asarray(np.load(os.path.join(folder, STARTS_FILE), mmap_mode="r"))

    def __len__(self) -> int:
        return len(self.is_removed)

    @property
    def kept(self) -> npt.NDArray[np.int64]:
        """The rows that are documents."""
        return np.flatnonzero(~self.is_removed)

    def inner_products(
        self, vector: npt.NDArray[np.float32], rows: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.float32]:
        """Those of the documents' vectors, of all or of some rows, with a query's.

        Equal vectors have equal ones, wherever they stand: BLAS would add up some rows in another order than others.
        """
        vectors = self.vectors if rows is None else self.vectors[rows]
        products: npt.NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector)
        return products

    def without_removed(self, scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Scores [documents] in which removed rows have the least there is; the array is changed."""
        scores[self._removed] = -np.inf
        return scores

    def line(self, row: int) -> bytes:
        """A document as a line: id, title, text."""
        return self._lines[self._starts[row] : self._starts[row + 1]].tobytes()

    def document(self, row: int) -> Text:
        """A document; its line is its place in the segment, from 1."""
        identifier, title, text = self.line(row).decode().rstrip("\n").split("\t")
        return Text(identifier, title, text, row + 1)

    def doc_id(self, row: int) -> bytes:
        """A document's id."""
        return self.line(row).partition(b"\t")[0]

    @property
    def digests(self) -> npt.NDArray[np.uint8]:
        """What tells whether a document has changed: uint8 [documents, 16], see `document_digest`."""
        digests: npt.NDArray[np.uint8] = np.load(os.path.join(self.folder, DIGESTS_FILE), mmap_mode="r")
        return digests


def document_line(document: Text) -> bytes:
    """A document as a line of its segment, in the form of the input files."""
    return f"{document.id}\t{document.title}\t{document.text}\n".encode()


def document_digest(line: bytes) -> bytes:
    """What tells whether a document has changed."""
    return hashlib.blake2b(line, digest_size=_DIGEST_BYTES).digest()


def file_records(folder: str) -> dict[str, FileRecord]:
    """Size and SHA-256 of a folder's files, by their names."""
    records = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            records[name] = FileRecord(bytes=os.path.getsize(path), sha256=stream_sha256(file))
    return records


def _check_sizes(folder: str, record: SegmentRecord) -> None:
    for name, file in record.files.items():
        path = os.path.join(folder, name)
        if (size := os.path.getsize(path)) != file.bytes:
            raise ValueError(f"{path} must have {file.bytes:,} bytes; got {size:,}")


_BATCH: Final = 1024


def encode_documents(
    model: LoadedModel,
    documents: Iterable[Text],
    folder: str,
    first_number: int,
    told: Callable[[int], None] = lambda documents: None,
    most: int = MOST_DOCUMENTS,
) -> Iterator[SegmentRecord]:
    """Writes segments of documents, one after the other; no more than one is held in memory.

    Args:
      model: an exported model, loaded, whose score is an inner product.
      documents: in the order in which they are written.
      folder: in which each segment gets a folder, its number.
      first_number: of the first segment.
      told: is called with the number of documents that are encoded, again and again.
      most: documents of a segment.
    """
    left = iter(documents)
    done = 0
    writer = SegmentWriter()
    number = first_number
    while batch := list(islice(left, min(_BATCH, most - len(writer)))):
        texts = tf.constant([document.text for document in batch])
        encoded, counted = (model.tensors(name, document=texts) for name in ("encode_document", "count_terms"))
        writer.add(batch, encoded, counted)
        done += len(batch)
        told(done)
        if len(writer) == most:
            yield writer.write(os.path.join(folder, str(number)), number)
            writer, number = SegmentWriter(), number + 1
    if len(writer):
        yield writer.write(os.path.join(folder, str(number)), number)

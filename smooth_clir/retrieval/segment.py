"""A segment of an index: a part of its documents, with their vectors, the weights of their terms, and their texts.

For a model with a second pass, a segment also holds the documents' own terms, without translations, as unit vectors:
the columns of the inverted index's terms, row by row.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from scipy import sparse

from models.exported.model import LoadedModel
from models.texts.term_matrix import TermMatrix
from schemas.errors import DataError
from schemas.index_manifest import OWN_WEIGHTS_FILE, SegmentRecord
from schemas.wikiclir import Text
from smooth_clir.retrieval.field_columns import FieldColumns
from smooth_clir.retrieval.index_files import file_record
from smooth_clir.retrieval.inverted_index import InvertedIndex
from smooth_clir.retrieval.where import Where

DOCUMENTS_FILE: Final = "documents.tsv"
STARTS_FILE: Final = "documents_starts.npy"
DIGESTS_FILE: Final = "documents_digests.npy"
VECTORS_FILE: Final = "vectors.npy"
COUNTS_FILE: Final = "documents_counts.npy"
OWN_STARTS_FILE: Final = "own_starts.npy"
OWN_TERMS_FILE: Final = "own_terms.npy"

MAX_DOCUMENTS: Final = 1 << 16
"""The largest size of a segment: its scores fit into a processor's cache while a query's postings are added up."""
_DIGEST_BYTES: Final = 16
_BATCH: Final = 1024


def document_line(document: Text) -> bytes:
    """Returns a document as a line of its segment, in the form of the input files."""
    return f"{document.tsv()}\n".encode()


def document_digest(line: bytes) -> bytes:
    """Returns a digest of a document's line, which changes with the document."""
    return hashlib.blake2b(line, digest_size=_DIGEST_BYTES).digest()


class EncodedDocument(NamedTuple):
    """A document with its vector and terms."""

    text: Text
    vector: npt.NDArray[np.float32]
    """float32 [dim]."""
    terms: Sequence[bytes]
    """Its distinct terms, UTF-8."""
    weights: npt.NDArray[np.float32]
    """Their weights above 0: float32 [terms]."""
    own_terms: Mapping[bytes, float]
    """Its own terms, with their weights in its unit vector; empty if the index has none."""


class Segment:
    """A segment on disk, mapped into memory.

    Args:
      folder: the segment's folder.
      record: its record in the manifest.
      removed: the rows of removed documents.

    Attributes:
      folder: the segment's folder.
      number: the segment's number.
      vectors: the documents' vectors, float32 [documents, dim].
      words: the documents' terms.
      is_removed: whether each document was removed, bool [documents].
      counts: the number of terms of each document, and of those that the model does not know (see
        `models.texts.text_features`): int32 [documents, 2].
      own_vectors: unit vectors of the documents' own terms, float32 [documents, terms]; None if the segment has none.
      fields: the documents' fields; None if they have none.

    Raises:
      OSError: a file is missing.
      ValueError: a file does not hold an array.
    """

    def __init__(self, folder: str, record: SegmentRecord, removed: npt.NDArray[np.int32]) -> None:
        self.folder = folder
        self.number = record.number
        self.vectors: npt.NDArray[np.float32] = np.load(os.path.join(folder, VECTORS_FILE), mmap_mode="r")
        self.words = InvertedIndex.load(folder)
        self.is_removed = np.zeros(record.documents, np.bool_)
        self.is_removed[removed] = True
        self._removed = removed
        self.counts: npt.NDArray[np.int32] = np.load(os.path.join(folder, COUNTS_FILE), mmap_mode="r")
        self.own_vectors: sparse.csr_matrix = None
        if record.has_own_terms:
            names = (OWN_WEIGHTS_FILE, OWN_TERMS_FILE, OWN_STARTS_FILE)
            parts = tuple(np.load(os.path.join(folder, name), mmap_mode="r") for name in names)
            self.own_vectors = sparse.csr_matrix(parts, shape=(record.documents, len(self.words.terms)), copy=False)
        self.fields = FieldColumns.load(folder) if record.has_fields else None
        # Plain arrays, because slicing NumPy's memmap takes ten times as long.
        self._lines: npt.NDArray[np.uint8] = np.asarray(np.memmap(os.path.join(folder, DOCUMENTS_FILE), np.uint8, "r"))
        self._starts: npt.NDArray[np.int64] = np.asarray(np.load(os.path.join(folder, STARTS_FILE), mmap_mode="r"))

    def __len__(self) -> int:
        return len(self.is_removed)

    @property
    def kept_rows(self) -> npt.NDArray[np.int64]:
        """The rows of the documents that were not removed."""
        return np.flatnonzero(~self.is_removed)

    def inner_products(
        self, vector: npt.NDArray[np.float32], rows: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.float32]:
        """Returns the inner products of a query's vector with those of all documents, or of these rows.

        Equal vectors have equal products; BLAS would not sum all rows in the same order.
        """
        vectors = self.vectors if rows is None else self.vectors[rows]
        products: npt.NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector)
        return products

    def own_terms(self, row: int) -> dict[bytes, float]:
        """Returns a document's own terms, with their weights in its unit vector; the segment must have own terms."""
        start, end = self.own_vectors.indptr[row : row + 2]
        columns = self.own_vectors.indices[start:end].tolist()
        return {
            self.words.terms[column]: weight
            for column, weight in zip(columns, self.own_vectors.data[start:end].tolist(), strict=True)
        }

    def own_products(self, weights: npt.NDArray[np.float32], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Returns the inner products of weighted terms with the own unit vectors of these rows.

        Equal documents have equal products in every segment, because the terms of a row are sorted.

        Args:
          weights: the weight of each column, float32 [terms] or longer.
          rows: the rows, int [rows].

        Returns:
          float32 [rows].
        """
        # Without SciPy, whose checks of a new matrix take longer than the products of a few rows.
        starts = self.own_vectors.indptr[rows]
        lengths = self.own_vectors.indptr[rows + 1] - starts
        entries = np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        parts = self.own_vectors.data[entries] * weights[self.own_vectors.indices[entries]]
        products = np.zeros(len(rows), np.float32)
        np.add.at(products, np.repeat(np.arange(len(rows)), lengths), parts)
        return products

    def without_others(self, scores: npt.NDArray[np.float32], where: Where | None) -> npt.NDArray[np.float32]:
        """Sets the scores of removed documents, and of those beside a filter, to -inf, in place: [documents]."""
        scores[self._removed] = -np.inf
        if where and self.fields:
            scores[~self.fields.matches(where)] = -np.inf
        return scores

    def line(self, row: int) -> bytes:
        """Returns a document as a line: id, title, text."""
        return self._lines[self._starts[row] : self._starts[row + 1]].tobytes()

    def document(self, row: int) -> Text:
        """Returns a document; its line number is its row in the segment, from 1."""
        identifier, title, text, *fields = self.line(row).decode().rstrip("\n").split("\t")
        return Text(identifier, title, text, row + 1, tuple(fields))

    def doc_id(self, row: int) -> bytes:
        return self.line(row).partition(b"\t")[0]

    def encoded_documents(self) -> Iterator[EncodedDocument]:
        """Yields the documents that were not removed, as they are compared with a query."""
        names, matrix = self.words.rows()
        for row in self.kept_rows.tolist():
            start, end = matrix.indptr[row : row + 2]
            terms = [names[column] for column in matrix.indices[start:end].tolist()]
            own_terms = {} if self.own_vectors is None else self.own_terms(row)
            yield EncodedDocument(self.document(row), self.vectors[row], terms, matrix.data[start:end], own_terms)

    @property
    def digests(self) -> npt.NDArray[np.uint8]:
        """The documents' digests, see `document_digest`: uint8 [documents, 16]."""
        digests: npt.NDArray[np.uint8] = np.load(os.path.join(self.folder, DIGESTS_FILE), mmap_mode="r")
        return digests


class SegmentWriter:
    """Collects encoded documents in memory, and writes them as a segment.

    A posting takes about 8 bytes; twice that while postings are sorted.
    """

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._vectors: list[npt.NDArray[np.float32]] = []
        self._terms = TermMatrix()
        self._counts: list[npt.NDArray[np.int32]] = []
        self._own_rows: TermMatrix | None = None

    def __len__(self) -> int:
        return len(self._lines)

    def add(
        self,
        documents: Sequence[Text],
        encoded: Mapping[str, Any],
        counted: Mapping[str, Any],
        own_vectors: tuple[Sequence[bytes], sparse.csr_matrix] | None = None,
    ) -> None:
        """Adds documents that the model has encoded.

        Args:
          documents: the documents.
          encoded: the outputs of the model's signature `encode_document` for their texts.
          counted: the outputs of its signature `count_terms`.
          own_vectors: the unit vectors of their own terms, see `ExportedModel.own_vectors`; None if the model has none.
        """
        self._lines += [document_line(document) for document in documents]
        self._vectors.append(np.asarray(encoded["vector"], np.float32))
        self._counts.append(np.stack([counted["terms"], counted["unknown"]], axis=1))
        if "stems" in encoded:
            self._terms.add(encoded["stems"], encoded["weights"])
        else:
            self._terms.add(tf.zeros([len(documents), 0], tf.string), tf.zeros([len(documents), 0]))
        if own_vectors:
            self._add_own(*own_vectors)

    def take(self, segment: Segment, rows: npt.NDArray[np.int64]) -> None:
        """Adds documents of another segment, without encoding them again."""
        self._lines += [segment.line(int(row)) for row in rows]
        self._vectors.append(segment.vectors[rows])
        terms, weights = segment.words.rows()
        self._terms.add_rows(terms, weights[rows])
        self._counts.append(segment.counts[rows])
        if segment.own_vectors is not None:
            self._add_own(terms, segment.own_vectors[rows])

    def _add_own(self, terms: Sequence[bytes], rows: sparse.csr_matrix) -> None:
        self._own_rows = self._own_rows or TermMatrix(self._terms.columns)
        self._own_rows.add_rows(terms, rows)

    def write(self, folder: str, number: int) -> SegmentRecord:
        """Writes the segment.

        Args:
          folder: a new or empty folder.
          number: the segment's number.

        Returns:
          the segment's record for the manifest.
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
            (COUNTS_FILE, np.concatenate(self._counts)),
        ):
            np.save(os.path.join(folder, name), array)
        index = InvertedIndex.of(self._terms)
        index.save(folder)
        fields = [line.decode().rstrip("\n").split("\t")[3:] for line in self._lines]
        if fields[0]:
            FieldColumns.of(fields).save(folder)
        if self._own_rows:
            column_of = {term: column for column, term in enumerate(index.terms)}
            columns = np.array([column_of[term] for term in self._terms.columns], np.int32)
            rows = self._own_rows.rows()
            own_vectors = sparse.csr_matrix((rows.data, columns[rows.indices], rows.indptr), shape=rows.shape)
            own_vectors.sort_indices()
            for name, array in (
                (OWN_STARTS_FILE, own_vectors.indptr),
                (OWN_TERMS_FILE, own_vectors.indices),
                (OWN_WEIGHTS_FILE, own_vectors.data),
            ):
                np.save(os.path.join(folder, name), array)
        files = {name: file_record(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}
        return SegmentRecord(number=number, documents=len(self._lines), postings=index.postings, files=files)


def encode_documents(
    model: LoadedModel,
    documents: Iterable[Text],
    folder: str,
    first_number: int,
    on_progress: Callable[[int], None] = lambda documents: None,
    max_documents: int = MAX_DOCUMENTS,
) -> Iterator[SegmentRecord]:
    """Writes documents into segments, and yields their records; holds one segment at a time in memory.

    Args:
      model: a loaded exported model, whose score is an inner product.
      documents: the documents, in the order in which they are written.
      folder: the parent folder; each segment's folder is named by its number.
      first_number: the number of the first segment.
      on_progress: called repeatedly with the number of documents encoded so far.
      max_documents: the largest number of documents of a segment.

    Raises:
      DataError: the model has no signature that counts terms.
    """
    if "count_terms" not in model.signatures:
        raise DataError("This model cannot index: it lacks the signature count_terms. Export it again with `clir run`.")
    remaining = iter(documents)
    count, number, writer = 0, first_number, SegmentWriter()
    while batch := list(islice(remaining, min(_BATCH, max_documents - len(writer)))):
        texts = tf.constant([document.text for document in batch])
        encoded, counted = (model.tensors(name, document=texts) for name in ("encode_document", "count_terms"))
        own_vectors = model.own_vectors([document.text for document in batch]) if model.feedback.gain else None
        writer.add(batch, encoded, counted, own_vectors)
        count += len(batch)
        on_progress(count)
        if len(writer) == max_documents:
            yield writer.write(os.path.join(folder, str(number)), number)
            writer, number = SegmentWriter(), number + 1
    if len(writer):
        yield writer.write(os.path.join(folder, str(number)), number)

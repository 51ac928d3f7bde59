"""An index of a collection on disk: one version of it, a folder that never changes.

manifest.json
segments/NUMBER/    some of the documents, see `models.retrieval.segment`
removed/NUMBER.npy  int32: the rows of a segment that are documents no more, if any
vectors.faiss       what finds near vectors, where the documents are many
"""

from typing import Final

from schemas.drift import Drift
from schemas.json_record import JsonRecord

MANIFEST_FILE: Final = "manifest.json"
SEGMENTS: Final = "segments"
REMOVED: Final = "removed"
VECTORS_FILE: Final = "vectors.faiss"
FORMAT: Final = 1


class FileRecord(JsonRecord):
    """A file of a segment."""

    bytes: int
    sha256: str


class SegmentRecord(JsonRecord):
    """A segment of an index."""

    number: int
    """Its own among all versions of the index."""
    documents: int
    """Rows, those that were removed since among them."""
    removed: int = 0
    """Rows that are documents no more."""
    postings: int
    """Weights above 0 of its documents' terms."""
    files: dict[str, FileRecord]
    """By their names."""


class IndexManifest(JsonRecord):
    """The content of `manifest.json`.

    Example:
      >>> IndexManifest(model="0a", dimension=8, documents=0, segments=(), next_number=0).documents
      0
    """

    format: int = FORMAT
    model: str
    """The fingerprint of the model that made it, and that alone can search it: see `models.exported.versions`."""
    dimension: int
    """Of a vector."""
    documents: int
    """That can be found."""
    segments: tuple[SegmentRecord, ...]
    next_number: int
    """Of a segment that is to come."""
    lists: int = 0
    """Of the vectors in `vectors.faiss`; 0 where there is no such file, and every document is compared."""
    probes: int = 0
    """How many of the lists a search looks into."""
    vectors_sha256: str = ""
    origin: str = ""
    """What a run made, and updates have changed since: the SHA-256 of its manifest; empty in that manifest itself."""
    drift: Drift | None = None
    """How far its documents are from those that the model was made with; None in an index of an earlier version."""

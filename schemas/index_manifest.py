"""An index of a collection on disk: one version of it, a folder that never changes.

manifest.json
segments/NUMBER/    a part of the documents, see `smooth_clir.retrieval.segment`
removed/NUMBER.npy  int32: the rows of a segment whose documents were removed, if any
vectors.faiss       the index of near vectors, where the documents are many
left.tsv            documents of the previous version that a run's index lacks; for people, so without a digest
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, Literal

from schemas.json_files import parse_json
from schemas.json_record import JsonRecord

MANIFEST_FILE: Final = "manifest.json"
SEGMENTS: Final = "segments"
REMOVED: Final = "removed"
VECTORS_FILE: Final = "vectors.faiss"
LEFT_FILE: Final = "left.tsv"
OWN_WEIGHTS_FILE: Final = "own_weights.npy"
"""In a segment, the weights of the documents' own terms; see `smooth_clir.retrieval.segment`."""
FIELD_CODES_FILE: Final = "field_codes.npy"
"""In a segment, the documents' fields; see `smooth_clir.retrieval.field_columns`."""
FORMAT: Final = 1
_DIGEST: Final = "sha256"

MAX_LENGTH_RATIO: Final = 1.5
MAX_UNKNOWN: Final = 0.1
MAX_DIVERGENCE: Final = 0.2
MIN_DOCUMENTS: Final = 250
"""With fewer documents on either side, the divergence is due to chance; see docs/search.md."""


class Drift(JsonRecord):
    """The statistics of an index's documents and of its model's, which show whether the model still fits.

    The model's documents are those of its lexicon, by which it weighs matching words. A term is unknown if neither the
    lexicon nor the towers have it; the lexicon's documents have no unknown terms.

    Example:
      >>> drift = Drift(documents=3, model_documents=9, mean_length=4, model_mean_length=2, unknown_share=0.25)
      >>> drift.length_ratio
      2.0
      >>> [sentence.partition(":")[0] for sentence in drift.warnings()]
      ['documents are 2.00 times as long as those of the model', '25.0 % of the terms are unknown to the model']
    """

    documents: int
    """Number of documents in the index."""
    model_documents: int | None = None
    """Number of the model's documents. Here and below, None stands for an unavailable value; see `reason`."""
    mean_length: float | None = None
    """Mean number of a document's terms within the lexicon's limit, if it has one."""
    model_mean_length: float | None = None
    unknown_share: float | None = None
    """Share of unknown terms among all occurrences of terms: 0 .. 1."""
    divergence: float | None = None
    """Jensen-Shannon divergence of the terms' document frequencies, normalised on each side: 0 .. 1 bits."""
    reason: str = ""
    """The reason why a value is unavailable; empty if all values are available."""

    @property
    def length_ratio(self) -> float | None:
        """The documents' mean length divided by that of the model's documents."""
        return self.mean_length / self.model_mean_length if self.mean_length and self.model_mean_length else None

    def describe(self) -> str:
        """All values in one line for a person."""

        def beside(value: str, model_value: float | None, form: str) -> str:
            return value if model_value is None else f"{value} ({model_value:{form}})"

        parts = [beside(f"{self.documents:,} documents", self.model_documents, ",")]
        if self.mean_length is not None:
            parts.append(beside(f"mean length {self.mean_length:.1f} terms", self.model_mean_length, ".1f"))
        if self.unknown_share is not None:
            parts.append(f"{100 * self.unknown_share:.1f} % of the terms unknown")
        if self.divergence is not None:
            parts.append(f"divergence {self.divergence:.3f} bits")
        brackets = " (the model's in brackets)" if self.model_documents is not None else ""
        return f"drift{brackets}: {', '.join(parts)}" + f"; more is not available: {self.reason}" * bool(self.reason)

    @property
    def why_no_shares(self) -> str | None:
        """The reasons why shares of relevant documents do not hold for these documents, or None.

        Example:
          >>> Drift(documents=3, unknown_share=0.89).why_no_shares
          '89.0 % of the terms are unknown to the model'
        """
        return ", and ".join(sentence.partition(":")[0] for sentence in self.warnings()) or None

    def warnings(self) -> Iterator[str]:
        """Yields a sentence for each value that calls for a new model; docs/search.md explains the bounds."""
        ratio = self.length_ratio
        if ratio is not None and not 1 / MAX_LENGTH_RATIO <= ratio <= MAX_LENGTH_RATIO:
            yield (
                f"documents are {ratio:.2f} times as long as those of the model: beyond a factor of "
                f"{MAX_LENGTH_RATIO:g} matching words weigh too much or too little against the vectors; "
                "train a model on these documents"
            )
        if self.unknown_share is not None and self.unknown_share > MAX_UNKNOWN:
            yield (
                f"{100 * self.unknown_share:.1f} % of the terms are unknown to the model: beyond "
                f"{100 * MAX_UNKNOWN:g} % many words of these documents cannot be searched; train a model on them"
            )
        if (
            self.divergence is not None
            and self.divergence > MAX_DIVERGENCE
            and min(self.documents, self.model_documents or 0) >= MIN_DOCUMENTS
        ):
            yield (
                f"the documents' terms diverge from those of the model by {self.divergence:.2f} bits: beyond "
                f"{MAX_DIVERGENCE:g} they are of another kind, and the model mistakes rare words for frequent ones, or "
                "frequent ones for rare; train a model on these documents"
            )


class FileRecord(JsonRecord):
    """A file of an index."""

    bytes: int
    sha256: str


class FieldRecord(JsonRecord):
    """A field of documents, by which a search can be filtered."""

    type: Literal["text", "number"]
    """number, if every value is one."""
    documents: int
    """Number of documents with a value."""


class SegmentRecord(JsonRecord):
    """A segment of an index."""

    number: int
    """The segment's number, unique among all versions of the index."""
    documents: int
    """Number of rows, including removed ones."""
    removed: int = 0
    """Number of rows whose documents were removed."""
    postings: int
    """Number of weights above 0 of its documents' terms."""
    files: dict[str, FileRecord]
    """The segment's files by their names."""

    @property
    def removed_file(self) -> str:
        """The path of the file of removed rows, which exists only if there are any."""
        return f"{REMOVED}/{self.number}.npy"

    @property
    def has_own_terms(self) -> bool:
        """Whether the segment holds its documents' own terms, which a second pass compares."""
        return OWN_WEIGHTS_FILE in self.files

    @property
    def has_fields(self) -> bool:
        """Whether the documents have fields."""
        return FIELD_CODES_FILE in self.files

    def paths(self) -> dict[str, FileRecord]:
        """The segment's files by their paths in the version."""
        return {f"{SEGMENTS}/{self.number}/{name}": record for name, record in self.files.items()}


class IndexManifest(JsonRecord):
    """The content of `manifest.json`, which ends with the SHA-256 of the rest.

    Indexes of earlier versions of the project lack this digest, `files` and `of_run`; they can still be read.

    Example:
      >>> drift = Drift(documents=0)
      >>> IndexManifest(model="0a", dimension=8, documents=0, segments=(), next_number=0, drift=drift).documents
      0
    """

    format: int = FORMAT
    model: str
    """The fingerprint of the model that made the index, the only one that can search it: see
    `models.exported.versions`."""
    dimension: int
    """Length of a vector."""
    documents: int
    """Number of documents in the index."""
    segments: tuple[SegmentRecord, ...]
    next_number: int
    """The number of the next new segment."""
    lists: int = 0
    """Number of lists of vectors in `vectors.faiss`; 0 without this file: a search compares every document."""
    probes: int = 0
    """Number of lists that a search reads."""
    files: dict[str, FileRecord] | None = None
    """The files outside the segments, by their paths; None in an index of an earlier version of the project."""
    origin: str = ""
    """SHA-256 of the manifest of the run's index, which updates have changed since; empty in that manifest itself."""
    of_run: bool = False
    """Whether a run made the index, and no update changed it."""
    drift: Drift
    """How far the index's documents are from those that the model was made with."""
    fields: dict[str, FieldRecord] = {}
    """The fields of the documents, in their order."""

    @property
    def identity(self) -> str:
        """The first digits of the manifest's SHA-256, which depend on the index's content only."""
        return _sha256(self._content())[:16]

    @property
    def has_own_terms(self) -> bool:
        """Whether every segment holds its documents' own terms."""
        return all(segment.has_own_terms for segment in self.segments)

    def paths(self) -> dict[str, FileRecord]:
        """Every recorded file of the version by its path."""
        records = dict(self.files or {})
        for segment in self.segments:
            records |= segment.paths()
        return records

    def to_json(self) -> str:
        """The text of the file, with its SHA-256."""
        content = self._content()
        return json.dumps({**content, _DIGEST: _sha256(content)}, indent=2) + "\n"

    def _content(self) -> dict[str, Any]:
        """The values in the file, without `fields` where there are none."""
        return self.model_dump(exclude=set() if self.fields else {"fields"})

    @classmethod
    def from_json(cls, text: str) -> "IndexManifest":
        """Reads the text of a file.

        Raises:
          ValueError: the text is not JSON, has another form, or was changed.
        """
        manifest = super().from_json(text)
        content = parse_json(text)
        recorded = content.pop(_DIGEST, None)
        if (recorded is not None or manifest.files is not None) and recorded != (actual := _sha256(content)):
            raise ValueError(f"its SHA-256 must be {recorded}; got {actual}")
        return manifest


def _sha256(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, indent=2).encode()).hexdigest()

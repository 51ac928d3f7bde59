"""How far the documents of an index are from those that its model was made with."""

from collections.abc import Iterator
from typing import Final

from schemas.json_record import JsonRecord

MOST_LENGTH_RATIO: Final = 1.5
MOST_UNKNOWN: Final = 0.1
MOST_DIVERGENCE: Final = 0.2
LEAST_DOCUMENTS: Final = 250
"""Of fewer, on either side, the divergence is chance, see docs/search.md."""


class Drift(JsonRecord):
    """Statistics of an index's documents, beside those that its model keeps.

    The model's are of the documents that its lexicon was made of: their number, their lengths and how many hold each
    term weigh the words that match. A term that an index's document holds is unknown where the lexicon does not have
    it, nor the towers; in the lexicon's own documents none is.

    Example:
      >>> drift = Drift(documents=3, model_documents=9, mean_length=4, model_mean_length=2, unknown_share=0.25)
      >>> drift.length_ratio
      2.0
      >>> [sentence.partition(":")[0] for sentence in drift.warnings()]
      ['documents are 2.00 times as long as those of the model', '25.0 % of the terms are unknown to the model']
    """

    documents: int
    """That can be found."""
    model_documents: int | None = None
    """None, as all that is not available; see `reason`."""
    mean_length: float | None = None
    """Of a document, in terms that count: within the lexicon's limit on a document's length, or all, without one."""
    model_mean_length: float | None = None
    unknown_share: float | None = None
    """Of all occurrences of terms, those of unknown ones: 0 .. 1."""
    divergence: float | None = None
    """Jensen-Shannon divergence of the terms' document frequencies, each side's divided by their sum: 0 .. 1 bits."""
    reason: str = ""
    """Why something is not available; empty where all is."""

    @property
    def length_ratio(self) -> float | None:
        """The mean length over that of the model's documents."""
        return self.mean_length / self.model_mean_length if self.mean_length and self.model_mean_length else None

    def describe(self) -> str:
        """All of it in a line for a person."""

        def beside(value: str, of_model: str | None) -> str:
            return value if of_model is None else f"{value} ({of_model})"

        parts = [beside(f"{self.documents:,} documents", _text(self.model_documents, "{:,}"))]
        if self.mean_length is not None:
            parts.append(beside(f"mean length {self.mean_length:.1f} terms", _text(self.model_mean_length, "{:.1f}")))
        if self.unknown_share is not None:
            parts.append(f"{100 * self.unknown_share:.1f} % of the terms unknown")
        if self.divergence is not None:
            parts.append(f"divergence {self.divergence:.3f} bits")
        of_model = " (the model's in brackets)" if self.model_documents is not None else ""
        return f"drift{of_model}: {', '.join(parts)}" + f"; more is not available: {self.reason}" * bool(self.reason)

    def warnings(self) -> Iterator[str]:
        """What is so far apart that a new model should be trained; the bounds are explained in docs/search.md."""
        ratio = self.length_ratio
        if ratio is not None and not 1 / MOST_LENGTH_RATIO <= ratio <= MOST_LENGTH_RATIO:
            yield (
                f"documents are {ratio:.2f} times as long as those of the model: beyond a factor of "
                f"{MOST_LENGTH_RATIO:g} words that match weigh too much or too little beside the vectors; "
                "train a model on these documents"
            )
        if self.unknown_share is not None and self.unknown_share > MOST_UNKNOWN:
            yield (
                f"{100 * self.unknown_share:.1f} % of the terms are unknown to the model: beyond "
                f"{100 * MOST_UNKNOWN:g} % much of what these documents say cannot be found; train a model on them"
            )
        if (
            self.divergence is not None
            and self.divergence > MOST_DIVERGENCE
            and min(self.documents, self.model_documents or 0) >= LEAST_DOCUMENTS
        ):
            yield (
                f"the documents' terms diverge from those of the model by {self.divergence:.2f} bits: beyond "
                f"{MOST_DIVERGENCE:g} they are of another kind, and the model takes rare words for frequent ones, or "
                "the other way round; train a model on these documents"
            )


def _text(value: float | None, form: str) -> str | None:
    return None if value is None else form.format(value)


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

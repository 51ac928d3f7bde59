"""The settings of a conversion: its files, and how they are read."""

from dataclasses import dataclass
from typing import Final

NEGATIVES: Final = 40
DEPTH: Final = 100
MAX_BAD_SHARE: Final = 0.05


@dataclass(frozen=True)
class Sources:
    """The files that are converted.

    Attributes:
      queries, documents: their paths.
      judgments: (split, path) of each file; the split is empty where none is named.
      run: a first stage's run file, if there is one.
    """

    queries: str
    documents: str
    judgments: tuple[tuple[str, str], ...]
    run: str | None = None

    def paths(self) -> list[str]:
        """All of them."""
        return [self.queries, self.documents, *(path for _, path in self.judgments), *([self.run] if self.run else [])]

    def named_splits(self) -> frozenset[str]:
        """The splits that judgments name."""
        return frozenset(split for split, _ in self.judgments if split)

    def has_candidates(self) -> bool:
        """Whether they fix lists or splits, so that a conversion writes candidates."""
        return self.run is not None or len(self.named_splits()) > 1


@dataclass(frozen=True)
class ConversionSettings:
    """How files are converted.

    Attributes:
      query_language, document_language: ISO 639-1 codes.
      negatives: NR documents that are drawn for a list, where there is no run.
      depth: documents of a query that a run gives.
      top_grade: higher grades count as this; None takes the highest that there is.
      with_titles: whether a document's title is put before its text.
      max_bad_share: a larger share of bad lines of a file ends the conversion.
    """

    query_language: str
    document_language: str
    negatives: int = NEGATIVES
    depth: int = DEPTH
    top_grade: int | None = None
    with_titles: bool = False
    max_bad_share: float = MAX_BAD_SHARE

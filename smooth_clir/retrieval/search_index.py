"""The interface of every index of a collection, on disk or in an engine."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from models.exported.model import EncodedQuery
from models.lists.feedback import FIRST_PASS, Feedback
from schemas.index_manifest import Drift, FieldRecord
from schemas.wikiclir import Text
from smooth_clir.retrieval.where import Where

DEPTH: Final = 1000
"""The number of candidates of each channel, if not every document is scored."""


class IndexHit(NamedTuple):
    """A hit of a search in an index, without its texts."""

    position: str
    """The document's position in this version of the index, for `SearchIndex.texts`."""
    score: float
    """The sum of `dense`, `words` and `feedback`."""
    dense: float
    """The score of the vectors."""
    words: float
    """The score of the words that match, weighted."""
    doc_id: bytes
    """The document's id, UTF-8."""
    feedback: float = 0.0
    """The score of the second pass; 0 without a second pass."""


class SearchIndex(Protocol):
    """A version of an index, which never changes.

        score(q, d) = <vector of q, vector of d> + sum over the terms of both of weight of q * weight of d

    If a search does not score every document, each channel brings candidates. The score of every candidate is exact.
    """

    @property
    def model(self) -> str:
        """The fingerprint of the model that encoded the documents: see `models.exported.versions`."""

    @property
    def identity(self) -> str:
        """The digest of the index's content: see `IndexManifest.identity`."""

    @property
    def drift(self) -> Drift:
        """The distance of the documents from those of the model."""

    def __len__(self) -> int:
        """Returns the number of documents."""

    def texts(self, positions: Sequence[str]) -> list[Text]:
        """Returns the documents at the positions, in the same order.

        Raises:
          LookupError: a position does not exist, or its document was removed.
        """

    def documents(self) -> Iterator[Text]:
        """Yields every document."""

    @property
    def has_own_terms(self) -> bool:
        """Whether it holds the documents' own terms, which a second pass needs."""

    @property
    def fields(self) -> Mapping[str, FieldRecord]:
        """The documents' fields, by which a search can be filtered; empty if they have none."""

    def search(
        self, query: EncodedQuery, limit: int, feedback: Feedback = FIRST_PASS, where: Where | None = None
    ) -> list[IndexHit]:
        """Returns the best documents for a query: by score, and of equal scores the larger id first.

        The candidates of a second pass are the best `DEPTH` documents of the first, or `limit` if that is more.

        Args:
          query: the query; if the model knows no word of it, there are no hits.
          limit: the largest number of documents.
          feedback: the second pass.
          where: leaves out the other documents, before anything is ranked.
        """

    def dense_search(self, query: EncodedQuery, limit: int) -> list[IndexHit]:
        """Returns the best documents by vectors only; some may be missing if not all vectors are compared."""

    def words_search(self, query: EncodedQuery, limit: int) -> list[IndexHit]:
        """Returns the best documents by matching words only; each matches at least one word."""

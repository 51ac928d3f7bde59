"""The answers of an engine, as the HTTP service's OpenAPI description shows them."""

from models.exported.explanation import Explanation
from schemas.index_manifest import Drift, FieldRecord
from schemas.json_record import JsonRecord
from smooth_clir.retrieval.snippet import Snippet


class NotFound(LookupError):
    """The requested document or explanation does not exist, here or now."""


class Versions(JsonRecord):
    """The model and the index behind an answer."""

    model_version: str
    index_version: str


class Collection(Versions):
    """The collection, and limits of the service."""

    documents: int
    """Number of documents, or of their passages."""
    has_passages: bool
    """Whether the model takes passages in place of documents, so that numbers of documents count passages."""
    query_language: str | None
    """ISO 639-1, several codes joined by a plus; null if unknown."""
    document_language: str | None
    can_explain: bool
    drift: Drift
    """Distance of the documents from the model's own."""
    why_no_shares: str | None
    """The reason why the model's shares of relevant documents do not hold for these documents; null if they do, or if
    the model has no shares."""
    feedback: float
    """Gain of the second pass of a search; 0 without a second pass."""
    why_first_pass: str | None
    """The reason why a search leaves out the model's second pass; null if it does not."""
    fields: dict[str, FieldRecord]
    """The documents' fields, by which a search can be filtered."""
    most_query_characters: int
    most_k: int
    example_queries: tuple[str, ...]
    """Queries of the model's data, for users who do not know the collection."""


class Hit(JsonRecord):
    """A result of a search."""

    rank: int
    doc_id: str
    passage: int | None
    """Number of the document's best passage, from 0, which has the score, the snippet and the text; null for a whole
    document."""
    title: str
    fields: dict[str, str]
    """The document's values of the collection's fields, without missing ones."""
    score: float
    dense: float
    """The vectors' part of the score."""
    words: float
    """The matching words' part of the score."""
    feedback: float
    """The second pass's part of the score, for similarity to the first documents; 0 without a second pass."""
    relevant_share: float | None
    """The share of relevant documents among those with this score in the first pass; null if the model has no shares,
    or if the documents are unlike those of the model."""
    place: str
    """The document's position in this version of the index, for `/v1/explain`."""
    snippet: Snippet | None
    text: str | None


class Judged(Versions):
    """The documents of a query, and whether the best of them is good enough."""

    no_good_answer: bool | None
    """Whether there are signs that no document answers the query; null if the model has no shares."""
    why_no_good_answer: str | None
    """The signs, and how often they are wrong; null without signs."""


class SearchAnswer(Judged):
    """The result of a search."""

    query: str
    results: tuple[Hit, ...]
    """The documents, best first; none if the model knows no word of the query."""
    documents: int
    """Number of searched documents, or of their passages."""
    milliseconds: float
    """Duration of the search, snippets included."""


class RankedText(JsonRecord):
    """A text of a request to rank."""

    rank: int
    position: int
    """Position in the request, from 0."""
    score: float
    relevant_share: float | None
    """See `Hit`."""


class RankAnswer(Judged):
    """Texts in the order of their scores; equal ones in the order of the request."""

    documents: tuple[RankedText, ...]
    milliseconds: float


class ExplainAnswer(Versions):
    """An explanation of a document's score."""

    query: str
    doc_id: str | None
    """Null if the request gave the text."""
    title: str | None
    text: str
    score: float
    """The sum of the explanation's parts."""
    relevant_share: float | None
    """See `Hit`."""
    explanation: Explanation
    milliseconds: float

"""What the HTTP service takes and gives, as its OpenAPI description tells."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from models.exported.explanation import Explanation
from schemas.index_manifest import Drift
from schemas.json_record import JsonRecord
from serving.snippet import Snippet

WORDED: Final = r"\S"
"""A text that is not blank, as a regular expression."""


class Inputs(BaseModel):
    """The base of what the service takes: a name that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StrictInputs(Inputs):
    """The base of what it takes as JSON, where a number is a number."""

    model_config = ConfigDict(strict=True)


class Problem(JsonRecord):
    """Why there is no result."""

    error: str
    """What must hold, what came, and what to do."""


class Ready(JsonRecord):
    """That the service answers."""

    ready: bool


class Alive(JsonRecord):
    """That the process runs."""

    alive: bool


class Versions(JsonRecord):
    """What made an answer."""

    model_version: str
    index_version: str


class Collection(Versions):
    """What is searched, and what the service grants."""

    documents: int
    query_language: str | None
    """ISO 639-1; null where it is not known."""
    document_language: str | None
    theta: tuple[float, ...]
    """The thresholds between the grades, on the scale of `dense`; empty where the model's loss has none."""
    grades: tuple[str, ...]
    """The names of the grades, the lowest first, of which one more than of thresholds; empty where there are none."""
    can_explain: bool
    drift: Drift | None = None
    """How far the documents are from those that the model was made with; null in an index of an earlier version."""
    most_query_characters: int
    most_k: int


class Hit(JsonRecord):
    """A document that was found."""

    rank: int
    doc_id: str
    title: str
    score: float
    dense: float
    """What the vectors add to the score."""
    words: float
    """What the words that match add to it."""
    grade: str | None
    """In whose band `dense` lies, between the thresholds; null where the model has none."""
    place: str
    """Of the document in this version of the index, for `/v1/explain`."""
    snippet: Snippet | None
    text: str | None


class SearchAnswer(Versions):
    """What a search found."""

    query: str
    results: tuple[Hit, ...]
    """The best first. None where the model knows no word of the query."""
    documents: int
    """That were searched."""
    milliseconds: float
    """That the search took, snippets included."""


class RankedText(JsonRecord):
    """A text of a request to rank."""

    rank: int
    position: int
    """In the request, from 0."""
    score: float


class RankAnswer(Versions):
    """Texts in the order of their scores; equal ones in that of the request."""

    documents: tuple[RankedText, ...]
    milliseconds: float


class ExplainAnswer(Versions):
    """Why a document has its score."""

    query: str
    doc_id: str | None
    """Null where the request gave the text."""
    title: str | None
    text: str
    score: float
    """The sum of the explanation's parts."""
    grade: str | None
    explanation: Explanation
    milliseconds: float


def describe_fault(fault: dict[str, Any]) -> str:
    """A fault that pydantic found in a request, as a sentence.

    Example:
      >>> describe_fault({"loc": ("query", "k"), "msg": "Input should be greater than 0", "input": "0"})
      "k: input should be greater than 0; got '0'."
      >>> describe_fault({"loc": ("query", "q"), "msg": "Field required", "type": "missing", "input": {}})
      'q must be given; it is missing.'
    """
    where = ".".join(map(str, _without_source(fault["loc"]))) or "the body"
    message = fault["msg"]
    kind, got = fault.get("type"), _shown(fault.get("input"))
    if kind == "missing":
        return f"{where} must be given; it is missing."
    if kind == "extra_forbidden":
        return f"{where} is not known here; leave it out, or see /openapi.json."
    if kind == "string_pattern_mismatch":
        return f"{where} must hold a word; got {got}."
    if kind == "string_unicode":  # JSON can escape halves of a character; no encoding has them
        return f"{where} must hold whole characters; got half of a surrogate pair: {got}."
    return f"{where}: {message[:1].lower()}{message[1:]}; got {got}."


def _without_source(path: Sequence[Any]) -> Sequence[Any]:
    return path[1:] if path and path[0] in ("query", "body") else path


def _shown(value: Any, most: int = 60) -> str:
    text = repr(value).encode("ascii", "backslashreplace").decode() if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[:most]}…"

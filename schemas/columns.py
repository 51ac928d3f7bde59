"""The columns of the files that a user brings: their order, and their names in headers and in JSON objects."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from schemas.drops import Drops
from schemas.wikiclir import Reason

Order: TypeAlias = tuple[int | None, ...]
"""For each column of a role, the position of its field in a line; None where the lines lack the column."""

_QUERY_ID: Final = ("query_id", "qid", "queryid", "topic_id")
_DOC_ID: Final = ("doc_id", "docid", "docno", "document_id", "corpus_id", "passage_id", "pid")
_TEXT: Final = ("text", "contents", "content", "body", "passage", "document", "sentence", "query", "question")
_GRADE: Final = ("grade", "relevance", "rel", "score", "label", "rating", "judgment", "judgement")
_PAIR: Final = {
    "query_id": ("_id", *_QUERY_ID, "topic", "query", "id"),
    "doc_id": (*_DOC_ID, "doc", "document", "passage"),
}


class Columns(NamedTuple):
    """The columns of a role's files, in the order of our own form."""

    names: Mapping[str, tuple[str, ...]]
    """A column's names in headers and JSON objects; the first that a file has counts."""
    orders: Mapping[int, Order]
    """The order of the fields by their number, in lines without a header; 0 stands for any number."""
    optional: frozenset[str] = frozenset()
    """The columns that a file may lack."""
    ids: int = 1
    """The number of columns, from the first on, that are ids."""
    white_space: bool = False
    """Whether any white space may separate the fields."""


def _text_columns(*ids: str) -> Columns:
    names = {"id": ("_id", *ids), "title": ("title",), "text": _TEXT}
    return Columns(names, {3: (0, 1, 2), 2: (0, None, 1)}, optional=frozenset({"title"}))


COLUMNS: Final[Mapping[str, Columns]] = {
    "queries": _text_columns(*_QUERY_ID, "id", *_DOC_ID),
    "documents": _text_columns(*_DOC_ID, "id", *_QUERY_ID),
    # Four are those of TREC's qrels, six those of its run files.
    "judgments": Columns({**_PAIR, "grade": _GRADE}, {3: (0, 1, 2), 4: (0, 2, 3)}, ids=2, white_space=True),
    "candidates": Columns({**_PAIR, "grade": _GRADE, "split": ("split",)}, {4: (0, 1, 2, 3)}, ids=2),
    "domains": Columns({"query_id": ("_id", *_QUERY_ID, "id"), "domain": ("domain", "topic", "tag")}, {2: (0, 1)}),
    "run": Columns({**_PAIR, "score": ("score",)}, {6: (0, 2, 4)}, ids=2, white_space=True),
    "ids": Columns({"id": ("_id", *_DOC_ID, "id", *_QUERY_ID)}, {0: (0,)}),
}
"""The columns by the role of a file: `run` is a first stage's run file, `ids` a list of ids or a file of documents."""

FORMS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("queries", "documents"), "lines of id, title, text, or of id, text; or JSON objects with an id and a text"
    ),
    "judgments": "lines of query_id, doc_id, grade, or of TREC's query_id, 0, doc_id, grade",
    "candidates": "lines of query_id, doc_id, grade, split",
    "domains": "lines of query_id, domain",
    "run": "lines of TREC's query_id, Q0, doc_id, rank, score, tag, separated by white space",
    "ids": "lines that begin with an id",
}
"""The form of each role's files, as an error message names it."""


def expected_form(role: str) -> str:
    """The sentence of an error that says what a role's file may look like."""
    return f"{FORMS[role]}; tabs or commas separate fields, and a header may name them in any order: docs/formats.md"


_OF_FORM: Final = frozenset(
    {
        *(Reason.FIELD_COUNT, Reason.BAD_QUOTES, Reason.BAD_JSON, Reason.BAD_ARRAY, Reason.NO_ID, Reason.NO_TEXT),
        *(Reason.BAD_HEADER, Reason.BAD_ID, Reason.EMPTY_TEXT, Reason.BAD_GRADE, Reason.BAD_SPLIT, Reason.BAD_SCORE),
    }
)


def form_note(role: str, drops: Iterable[Drops]) -> list[str]:
    """The last line of an error about bad lines: the form of the role's files, if that is what the lines lack."""
    return [f"  expected {expected_form(role)}"] if any(drop.reason in _OF_FORM for drop in drops) else []


def column_name(field: str) -> str:
    """The spelling in which `COLUMNS` has a name.

    Example:
      >>> column_name(' Query-ID')
      'query_id'
    """
    return field.strip().lower().replace("-", "_").replace(" ", "_")


class HeaderError(ValueError):
    """A header that does not name the columns; the message is the expected order, with a name of each."""


_NAME: Final = re.compile(r"[^\W\d][\w.-]*")


def header_order(role: str, fields: Sequence[str]) -> Order | None:
    """Orders the columns of a file by the names in its header.

    A line is a header if its fields name all columns, in any order and among others, or if they are single words and
    name at least the first id.

    Args:
      role: a key of `COLUMNS`.
      fields: the fields of the file's first line.

    Returns:
      the order, or None where the line is no header.

    Raises:
      HeaderError: the line is a header that lacks a column.

    Example:
      >>> header_order("documents", ["id", "text", "title"])
      (0, 2, 1)
      >>> header_order("judgments", ["corpus-id", "query-id", "score"])
      (1, 0, 2)
      >>> header_order("documents", ["d1", "title", "text"])
    """
    columns = COLUMNS[role]
    names = [column_name(field) for field in fields]
    order = tuple(
        next((names.index(name) for name in known if name in names), None) for known in columns.names.values()
    )
    if all(at is not None or name in columns.optional for at, name in zip(order, columns.names, strict=True)):
        return order
    if len(fields) > 1 and any(at is not None for at in order[: columns.ids]) and all(map(_NAME.fullmatch, fields)):
        wanted = (f"{name} (optional)" if name in columns.optional else name for name in columns.names)
        raise HeaderError(", ".join(wanted))
    return None

"""The columns of the files that a user brings: their order, and their names in headers and in JSON objects."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from schemas.drops import Drops
from schemas.errors import DataError
from schemas.languages import LANGUAGE_FIELD
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
    """A column's names in headers and JSON objects; if a file has several of them, the first counts."""
    orders: Mapping[int, Order]
    """The order of the fields in lines without a header, by the number of fields; 0 stands for any number."""
    optional: frozenset[str] = frozenset()
    """The columns that a file may lack."""
    ids: int = 1
    """Number of leading columns that are ids."""
    white_space: bool = False
    """Whether any white space may separate the fields."""
    further: frozenset[str] = frozenset()
    """The columns of documents by which a search can be filtered: a header must name them, and JSON objects may."""


def _text_columns(*ids: str) -> Columns:
    names = {"id": ("_id", *ids), "title": ("title",), "text": _TEXT}
    return Columns(names, {3: (0, 1, 2), 2: (0, None, 1)}, optional=frozenset({"title"}))


COLUMNS: Final[Mapping[str, Columns]] = {
    "queries": _text_columns(*_QUERY_ID, "id", *_DOC_ID),
    "documents": _text_columns(*_DOC_ID, "id", *_QUERY_ID),
    # TREC's qrels have four fields, its run files six.
    "judgments": Columns({**_PAIR, "grade": _GRADE}, {3: (0, 1, 2), 4: (0, 2, 3)}, ids=2, white_space=True),
    "candidates": Columns({**_PAIR, "grade": _GRADE, "split": ("split",)}, {4: (0, 1, 2, 3)}, ids=2),
    "domains": Columns({"query_id": ("_id", *_QUERY_ID, "id"), "domain": ("domain", "topic", "tag")}, {2: (0, 1)}),
    "run": Columns({**_PAIR, "score": ("score",)}, {6: (0, 2, 4)}, ids=2, white_space=True),
    "pairs": Columns(
        {
            "query": ("query", "source", "src", "question", "anchor", "query_text"),
            "document": ("document", "target", "tgt", "trg", "passage", "positive", "answer", "translation", "text"),
        },
        # Three are those of manythings.org (with a licence), four those of Tatoeba (with ids).
        {2: (0, 1), 3: (0, 1), 4: (1, 3)},
        ids=0,
    ),
    "ids": Columns({"id": ("_id", *_DOC_ID, "id", *_QUERY_ID)}, {0: (0,)}),
}
"""The columns by the role of a file: `run` is a first stage's run file, `pairs` has a query and its document in each
line, `ids` is a list of ids or a file of documents."""

FORMS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("queries", "documents"), "lines of id, title, text, or of id, text; or JSON objects with an id and a text"
    ),
    "judgments": "lines of query_id, doc_id, grade, or of TREC's query_id, 0, doc_id, grade",
    "candidates": "lines of query_id, doc_id, grade, split",
    "domains": "lines of query_id, domain",
    "run": "lines of TREC's query_id, Q0, doc_id, rank, score, tag, separated by white space",
    "pairs": "lines of a query, a tab, and its document; or JSON objects with a query and a document",
    "ids": "lines that begin with an id",
}
"""The form of each role's files, for error messages."""


def expected_form(role: str) -> str:
    """Returns the accepted forms of a role's file, for an error message."""
    return f"{FORMS[role]}; tabs or commas separate fields, and a header may name them in any order: docs/formats.md"


_FORM_REASONS: Final = frozenset(
    {
        *(Reason.FIELD_COUNT, Reason.BAD_QUOTES, Reason.BAD_JSON, Reason.BAD_ARRAY, Reason.NO_ID, Reason.NO_TEXT),
        *(Reason.BAD_HEADER, Reason.BAD_ID, Reason.EMPTY_TEXT, Reason.BAD_GRADE, Reason.BAD_SPLIT, Reason.BAD_SCORE),
    }
)


def columns_hint(role: str) -> str:
    """Returns a sentence that says how a file with other names of columns is read; empty for roles without a way.

    Example:
      >>> columns_hint("judgments")
      'Columns of other names: `clir convert --columns grade=NAME`; from Python, columns={"grade": ["NAME"]}.'
    """
    if role not in ("queries", "documents", "judgments", "pairs"):
        return ""
    *_, column = COLUMNS[role].names
    return (
        f"Columns of other names: `clir convert --columns {column}=NAME`; from Python, "
        f'columns={{"{column}": ["NAME"]}}.'
    )


def form_note(role: str, drops: Iterable[Drops]) -> list[str]:
    """Returns the last lines of an error, the accepted forms and the hint, if the form of any line was wrong."""
    if not any(drop.reason in _FORM_REASONS for drop in drops):
        return []
    return [f"  {line}" for line in (f"expected {expected_form(role)}", columns_hint(role)) if line]


def column_name(field: str) -> str:
    """The spelling in which `COLUMNS` has a name.

    Example:
      >>> column_name(' Query-ID')
      'query_id'
    """
    return field.strip().lower().replace("-", "_").replace(" ", "_")


class HeaderError(ValueError):
    """A header that does not name the columns; the message lists the names of all columns, in order."""

    def __init__(self, columns: Columns) -> None:
        super().__init__(
            ", ".join(f"{name} (optional)" if name in columns.optional else name for name in columns.names)
        )


_FIELD: Final = re.compile(r"[\w.]+")
_NAME: Final = re.compile(r"[^\W\d][\w.-]*")


def own_columns(role: str, names: Mapping[str, Sequence[str]]) -> Columns:
    """Returns the columns of a role's files, with further names in headers and JSON objects.

    Args:
      role: a key of `COLUMNS`.
      names: column to the names that count before the usual ones.

    Example:
      >>> own_columns("judgments", {"grade": ["Stars"]}).names["grade"][:2]
      ('stars', 'grade')
    """
    columns = COLUMNS[role]
    own = {column: (*map(column_name, names.get(column, ())), *usual) for column, usual in columns.names.items()}
    return columns._replace(names=own)


def is_header(fields: Sequence[str]) -> bool:
    """Whether all fields are single words that begin with a letter."""
    return all(map(_NAME.fullmatch, fields))


def field_name(name: str) -> str:
    """Returns the name of a field by which a search can be filtered, in the spelling of columns.

    Raises:
      ValueError: the text is no such name.

    Example:
      >>> field_name("Lang")
      'lang'
    """
    field = column_name(name)
    if not _FIELD.fullmatch(field) or field in COLUMNS["documents"].names:
        raise ValueError(f"a field must be a word other than id, title and text, such as lang; got {name!r}")
    return field


def text_columns(
    fields: Sequence[str], role: str = "documents", names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Columns:
    """Returns the columns of documents or of queries with fields.

    Args:
      fields: distinct names from `field_name`.
      role: documents or queries.
      names: column to the names that count before the usual ones.
    """
    columns = own_columns(role, names)
    field_names = {field: (*map(column_name, names.get(field, ())), field) for field in fields}
    return columns._replace(
        names={**columns.names, **field_names},
        orders={width: (*order, *(None for _ in fields)) for width, order in columns.orders.items()},
        further=frozenset(fields),
    )


def fields_of_roles(in_languages: Collection[str], fields: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns the fields of queries and of documents: first the language, where there are several.

    Args:
      in_languages: the roles whose texts are in several languages.
      fields: further fields of documents.

    Example:
      >>> fields_of_roles(["documents"], ["year", "lang"])
      {'queries': (), 'documents': ('lang', 'year')}
    """
    return {
        role: tuple(dict.fromkeys([*([LANGUAGE_FIELD] if role in in_languages else []), *further]))
        for role, further in (("queries", ()), ("documents", fields))
    }


def check_values(documents: Mapping[str, int]) -> None:
    """Raises a DataError for fields that no document has.

    Args:
      documents: field to the number of documents with a value.
    """
    if lacking := [field for field, number in documents.items() if not number]:
        raise DataError(f"No document has a value of {', '.join(lacking)}; name fields that the documents have.")


def header_order(columns: Columns, fields: Sequence[str]) -> Order | None:
    """Returns the order of a file's columns by the names in its header.

    A line is a header if its fields name all required columns, in any order and among other fields, or if all fields
    are single words and one is the name of an id.

    Args:
      columns: those of the file's role.
      fields: the fields of the file's first line.

    Returns:
      the order, or None where the line is not a header.

    Raises:
      HeaderError: the line is a header that lacks a column.

    Example:
      >>> header_order(COLUMNS["documents"], ["id", "text", "title"])
      (0, 2, 1)
      >>> header_order(COLUMNS["judgments"], ["corpus-id", "query-id", "score"])
      (1, 0, 2)
      >>> header_order(COLUMNS["documents"], ["d1", "title", "text"])
    """
    names = [column_name(field) for field in fields]
    order = tuple(
        next((names.index(name) for name in known if name in names), None) for known in columns.names.values()
    )
    if columns.optional.issuperset(name for name, at in zip(columns.names, order, strict=True) if at is None):
        return order
    if len(fields) > 1 and any(at is not None for at in order[: columns.ids]) and is_header(fields):
        raise HeaderError(columns)
    return None

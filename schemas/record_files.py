"""Reads the records of a user's files, in each of their forms (`schemas.forms`).

A parser yields one record or one `Drop` for every line: lines read = records + drops. In a JSON array, an entry counts
as a line. Blank lines at the end are not read, and ids lose their invisible characters (`visible_id`).
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import BinaryIO, Final

from schemas.columns import Columns
from schemas.domains import is_domain
from schemas.drops import Drop, DropReason
from schemas.forms import Row, checked_row, is_id, read_rows
from schemas.splits import SPLITS
from schemas.trec import RunLine
from schemas.wikiclir import Judgment, QueryDomain, Reason, Text, excerpt_of, visible_id

ANY_GRADE: Final = range(-(10**9), 10**9)


def parse_texts(
    stream: BinaryIO,
    file: str,
    seen: set[str] | None = None,
    role: str = "documents",
    with_titles: bool = False,
    columns: Columns | None = None,
) -> Iterator[Text | Drop]:
    """Yields queries or documents; keeps the first record of an id, and drops later ones.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
      seen: the ids of earlier files of the same collection; the ids of this file are added.
      role: queries or documents.
      with_titles: whether to repeat the title at the beginning of the text.
      columns: the columns, if the files have other names for them.

    Example:
      >>> import io
      >>> [*parse_texts(io.BytesIO(b'{"_id": 7, "text": "two\\\\nlines"}'), "corpus.jsonl")]
      [Text(id='7', title='', text='two lines', line=1, fields=())]
      >>> [*parse_texts(io.BytesIO(b'text,id\\n"un loup, deux",d1'), "corpus.csv")][1:]
      [Text(id='d1', title='', text='un loup, deux', line=2, fields=())]
    """
    return _texts(read_rows(role, stream, file, columns), file, set() if seen is None else seen, with_titles)


def parse_judgments(
    stream: BinaryIO,
    file: str,
    grades: range = ANY_GRADE,
    columns: Columns | None = None,
    scale: tuple[float, ...] | None = None,
) -> Iterator[Judgment | Drop]:
    """Yields judgments, whose grade must be allowed and may be written as 1.0.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
      grades: the allowed grades.
      columns: the columns, if the files have other names for them.
      scale: the lowest number of grade 1, of grade 2, and so on, ascending; None where the numbers are grades.

    Example:
      >>> import io
      >>> [*parse_judgments(io.BytesIO(b"q1 0 d1 -2"), "qrels")]
      [Judgment(query_id='q1', doc_id='d1', grade=-2, split='', line=1)]
      >>> [record.grade for record in parse_judgments(io.BytesIO(b"q1 0 d1 0.5"), "qrels", scale=(0.3, 0.7))]
      [1]
    """
    return _judgments(read_rows("judgments", stream, file, columns), file, grades, scale)


def parse_run(stream: BinaryIO, file: str) -> Iterator[RunLine | Drop]:
    """Yields the lines of a first stage's run file.

    Drops bad lines; `schemas.trec.parse_run` refuses a file that has any.

    Example:
      >>> import io
      >>> [*parse_run(io.BytesIO(b"q1 Q0 d1 1 12.5 bm25"), "run.trec")]
      [RunLine(query_id='q1', doc_id='d1', score=12.5, line=1)]
    """
    for row in read_rows("run", stream, file):
        if isinstance(row, Drop):
            yield row
            continue
        number, (query_id, doc_id, score), _ = row
        query_id, doc_id = visible_id(query_id), visible_id(doc_id)
        if not (is_id(query_id) and is_id(doc_id)):
            yield _drop(Reason.BAD_ID, file, row)
        elif not math.isfinite(_number(score)):
            yield _drop(Reason.BAD_SCORE, file, row)
        else:
            yield RunLine(query_id, doc_id, float(score), number)


def parse_ids(stream: BinaryIO, file: str) -> Iterator[str | Drop]:
    """Yields the ids of a list of ids, or of a file of documents."""
    for row in read_rows("ids", stream, file):
        if isinstance(row, Drop):
            yield row
        else:
            identifier = visible_id(row[1][0].strip())
            yield identifier if is_id(identifier) else _drop(Reason.BAD_ID, file, row)


def parse_role(
    role: str, stream: BinaryIO, file: str, top_grade: int, seen: set[str] | None, columns: Columns | None = None
) -> Iterator[Text | Judgment | QueryDomain | Drop]:
    """Parses a file of any role.

    Args:
      role: queries, documents, judgments, candidates or domains.
      stream: the file's bytes.
      file: the file's name, for the drops.
      top_grade: the MR grade.
      seen: the ids of the role's earlier files; the ids of this file are added. None keeps repeated ids.
      columns: the columns, if the files have other names for them.
    """
    rows = read_rows(role, stream, file, columns)
    if role in ("queries", "documents"):
        return _texts(rows, file, seen, with_titles=False)
    if role == "domains":
        return _domains(rows, file)
    return _judgments(rows, file, range(top_grade + 1))


# Records


def _texts(rows: Iterable[Row | Drop], file: str, seen: set[str] | None, with_titles: bool) -> Iterator[Text | Drop]:
    for row in rows:
        if isinstance(row, Drop):
            yield row
            continue
        number, (identifier, title, text, *fields), line = row
        identifier = visible_id(identifier)
        if with_titles:
            checked = checked_row((number, (identifier, title, f"{title} {text}".strip()), line), file)
            if isinstance(checked, Drop):
                yield checked
                continue
            text = checked[1][-1]
        reason = None
        if not is_id(identifier):
            reason = Reason.BAD_ID
        elif not text or text.isspace():
            reason = Reason.EMPTY_TEXT
        elif seen is not None and identifier in seen:
            reason = Reason.DUPLICATE_ID
        if reason:
            yield Drop(reason, file, number, excerpt_of(line))
        else:
            if seen is not None:
                seen.add(identifier)
            yield Text(identifier, title, text, number, tuple(map(str.strip, fields)))


@lru_cache(1000)
def _grade(text: str, scale: tuple[float, ...] | None) -> int | None:
    """Parses a whole number, or the grade of a number on a scale; None for any other text."""
    if scale is not None:
        number = _number(text)
        return bisect_right(scale, number) if math.isfinite(number) else None
    match = re.fullmatch(r"([+-]?[0-9]{1,9})(?:\.0*)?", text)
    return int(match[1]) if match else None


def _judgments(
    rows: Iterable[Row | Drop], file: str, grades: range, scale: tuple[float, ...] | None = None
) -> Iterator[Judgment | Drop]:
    for row in rows:
        if isinstance(row, Drop):
            yield row
            continue
        number, fields, _ = row
        query_id, doc_id, split = visible_id(fields[0]), visible_id(fields[1]), fields[3] if len(fields) > 3 else None
        if not (is_id(query_id) and is_id(doc_id)):
            yield _drop(Reason.BAD_ID, file, row)
        elif (grade := _grade(fields[2], scale)) is None or grade not in grades:
            yield _drop(Reason.BAD_GRADE, file, row)
        elif split is not None and split not in SPLITS:
            yield _drop(Reason.BAD_SPLIT, file, row)
        else:
            yield Judgment(query_id, doc_id, grade, split or "", number)


def _domains(rows: Iterable[Row | Drop], file: str) -> Iterator[QueryDomain | Drop]:
    for row in rows:
        if isinstance(row, Drop):
            yield row
            continue
        number, (query_id, domain), _ = row
        query_id = visible_id(query_id)
        if not is_id(query_id):
            yield _drop(Reason.BAD_ID, file, row)
        elif not is_domain(domain):
            yield _drop(Reason.BAD_DOMAIN, file, row)
        else:
            yield QueryDomain(query_id, domain, number)


def _drop(reason: DropReason, file: str, row: Row) -> Drop:
    return Drop(reason, file, row[0], excerpt_of(row[2]))


def _number(text: str) -> float:
    """Parses a number; NaN for any other text."""
    try:
        return float(text)
    except ValueError:
        return math.nan

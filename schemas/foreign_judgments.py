"""Judgments in other layouts than ours.

    TREC    query_id 0 doc_id grade                   any white space between
    BEIR    query-id <TAB> corpus-id <TAB> score      below a header of these very words
    three columns like BEIR's without the header

The first line of one of these forms tells which it is.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from schemas.drops import Drop, DropReason
from schemas.foreign_lines import foreign_lines
from schemas.foreign_reason import ForeignReason
from schemas.wikiclir import Judgment, Reason, excerpt_of

MOST_GRADE: Final = 100
"""The largest grade that a judgment may have, as in `data.top_grade`."""

_HEADER: Final = ["query-id", "corpus-id", "score"]


def parse_foreign_judgments(stream: BinaryIO, file: str, split: str) -> Iterator[Judgment | Drop]:
    """One `Judgment`, its grade as it stands there, perhaps below 0, or one `Drop` for every line.

    Args:
      stream: of the file's bytes, which may be gzipped or bzipped.
      file: its name, for the drops.
      split: of the file's judgments; empty where it names none.

    Example:
      >>> import io
      >>> [*parse_foreign_judgments(io.BytesIO(b"q1 0 d1 -2"), "qrels", "test")]
      [Judgment(query_id='q1', doc_id='d1', grade=-2, split='test', line=1)]
    """
    columns, separator = 0, None
    for item in foreign_lines(stream, file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        if not columns:
            columns, separator = _layout(line)
        fields = [field.strip() for field in line.split(separator)]
        reason: DropReason | None = None
        if number == 1 and fields == _HEADER:
            reason = ForeignReason.HEADER
        elif not columns or len(fields) != columns:
            reason = Reason.FIELD_COUNT
        elif any(field.split() != [field] for field in fields):
            reason = Reason.BAD_ID
        elif not re.fullmatch(r"[+-]?[0-9]{1,9}", fields[-1]) or int(fields[-1]) > MOST_GRADE:
            reason = ForeignReason.BAD_GRADE
        if reason is not None:
            yield Drop(reason, file, number, excerpt_of(line))
        else:
            yield Judgment(fields[0], fields[-2], int(fields[-1]), split, number)


def _layout(line: str) -> tuple[int, str | None]:
    """The number of columns, and what separates them; 0 where the line has neither form."""
    if line.count("\t") == 2 and len(line.split()) <= 3:
        return 3, "\t"
    found = len(line.split())
    return (found if found in (3, 4) else 0), None

"""Queries and documents in other layouts than ours.

    JSON lines    {"_id": "d1", "title": "...", "text": "..."}    as BEIR, ir_datasets and NeuCLIR have them
    TSV           id <TAB> text
    TSV           id <TAB> title <TAB> text

The first line tells which. A JSON object's id stands under one of `ID_KEYS`, as a text or an integer; its title may be
missing; any other key is ignored.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from schemas.drops import Drop, DropReason
from schemas.foreign_lines import foreign_lines
from schemas.foreign_reason import ForeignReason
from schemas.wikiclir import MAX_LINE_BYTES, Reason, Text, excerpt_of

ID_KEYS: Final = ("_id", "doc_id", "query_id", "docno", "id")
"""Where an id may stand: the first of these that an object has."""

_COLUMNS: Final = (2, 3)


def parse_foreign_texts(stream: BinaryIO, file: str, with_titles: bool = False) -> Iterator[Text | Drop]:
    """One `Text`, which a line of our own files can hold, or one `Drop` for every line.

    Tabs and line ends within a title or a text become single spaces. Whether an id is given twice is the caller's to
    see.

    Args:
      stream: of the file's bytes, which may be gzipped or bzipped.
      file: its name, for the drops.
      with_titles: whether a title is put before its text, besides standing in its place.

    Example:
      >>> import io
      >>> [*parse_foreign_texts(io.BytesIO(b'{"_id": 7, "text": "two\\\\nlines"}'), "corpus.jsonl")]
      [Text(id='7', title='', text='two lines', line=1)]
    """
    is_json: bool | None = None
    columns = 0
    for item in foreign_lines(stream, file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        if is_json is None:
            is_json = line.lstrip().startswith("{")
        if not is_json and not columns and (found := line.count("\t") + 1) in _COLUMNS:
            columns = found
        fields = _of_json(line) if is_json else _of_columns(line, columns)
        if isinstance(fields, DropReason):
            yield Drop(fields, file, number, excerpt_of(line))
            continue
        identifier, title, text = fields
        if with_titles:
            text = f"{title} {text}".strip()
        if reason := _fault(identifier, title, text):
            yield Drop(reason, file, number, excerpt_of(line))
        else:
            yield Text(identifier, title, text, number)


def _of_json(line: str) -> tuple[str, str, str] | DropReason:
    """Id, title and text of a JSON object."""
    try:
        content: Any = json.loads(line)
    except (ValueError, RecursionError):
        return ForeignReason.BAD_JSON
    if not isinstance(content, dict):
        return ForeignReason.BAD_JSON
    identifier = next((content[key] for key in ID_KEYS if key in content), None)
    if isinstance(identifier, bool) or not isinstance(identifier, str | int):
        return ForeignReason.NO_ID
    title, text = content.get("title"), content.get("text")
    if not isinstance(text, str):
        return ForeignReason.NO_TEXT
    return str(identifier), _on_one_line(title if isinstance(title, str) else ""), _on_one_line(text)


def _of_columns(line: str, columns: int) -> tuple[str, str, str] | DropReason:
    """Id, title and text of a line of so many columns."""
    fields = line.split("\t")
    if len(fields) != columns:
        return Reason.FIELD_COUNT
    return fields[0], _on_one_line(fields[1] if columns == 3 else ""), _on_one_line(fields[-1])


def _on_one_line(text: str) -> str:
    return re.sub(r"[\t\r\n]+", " ", text).strip()


def _fault(identifier: str, title: str, text: str) -> DropReason | None:
    """Why our own files could not hold a record, if so."""
    # A byte-order mark at the start of a file would be taken off.
    if identifier.split() != [identifier] or "\ufeff" in identifier:
        return Reason.BAD_ID
    if not text:
        return Reason.EMPTY_TEXT
    line = f"{identifier}\t{title}\t{text}"
    if "\x00" in line:
        return Reason.NUL_BYTE
    try:
        return Reason.LINE_TOO_LONG if len(line.encode("utf-8")) > MAX_LINE_BYTES else None
    except UnicodeEncodeError:  # half of a surrogate pair, as JSON may escape it
        return Reason.BAD_UTF8

"""Files in other layouts than ours, plain, gzipped or bzipped, within the bounds of our own.

Queries and documents; a JSON object's id stands under one of `ID_KEYS`, as a text or an integer, its text under one of
`TEXT_KEYS`, its title may be missing, and other keys are ignored:

    JSON lines    {"_id": "d1", "title": "...", "text": "..."}    as BEIR, ir_datasets, NeuCLIR, MIRACL and Pyserini do
    TSV           id <TAB> text
    TSV           id <TAB> title <TAB> text

Judgments:

    TREC    query_id 0 doc_id grade                   any white space between
    BEIR    query-id <TAB> corpus-id <TAB> score      below a header of these very words
    three columns like BEIR's without the header

A first stage's run:

    TREC    query_id Q0 doc_id rank score tag         any white space between

The first line of one of these forms determines the form of a file. Ids are read without marks that nobody sees, as in
our own files.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

from schemas.drops import Drop, DropReason
from schemas.wikiclir import MAX_LINE_BYTES, Judgment, Reason, Text, excerpt_of, is_header, read_lines, visible_id

ID_KEYS: Final = ("_id", "doc_id", "query_id", "docid", "docno", "qid", "id")
"""The keys of an id; the first one that an object has counts."""
TEXT_KEYS: Final = ("text", "contents", "query")
"""The keys of a text, likewise."""


class ForeignReason(DropReason):
    """The reasons for leaving a record out that occur only in other layouts, or only in a conversion."""

    EMPTY_LINE = ("empty line", False)
    BAD_JSON = ("no JSON object", True)
    NO_ID = (f"no id under {', '.join(ID_KEYS)}", True)
    NO_TEXT = (f"no text under {', '.join(TEXT_KEYS)}", True)
    BAD_GRADE = ("grade is no integer up to 100", True)
    RUN_FIELDS = ("not the six fields query_id Q0 doc_id rank score tag, with spaces or tabs between", True)
    JUDGMENT_FIELDS = ("neither query_id 0 doc_id grade nor three columns, like the first line", True)
    BAD_SCORE = ("score is no finite number", True)
    BEYOND_DEPTH = ("document beyond --depth", False)
    NO_TOP_GRADE = ("query without a document of the top grade", False)
    NOT_IN_RUN = ("query without a document in the run", False)
    NO_TOP_GRADE_IN_RUN = ("test query without a document of the top grade in the run", False)


_Record = TypeVar("_Record", Text, Judgment, "RunLine")


def _parse(
    stream: BinaryIO, file: str, parse_line: Callable[[int, str], _Record | DropReason]
) -> Iterator[_Record | Drop]:
    """One record or one `Drop` for every line of a file; `parse_line` gets the number and the text of a line."""
    for item in read_lines(stream, file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            yield Drop(Reason.BAD_UTF8, file, number, excerpt_of(line))
            continue
        found: _Record | DropReason
        if "\x00" in text:
            found = Reason.NUL_BYTE
        elif not text.strip():
            found, text = ForeignReason.EMPTY_LINE, ""
        else:
            found = parse_line(number, text)
        yield Drop(found, file, number, excerpt_of(text)) if isinstance(found, DropReason) else found


_COLUMNS: Final = (2, 3)


def parse_foreign_texts(stream: BinaryIO, file: str, with_titles: bool = False) -> Iterator[Text | Drop]:
    """One `Text`, which a line of our own files can hold, or one `Drop` for every line.

    Tabs and line ends within a title or a text become single spaces. The caller looks for repeated ids.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
      with_titles: whether to put a title before its text as well.

    Example:
      >>> import io
      >>> [*parse_foreign_texts(io.BytesIO(b'{"_id": 7, "text": "two\\\\nlines"}'), "corpus.jsonl")]
      [Text(id='7', title='', text='two lines', line=1)]
    """
    is_json: bool | None = None
    columns = 0

    def parse_line(number: int, line: str) -> Text | DropReason:
        nonlocal is_json, columns
        if is_json is None:
            is_json = line.lstrip("\ufeff \t").startswith("{")
        if not is_json and number == 1 and is_header(line.split("\t")):
            return Reason.HEADER
        if not is_json and not columns and (found := line.count("\t") + 1) in _COLUMNS:
            columns = found
        fields = _of_json(line) if is_json else _of_columns(line, columns)
        if isinstance(fields, DropReason):
            return fields
        identifier, title, text = visible_id(fields[0]), *fields[1:]
        if with_titles:
            text = f"{title} {text}".strip()
        return _fault(identifier, title, text) or Text(identifier, title, text, number)

    return _parse(stream, file, parse_line)


def _of_json(line: str) -> tuple[str, str, str] | DropReason:
    """Id, title and text of a JSON object."""
    try:
        content: Any = json.loads(line.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return ForeignReason.BAD_JSON
    if not isinstance(content, dict):
        return ForeignReason.BAD_JSON
    identifier = next((content[key] for key in ID_KEYS if key in content), None)
    if isinstance(identifier, bool) or not isinstance(identifier, str | int):
        return ForeignReason.NO_ID
    title, text = content.get("title"), next((content[key] for key in TEXT_KEYS if key in content), None)
    if not isinstance(text, str):
        return ForeignReason.NO_TEXT
    return str(identifier), _on_one_line(title if isinstance(title, str) else ""), _on_one_line(text)


def _of_columns(line: str, columns: int) -> tuple[str, str, str] | DropReason:
    """Id, title and text of a line with this number of columns."""
    fields = line.split("\t")
    if len(fields) != columns:
        return Reason.FIELD_COUNT
    return fields[0], _on_one_line(fields[1] if columns == 3 else ""), _on_one_line(fields[-1])


def _on_one_line(text: str) -> str:
    return re.sub(r"[\t\r\n]+", " ", text).strip()


def _fault(identifier: str, title: str, text: str) -> DropReason | None:
    """The reason why our own files cannot hold a record, or None."""
    if identifier.split() != [identifier]:
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


MOST_GRADE: Final = 100
"""The largest grade of a judgment, as in `data.top_grade`."""


def parse_foreign_judgments(stream: BinaryIO, file: str, split: str) -> Iterator[Judgment | Drop]:
    """One `Judgment`, with the file's own grade, which may be below 0, or one `Drop` for every line.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
      split: the split of the file's judgments; may be empty.

    Example:
      >>> import io
      >>> [*parse_foreign_judgments(io.BytesIO(b"q1 0 d1 -2"), "qrels", "test")]
      [Judgment(query_id='q1', doc_id='d1', grade=-2, split='test', line=1)]
    """
    columns, separator = 0, None

    def parse_line(number: int, line: str) -> Judgment | DropReason:
        nonlocal columns, separator
        if not columns:
            columns, separator = _layout(line)
        fields = [visible_id(field.strip()) for field in line.split(separator)]
        if number == 1 and is_header(fields):
            return Reason.HEADER
        if not columns or len(fields) != columns:
            return ForeignReason.JUDGMENT_FIELDS
        if any(field.split() != [field] for field in fields):
            return Reason.BAD_ID
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", fields[-1]) or int(fields[-1]) > MOST_GRADE:
            return ForeignReason.BAD_GRADE
        return Judgment(fields[0], fields[-2], int(fields[-1]), split, number)

    return _parse(stream, file, parse_line)


def _layout(line: str) -> tuple[int, str | None]:
    """The number of columns, and their separator; 0 where the line has neither form."""
    if line.count("\t") == 2 and len(line.split()) <= 3:
        return 3, "\t"
    found = len(line.split())
    return (found if found in (3, 4) else 0), None


class RunLine(NamedTuple):
    """A document that a first stage ranks for a query, by its score as in `trec_eval`; its rank is not read."""

    query_id: str
    doc_id: str
    score: float
    line: int


def parse_foreign_run(stream: BinaryIO, file: str) -> Iterator[RunLine | Drop]:
    """One `RunLine` or one `Drop` for every line.

    Unlike `schemas.trec.parse_run`, which refuses a file with a bad line, this loses only the bad line.

    Example:
      >>> import io
      >>> [*parse_foreign_run(io.BytesIO(b"q1 Q0 d1 1 12.5 bm25"), "run.trec")]
      [RunLine(query_id='q1', doc_id='d1', score=12.5, line=1)]
    """

    def parse_line(number: int, line: str) -> RunLine | DropReason:
        fields = line.split()
        if number == 1 and is_header(fields):
            return Reason.HEADER
        if len(fields) != 6:
            return ForeignReason.RUN_FIELDS
        score = _score(fields[4])
        return (
            RunLine(visible_id(fields[0]), visible_id(fields[2]), score, number)
            if math.isfinite(score)
            else ForeignReason.BAD_SCORE
        )

    return _parse(stream, file, parse_line)


def _score(text: str) -> float:
    """The number, or NaN."""
    try:
        return float(text)
    except ValueError:
        return math.nan

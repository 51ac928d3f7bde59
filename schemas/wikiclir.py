"""The file format of the WikiCLIR release (Sasaki et al. 2018): names, records, and parsers that report every loss.

Tab-separated UTF-8 without header or quoting, plain, gzipped or bzipped:

    queries     query_id <TAB> title <TAB> text
    documents   doc_id <TAB> title <TAB> text
    judgments   query_id <TAB> doc_id <TAB> grade
    candidates  query_id <TAB> doc_id <TAB> grade <TAB> split

and, our addition:

    pairs       query-language text <TAB> document-language text

A parser yields one record or one `Drop` for every line: lines read = records + drops.
"""

import itertools
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, NamedTuple

from schemas.byte_streams import unpacked
from schemas.drops import Drop, DropReason
from schemas.splits import SPLITS
from schemas.wording import printable

MAX_LINE_BYTES = 1 << 24
"""Longer lines are dropped: no text of this format is near this size, and a line might not fit in memory."""

EXCERPT_CHARACTERS = 80


PAIRS_FILE: Final = "title_pairs.tsv"
"""Titles of both languages that mean the same, for `lexicon.pairs`."""
CANDIDATES_FILE: Final = "candidates.tsv"
"""Fixed lists of a wiki that is paired with itself: a page is never an NR document of its own query."""
MANIFEST_FILE: Final = "manifest.json"
CARD_FILE: Final = "README.md"


def queries_file(query_language: str) -> str:
    """The WikiCLIR release's name of the queries."""
    return f"wiki_{query_language}.queries"


def documents_file(document_language: str) -> str:
    """The WikiCLIR release's name of the documents."""
    return f"wiki_{document_language}.documents"


def judgments_file(query_language: str, document_language: str) -> str:
    """The WikiCLIR release's name of the judgments."""
    return f"{query_language}2{document_language}.rel"


class Reason(DropReason):
    """The reasons for leaving a record out."""

    FIELD_COUNT = ("wrong number of tab-separated fields", True)
    BAD_UTF8 = ("not valid UTF-8", True)
    NUL_BYTE = ("contains a NUL byte", True)
    LINE_TOO_LONG = (f"line longer than {MAX_LINE_BYTES >> 20} MiB", True)
    BAD_ID = ("empty id, or white space in an id", True)
    EMPTY_TEXT = ("empty text", True)
    DUPLICATE_ID = ("duplicate id", True)
    DUPLICATE_PAIR = ("query and document given twice", True)
    BAD_GRADE = ("grade is not one of 0 .. data.top_grade", True)
    BAD_SPLIT = ("split is not train, eval or test", True)
    UNREADABLE = ("rest of the file cannot be read", True, True)
    UNKNOWN_QUERY = ("unknown query", True)
    UNKNOWN_DOCUMENT = ("unknown document", True)
    NO_MOST_RELEVANT = ("query without an MR document (its grade is data.top_grade)", True)
    TWO_SPLITS = ("query in two splits", True)
    QUERY_DROPPED = ("its query was left out", False)
    NO_JUDGMENT = ("query without a judgment or candidate", False)
    BEYOND_LIMIT = ("query beyond data.max_queries", False)
    COLD = ("cold, and so in neither train nor eval (data.cold_share)", False)
    OTHER_SPLIT = ("relevant document of another split (data.split)", False)
    NOT_A_CANDIDATE = ("judged document that is no candidate", False)
    NOT_IN_A_LIST = ("document that no list needs", False)


class Text(NamedTuple):
    """A query or a document. The title is for display only."""

    id: str
    title: str
    text: str
    line: int


class Judgment(NamedTuple):
    """The relevance grade of a document for a query; only a candidates file sets `split`."""

    query_id: str
    doc_id: str
    grade: int
    split: str
    line: int


def excerpt_of(line: bytes | str) -> str:
    """The start of a line as text to show, with bars for tabs and a sign for each unprintable character."""
    text = line[: 4 * EXCERPT_CHARACTERS].decode("utf-8", "replace") if isinstance(line, bytes) else line
    return printable(text.replace("\t", " | "), EXCERPT_CHARACTERS)


def read_lines(stream: BinaryIO, file: str) -> Iterator[tuple[int, bytes] | Drop]:
    """Yields (line number, bytes without the line end) of a plain, gzipped or bzipped stream, in order.

    A line beyond `MAX_LINE_BYTES` gives a `Drop`, and so does the rest of a stream that cannot be unpacked.
    """
    with unpacked(stream) as lines:
        yield from number_lines(lines, file)


def number_lines(lines: BinaryIO, file: str) -> Iterator[tuple[int, bytes] | Drop]:
    """Does the same as `read_lines` on a stream that is already unpacked."""
    for number in itertools.count(1):
        try:
            line = lines.readline(MAX_LINE_BYTES + 1)
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                excerpt = line[:EXCERPT_CHARACTERS]
                while line and not line.endswith(b"\n"):
                    line = lines.readline(MAX_LINE_BYTES)
                yield Drop(Reason.LINE_TOO_LONG, file, number, excerpt_of(excerpt))
                continue
        except (OSError, EOFError, zlib.error) as error:
            yield Drop(Reason.UNREADABLE, file, number, str(error))
            return
        if not line:
            return
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        yield number, line.removesuffix(b"\n").removesuffix(b"\r")


def parse_texts(stream: BinaryIO, file: str, seen: set[str] | None = None) -> Iterator[Text | Drop]:
    """Queries or documents: keeps the first record of an id, and drops later ones.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
      seen: the ids of earlier files of the same collection; the ids of this file are added.
    """
    return _parse_texts(read_lines(stream, file), file, set() if seen is None else seen)


def parse_pairs(stream: BinaryIO, file: str) -> Iterator[tuple[str, str] | Drop]:
    """Translated texts: words of a dictionary, or sentences."""
    for fields in _split_fields(read_lines(stream, file), file, 2):
        if isinstance(fields, Drop):
            yield fields
            continue
        number, (query, document) = fields
        if query.strip() and document.strip():
            yield query, document
        else:
            yield Drop(Reason.EMPTY_TEXT, file, number, excerpt_of(f"{query}\t{document}"))


def parse_lines(
    role: str, lines: Iterable[tuple[int, bytes] | Drop], file: str, top_grade: int, seen: set[str] | None
) -> Iterator[Text | Judgment | Drop]:
    """Parses the lines of `read_lines` by the name of their role.

    Args:
      role: queries, documents, judgments or candidates.
      lines: the lines of one file.
      file: the file's name, for the drops.
      top_grade: the MR grade.
      seen: the ids of the role's earlier files; the ids of this file are added. None keeps repeated ids.
    """
    if role in ("queries", "documents"):
        return _parse_texts(lines, file, seen)
    return _parse_judgments(lines, file, {"judgments": 3, "candidates": 4}[role], top_grade)


def _parse_texts(lines: Iterable[tuple[int, bytes] | Drop], file: str, seen: set[str] | None) -> Iterator[Text | Drop]:
    for fields in _split_fields(lines, file, 3):
        if isinstance(fields, Drop):
            yield fields
            continue
        number, (identifier, title, text) = fields
        reason = None
        if not _is_id(identifier):
            reason = Reason.BAD_ID
        elif not text or text.isspace():
            reason = Reason.EMPTY_TEXT
        elif seen is not None and identifier in seen:
            reason = Reason.DUPLICATE_ID
        if reason:
            yield Drop(reason, file, number, excerpt_of(f"{identifier}\t{title}\t{text}"))
        else:
            if seen is not None:
                seen.add(identifier)
            yield Text(identifier, title, text, number)


def _parse_judgments(
    lines: Iterable[tuple[int, bytes] | Drop], file: str, count: int, top_grade: int
) -> Iterator[Judgment | Drop]:
    for fields in _split_fields(lines, file, count):
        if isinstance(fields, Drop):
            yield fields
            continue
        number, (query_id, doc_id, grade, *rest) = fields
        split = rest[0] if rest else ""
        reason = None
        if not (_is_id(query_id) and _is_id(doc_id)):
            reason = Reason.BAD_ID
        elif not (re.fullmatch(r"[0-9]{1,9}", grade) and int(grade) <= top_grade):
            reason = Reason.BAD_GRADE
        elif rest and split not in SPLITS:
            reason = Reason.BAD_SPLIT
        if reason:
            yield Drop(reason, file, number, excerpt_of("\t".join([query_id, doc_id, grade, *rest])))
        else:
            yield Judgment(query_id, doc_id, int(grade), split, number)


def _split_fields(
    lines: Iterable[tuple[int, bytes] | Drop], file: str, count: int
) -> Iterator[tuple[int, list[str]] | Drop]:
    """Decodes lines and splits them into exactly `count` fields."""
    for item in lines:
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        try:
            fields = line.decode("utf-8").split("\t")
        except UnicodeDecodeError:
            yield Drop(Reason.BAD_UTF8, file, number, excerpt_of(line))
            continue
        if b"\x00" in line:
            yield Drop(Reason.NUL_BYTE, file, number, excerpt_of(line))
        elif len(fields) != count:
            yield Drop(Reason.FIELD_COUNT, file, number, excerpt_of(line))
        else:
            yield number, fields


def _is_id(identifier: str) -> bool:
    """Whether a text can be an id: run files and qrels separate ids by white space, so an id holds none."""
    return identifier.split() == [identifier]

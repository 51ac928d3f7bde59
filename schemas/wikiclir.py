"""The file format of the WikiCLIR release (Sasaki et al. 2018): names, records, and parsers that report every loss.

Tab-separated UTF-8 without header or quoting, plain, gzipped or bzipped:

    queries     query_id <TAB> title <TAB> text
    documents   doc_id <TAB> title <TAB> text
    judgments   query_id <TAB> doc_id <TAB> grade
    candidates  query_id <TAB> doc_id <TAB> grade <TAB> split

and, our additions:

    domains     query_id <TAB> domain

A parser yields one record or one `Drop` for every line: lines read = records + drops. Blank lines at the end of a file
are not read, and ids are read without marks that nobody sees (`visible_id`).
"""

import itertools
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from schemas.byte_streams import unpacked
from schemas.domains import is_domain
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
    HEADER = ("header", False)
    DUPLICATE_ID = ("duplicate id", True)
    DUPLICATE_PAIR = ("query and document given twice", True)
    WORD_COUNT = ("not two words, like the first line", True)
    BAD_WEIGHT = ("weight is no number above 0 and up to 1e12", True)
    DUPLICATE_ENTRY = ("pair with a weight given twice", True)
    BAD_TABLE = ("no JSON object {document word: {query word: weight}}", True, True)
    BAD_GRADE = ("grade is not one of 0 .. data.top_grade", True)
    BAD_SPLIT = ("split is not train, eval or test", True)
    BAD_DOMAIN = ("domain is empty, or holds `/`, a control character, or white space around it", True)
    UNREADABLE = ("rest of the file cannot be read", True, True)
    UNKNOWN_QUERY = ("unknown query", True)
    UNKNOWN_DOCUMENT = ("unknown document", True)
    NO_MOST_RELEVANT = ("query without an MR document (its grade is data.top_grade)", True)
    TWO_SPLITS = ("query in two splits", True)
    NO_DOMAIN = ("query without a domain (data.domains)", True)
    TWO_DOMAINS = ("query with two domains", True)
    QUERY_DROPPED = ("its query was left out", False)
    NO_JUDGMENT = ("query without a judgment or candidate", False)
    BEYOND_LIMIT = ("query beyond data.max_queries", False)
    COLD = ("cold, and so in neither train nor eval (data.cold_share)", False)
    OTHER_SPLIT = ("relevant document of another split (data.split)", False)
    OWN_DOCUMENT = ("document with the id of its query (data.leave_out_own)", False)
    NOT_A_CANDIDATE = ("judged document that is no candidate", False)
    NOT_IN_A_LIST = ("document that no list needs", False)


ID_FIELDS: Final = {"queries": 1, "documents": 1, "judgments": 2, "candidates": 2, "domains": 1}
"""The fields that are ids in a line of each role; they come first."""

_ID_NAMES: Final = frozenset(
    "id _id qid query_id query-id queryid docid docno doc_id doc-id document_id corpus-id corpus_id pid".split()
)
_LAST_NAMES: Final = frozenset(
    "text contents content body passage query document sentence".split()
    + "grade relevance rel label score split tag domain topic".split()
)


class Text(NamedTuple):
    """A query or a document. The title is for display only."""

    id: str
    title: str
    text: str
    line: int


class QueryDomain(NamedTuple):
    """The domain of a query."""

    query_id: str
    domain: str
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


_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def visible_id(identifier: str) -> str:
    """An id without zero-width characters, direction marks, soft hyphens and byte order marks.

    Two ids that look alike are one: editors, spreadsheets and joined files leave such marks.

    Example:
      >>> visible_id("\\u200ed1\\ufeff")
      'd1'
    """
    return identifier if identifier.isascii() else _UNSEEN.sub("", identifier)


def read_lines(stream: BinaryIO, file: str, ids: int = 0) -> Iterator[tuple[int, bytes] | Drop]:
    """Yields (line number, bytes without the line end) of a plain, gzipped or bzipped stream, in order.

    A line beyond `MAX_LINE_BYTES` gives a `Drop`, and so does the rest of a stream that cannot be unpacked. Blank lines
    at the end are left out.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
      ids: the number of fields, from the first on, that are ids; see `visible_id`.
    """
    with unpacked(stream) as lines:
        yield from number_lines(lines, file, ids)


def _with_visible_ids(line: bytes, ids: int) -> bytes:
    end = -1
    for _ in range(ids):
        end = line.find(b"\t", end + 1)
    if line[:end].isascii():  # without enough tabs, the whole line but its last byte: the parser reports it
        return line
    fields = line.split(b"\t", ids)
    # Bytes that are no UTF-8 stay as they are, for the parser to report.
    texts = (visible_id(field.decode("utf-8", "surrogateescape")) for field in fields[:ids])
    return b"\t".join([*(text.encode("utf-8", "surrogateescape") for text in texts), *fields[ids:]])


def number_lines(lines: BinaryIO, file: str, ids: int = 0) -> Iterator[tuple[int, bytes] | Drop]:
    """Does the same as `read_lines` on a stream that is already unpacked."""
    blank = 0
    for number in itertools.count(1):
        item: tuple[int, bytes] | Drop
        try:
            line = lines.readline(MAX_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                item = Drop(Reason.LINE_TOO_LONG, file, number, excerpt_of(line[:EXCERPT_CHARACTERS]))
                while line and not line.endswith(b"\n"):
                    line = lines.readline(MAX_LINE_BYTES)
            else:
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                line = line.removesuffix(b"\n").removesuffix(b"\r")
                if not line:
                    blank += 1  # kept back: it counts if another line follows
                    continue
                if ids and not line.isascii():
                    line = _with_visible_ids(line, ids)
                item = number, line
        except (OSError, EOFError, zlib.error) as error:
            item = Drop(Reason.UNREADABLE, file, number, str(error))
        if blank:
            yield from ((before, b"") for before in range(number - blank, number))
            blank = 0
        yield item
        if isinstance(item, Drop) and item.reason is Reason.UNREADABLE:
            return


def parse_texts(stream: BinaryIO, file: str, seen: set[str] | None = None) -> Iterator[Text | Drop]:
    """Queries or documents: keeps the first record of an id, and drops later ones.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
      seen: the ids of earlier files of the same collection; the ids of this file are added.
    """
    return _parse_texts(read_lines(stream, file, ID_FIELDS["queries"]), file, set() if seen is None else seen)


def parse_lines(
    role: str, lines: Iterable[tuple[int, bytes] | Drop], file: str, top_grade: int, seen: set[str] | None
) -> Iterator[Text | Judgment | QueryDomain | Drop]:
    """Parses the lines of `read_lines` by the name of their role.

    Args:
      role: queries, documents, judgments, candidates or domains.
      lines: the lines of one file.
      file: the file's name, for the drops.
      top_grade: the MR grade.
      seen: the ids of the role's earlier files; the ids of this file are added. None keeps repeated ids.
    """
    if role in ("queries", "documents"):
        return _parse_texts(lines, file, seen)
    if role == "domains":
        return _parse_domains(lines, file)
    return _parse_judgments(lines, file, {"judgments": 3, "candidates": 4}[role], top_grade)


def parse_role(
    role: str, stream: BinaryIO, file: str, top_grade: int, seen: set[str] | None
) -> Iterator[Text | Judgment | QueryDomain | Drop]:
    """Parses a file's bytes by the name of their role; see `parse_lines`."""
    return parse_lines(role, read_lines(stream, file, ID_FIELDS[role]), file, top_grade, seen)


def _parse_texts(lines: Iterable[tuple[int, bytes] | Drop], file: str, seen: set[str] | None) -> Iterator[Text | Drop]:
    for fields in _split_fields(lines, file, 3):
        if isinstance(fields, Drop):
            yield fields
            continue
        number, (identifier, title, text) = fields
        reason = None
        if number == 1 and is_header((identifier, title, text)):
            reason = Reason.HEADER
        elif not _is_id(identifier):
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
        if number == 1 and is_header((query_id, doc_id, grade, *rest)):
            reason = Reason.HEADER
        elif not (_is_id(query_id) and _is_id(doc_id)):
            reason = Reason.BAD_ID
        elif not (re.fullmatch(r"[0-9]{1,9}", grade) and int(grade) <= top_grade):
            reason = Reason.BAD_GRADE
        elif rest and split not in SPLITS:
            reason = Reason.BAD_SPLIT
        if reason:
            yield Drop(reason, file, number, excerpt_of("\t".join([query_id, doc_id, grade, *rest])))
        else:
            yield Judgment(query_id, doc_id, int(grade), split, number)


def _parse_domains(lines: Iterable[tuple[int, bytes] | Drop], file: str) -> Iterator[QueryDomain | Drop]:
    for fields in _split_fields(lines, file, 2):
        if isinstance(fields, Drop):
            yield fields
            continue
        number, (query_id, domain) = fields
        reason = None
        if number == 1 and is_header((query_id, domain)):
            reason = Reason.HEADER
        elif not _is_id(query_id):
            reason = Reason.BAD_ID
        elif not is_domain(domain):
            reason = Reason.BAD_DOMAIN
        if reason:
            yield Drop(reason, file, number, excerpt_of(f"{query_id}\t{domain}"))
        else:
            yield QueryDomain(query_id, domain, number)


def _split_fields(
    lines: Iterable[tuple[int, bytes] | Drop], file: str, count: int
) -> Iterator[tuple[int, list[str]] | Drop]:
    """Decodes lines and splits them into exactly `count` fields."""
    for item in decode_lines(lines, file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        fields = line.split("\t")
        if len(fields) != count:
            yield Drop(Reason.FIELD_COUNT, file, number, excerpt_of(line))
        else:
            yield number, fields


def decode_lines(lines: Iterable[tuple[int, bytes] | Drop], file: str) -> Iterator[tuple[int, str] | Drop]:
    """Decodes the lines of `read_lines`; drops those that are not UTF-8, or hold a NUL byte."""
    for item in lines:
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            yield Drop(Reason.BAD_UTF8, file, number, excerpt_of(line))
            continue
        yield Drop(Reason.NUL_BYTE, file, number, excerpt_of(line)) if b"\x00" in line else (number, text)


def is_header(fields: Sequence[str]) -> bool:
    """Whether the fields of a file's first line are the names of its columns.

    Example:
      >>> is_header(["doc_id", "title", "text"]), is_header(["d1", "title", "text"])
      (True, False)
    """
    names = [field.strip(' "').lower() for field in fields]
    return names[0] in _ID_NAMES and names[-1] in _LAST_NAMES


def _is_id(identifier: str) -> bool:
    """Whether a text can be an id: run files and qrels separate ids by white space, so an id holds none."""
    return identifier.split() == [identifier]

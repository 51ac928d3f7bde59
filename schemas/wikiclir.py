"""The file format of the WikiCLIR release (Sasaki et al. 2018): names, records, lines, and reasons for dropping them.

Tab-separated UTF-8 without header or quoting:

    queries     query_id <TAB> title <TAB> text
    documents   doc_id <TAB> title <TAB> text
    judgments   query_id <TAB> doc_id <TAB> grade
    candidates  query_id <TAB> doc_id <TAB> grade <TAB> split

and as our addition:

    domains     query_id <TAB> domain

The collection's own files have this form; `schemas.record_files` reads it and all others.
"""

import itertools
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, NamedTuple

from schemas.byte_streams import unpacked
from schemas.drops import Drop, DropReason
from schemas.wording import printable

MAX_LINE_BYTES = 1 << 24
"""Size above which a line is dropped, because it might not fit in memory; texts are far shorter."""

EXCERPT_CHARACTERS = 80


PAIRS_FILE: Final = "title_pairs.tsv"
"""Titles of both languages that mean the same, for `channels.lexicon.pairs`."""
CANDIDATES_FILE: Final = "candidates.tsv"
"""Fixed lists of a wiki that is paired with itself: a page is never an NR document of its own query."""
MANIFEST_FILE: Final = "manifest.json"
CARD_FILE: Final = "README.md"


def queries_file(query_language: str) -> str:
    """The name of the queries in the WikiCLIR release."""
    return f"wiki_{query_language}.queries"


def documents_file(document_language: str) -> str:
    """The name of the documents in the WikiCLIR release."""
    return f"wiki_{document_language}.documents"


def judgments_file(query_language: str, document_language: str) -> str:
    """The name of the judgments in the WikiCLIR release."""
    return f"{query_language}2{document_language}.rel"


class Reason(DropReason):
    """The reasons for leaving a record out."""

    FIELD_COUNT = ("wrong number of fields", True)
    BAD_QUOTES = ("quotes that do not end a field", True)
    CONTINUED = ("continues the record above", False)
    EMPTY_LINE = ("empty line", False)
    BAD_JSON = ("not a JSON object", True)
    BAD_ARRAY = ("not a JSON array", True, True)
    NO_ID = ("JSON object without an id", True)
    NO_TEXT = ("JSON object without a text", True)
    BAD_UTF8 = ("not valid UTF-8", True)
    NUL_BYTE = ("contains a NUL byte", True)
    LINE_TOO_LONG = (f"line longer than {MAX_LINE_BYTES >> 20} MiB", True)
    BAD_ID = ("empty id, or white space in an id", True)
    EMPTY_TEXT = ("empty text", True)
    HEADER = ("header", False)
    BAD_HEADER = ("header that does not name the columns", True, True)
    DUPLICATE_ID = ("duplicate id", True)
    REPEATED = ("equal to an earlier line", False)
    DUPLICATE_PAIR = ("query and document given twice, with other grades", True)
    WORD_COUNT = ("not two words, like the first line", True)
    BAD_WEIGHT = ("weight is not a number above 0 and up to 1e12", True)
    DUPLICATE_ENTRY = ("pair with a weight given twice", True)
    BAD_TABLE = ("not a JSON object {document word: {query word: weight}}", True, True)
    BAD_GRADE = ("grade is not one of 0 .. data.top_grade", True)
    BAD_SCORE = ("score is not a finite number", True)
    BAD_SPLIT = ("split is not train, eval or test", True)
    BAD_DOMAIN = ("domain is empty, or holds `/`, a control character, or white space around it", True)
    UNREADABLE = ("rest of the file cannot be read", True, True)
    UNKNOWN_QUERY = ("unknown query", True)
    UNKNOWN_DOCUMENT = ("unknown document", True)
    NO_MOST_RELEVANT = ("query without an MR document (its grade is data.top_grade)", True)
    TWO_SPLITS = ("query in two splits", True)
    NO_DOMAIN = ("query without a domain (data.domains)", True)
    TWO_DOMAINS = ("query with two domains", True)
    OTHER_LANGUAGE = ("`lang` is missing, or none of the named languages", True)
    QUERY_DROPPED = ("its query was left out", False)
    NO_JUDGMENT = ("query without a judgment or candidate", False)
    BEYOND_LIMIT = ("query beyond data.max_queries", False)
    COLD = ("cold, and so in neither train nor eval (data.cold_share)", False)
    OTHER_SPLIT = ("relevant document of another split (data.split)", False)
    OWN_DOCUMENT = ("document with the id of its query (data.leave_out_own)", False)
    NOT_A_CANDIDATE = ("judged document that is no candidate", False)
    NOT_IN_A_LIST = ("document that no list needs", False)


class Text(NamedTuple):
    """A query or a document. The title is for display only."""

    id: str
    title: str
    text: str
    line: int
    fields: tuple[str, ...] = ()
    """A document's values of the fields by which a search can be filtered; "" for a missing value. In a collection in
    several languages, the code of the text's language comes first."""

    def tsv(self) -> str:
        """The record's line in our own form, without its end; fields follow the text."""
        return "\t".join((self.id, self.title, self.text, *self.fields))


class QueryDomain(NamedTuple):
    """The domain of a query."""

    query_id: str
    domain: str
    line: int

    def tsv(self) -> str:
        """The record's line in our own form, without its end."""
        return f"{self.query_id}\t{self.domain}"


class Judgment(NamedTuple):
    """The relevance grade of a document for a query; only a candidates file sets `split`."""

    query_id: str
    doc_id: str
    grade: int
    split: str
    line: int

    @property
    def excerpt(self) -> str:
        """The record as text to show."""
        return f"{self.query_id} | {self.doc_id} | {self.grade}"

    def tsv(self) -> str:
        """The record's line in our own form, without its end.

        Example:
          >>> Judgment("q1", "d1", 2, "", line=7).tsv()
          'q1\\td1\\t2'
        """
        query_id, doc_id, grade, split, _ = self
        return f"{query_id}\t{doc_id}\t{grade}\t{split}" if split else f"{query_id}\t{doc_id}\t{grade}"


def excerpt_of(line: bytes | str) -> str:
    """The printable start of a line, with bars for tabs and a sign for each unprintable character."""
    text = line[: 4 * EXCERPT_CHARACTERS].decode("utf-8", "replace") if isinstance(line, bytes) else line
    return printable(text.replace("\t", " | "), EXCERPT_CHARACTERS)


_UNSEEN: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def visible_id(identifier: str) -> str:
    """An id without zero-width characters, direction marks, soft hyphens and byte order marks.

    Editors, spreadsheets and joined files leave such marks; without them, ids that look alike are equal.

    Example:
      >>> visible_id("\\u200ed1\\ufeff")
      'd1'
    """
    return identifier if identifier.isascii() else _UNSEEN.sub("", identifier)


def read_lines(stream: BinaryIO, file: str) -> Iterator[tuple[int, bytes] | Drop]:
    """Yields (line number, bytes without the line end) of a plain, gzipped or bzipped stream, in order.

    A line beyond `MAX_LINE_BYTES` gives a `Drop`, as does the rest of a stream that cannot be unpacked. Blank lines at
    the end are left out.

    Args:
      stream: the file's bytes.
      file: the file's name, for the drops.
    """
    with unpacked(stream) as lines:
        yield from number_lines(lines, file)


def number_lines(lines: BinaryIO, file: str) -> Iterator[tuple[int, bytes] | Drop]:
    """Works as `read_lines` on an unpacked stream."""
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
                    blank += 1  # yielded only if another line follows
                    continue
                item = number, line
        except (OSError, EOFError, zlib.error) as error:
            item = Drop(Reason.UNREADABLE, file, number, str(error))
        if blank:
            yield from ((before, b"") for before in range(number - blank, number))
            blank = 0
        yield item
        if isinstance(item, Drop) and item.reason is Reason.UNREADABLE:
            return


def decode_lines(lines: Iterable[tuple[int, bytes] | Drop], file: str) -> Iterator[tuple[int, str] | Drop]:
    """Decodes the lines of `read_lines`; drops those that are empty, not UTF-8, or hold a NUL byte."""
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
        if b"\x00" in line:
            yield Drop(Reason.NUL_BYTE, file, number, excerpt_of(line))
        elif not text or text.isspace():
            yield Drop(Reason.EMPTY_LINE, file, number, "")
        else:
            yield number, text

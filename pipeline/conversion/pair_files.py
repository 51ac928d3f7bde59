"""Reads pairs of a query and its document: two columns, two aligned files, TMX, or Tevatron's JSON lines.

two columns     query <TAB> document              or CSV or JSON with names for both (`schemas.columns`)
aligned files   line n of the first file is the query of line n of the second
TMX             a translation unit with a text in each language
Tevatron        {"query": "...", "positive_passages": [{"text": "..."}], "negative_passages": [...]}
"""

import zlib
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, BinaryIO, Final, NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from schemas.byte_streams import unpacked
from schemas.columns import Columns
from schemas.drops import Drop, DropReason
from schemas.errors import DataError
from schemas.forms import checked_row, read_rows
from schemas.json_files import parse_json
from schemas.wikiclir import Reason, decode_lines, excerpt_of, read_lines

_LANGUAGE: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_CODES: Final = frozenset({"bpt", "ept", "it", "ph", "ut"})
"""The elements of TMX that hold codes of another format instead of text."""
_PASSAGES: Final = ("positive_passages", "negative_passages")


class PairReason(DropReason):
    """The reasons for leaving a pair out that occur only in files of pairs."""

    NO_TEXT_IN_LANGUAGE = ("translation unit without a text in both languages", True)
    NO_POSITIVE = ("query without a positive passage", True)


class Pair(NamedTuple):
    """A query, its relevant documents, and documents that are judged not relevant."""

    query: str
    documents: tuple[str, ...]
    negatives: tuple[str, ...]
    line: int
    id: str
    """The id of the query and of the first document."""


def read_pairs(
    paths: tuple[str, ...], query_language: str, document_language: str, columns: Columns
) -> Iterator[Pair | Drop]:
    """Yields a pair or a drop for each line, entry or translation unit.

    Args:
      paths: a file of pairs, or two aligned files.
      query_language, document_language: ISO 639-1 codes, which TMX names, too.
      columns: the columns of a file of pairs, with their names in headers and JSON objects.

    Raises:
      DataError: a file cannot be opened, or aligned files have different numbers of lines.
    """
    streams = [_open(path) for path in paths]
    try:
        if len(paths) == 2:
            pairs = _aligned_pairs(streams, paths)
        elif paths[0].lower().removesuffix(".gz").removesuffix(".bz2").endswith(".tmx"):
            pairs = _tmx_pairs(streams[0], paths[0], (query_language, document_language))
        elif _has_passages(paths[0]):
            pairs = _passage_pairs(streams[0], paths[0])
        else:
            pairs = _column_pairs(streams[0], paths[0], columns)
        for pair in pairs:
            yield pair if isinstance(pair, Drop) else checked_pair(pair, paths[0])
    finally:
        for stream in streams:
            stream.close()


def _open(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from None


def checked_pair(pair: Pair, file: str) -> Pair | Drop:
    """Returns the pair, or a drop where a text is empty, or no line of our form can hold it."""
    texts = [" ".join(text.split()) for text in (pair.query, *pair.documents, *pair.negatives)]
    excerpt = " | ".join((pair.query, *pair.documents))
    if not all(texts):
        return Drop(Reason.EMPTY_TEXT, file, pair.line, excerpt_of(excerpt))
    row = checked_row((pair.line, texts, excerpt), file)
    if isinstance(row, Drop):
        return row
    end = 1 + len(pair.documents)
    return Pair(texts[0], tuple(texts[1:end]), tuple(texts[end:]), pair.line, pair.id)


def _column_pairs(stream: BinaryIO, file: str, columns: Columns) -> Iterator[Pair | Drop]:
    for row in read_rows("pairs", stream, file, columns):
        if isinstance(row, Drop):
            yield row
        else:
            number, (query, document), _ = row
            yield Pair(query, (document,), (), number, str(number))


def _aligned_pairs(streams: Iterable[BinaryIO], paths: tuple[str, ...]) -> Iterator[Pair | Drop]:
    """A line of both files counts once; of two faults in it, that of the first file."""
    both = [_every_line(stream, path) for stream, path in zip(streams, paths, strict=True)]
    for number, (query, document) in enumerate(zip_longest(*both), 1):
        if query is None or document is None:
            short, long = paths if query is None else paths[::-1]
            raise DataError(
                f"aligned files must have equally many lines (without blank ones at the end); {short} has "
                f"{number - 1:,}, and {long} has more. Check that both are of the same release."
            )
        if isinstance(query, Drop):
            yield query
        elif isinstance(document, Drop):
            yield document
        elif query == document == "":
            yield Drop(Reason.EMPTY_LINE, paths[0], number, "")
        else:
            yield Pair(query, (document,), (), number, str(number))


def _every_line(stream: BinaryIO, file: str) -> Iterator[str | Drop]:
    """The text of each line, also of an empty one: the lines of two files stay aligned."""
    for item in decode_lines(read_lines(stream, file), file):
        if not isinstance(item, Drop):
            yield item[1]
        else:
            yield "" if item.reason is Reason.EMPTY_LINE else item


def _has_passages(path: str) -> bool:
    """Whether the first line is a JSON object of Tevatron's form."""
    with _open(path) as stream:
        first = next(decode_lines(read_lines(stream, path), path), None)
    if first is None or isinstance(first, Drop):
        return False
    content = _json_object(first[1])
    return content is not None and _PASSAGES[0] in content


def _json_object(line: str) -> dict[str, Any] | None:
    try:
        content = parse_json(line.lstrip("\ufeff"))
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _passage_pairs(stream: BinaryIO, file: str) -> Iterator[Pair | Drop]:
    for item in decode_lines(read_lines(stream, file), file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        content = _json_object(line)
        query = (content or {}).get("query")
        passages = [_passage_texts((content or {}).get(key, [])) for key in _PASSAGES]
        if content is None or not isinstance(query, str) or any(texts is None for texts in passages):
            yield Drop(Reason.BAD_JSON, file, number, excerpt_of(line))
        elif not passages[0]:
            yield Drop(PairReason.NO_POSITIVE, file, number, excerpt_of(query))
        else:
            yield Pair(query, passages[0], passages[1] or (), number, str(number))


def _passage_texts(passages: Any) -> tuple[str, ...] | None:
    """The texts of a list of passages; None where it is no such list."""
    if not isinstance(passages, list):
        return None
    texts = [passage.get("text") if isinstance(passage, dict) else passage for passage in passages]
    strings = tuple(text for text in texts if isinstance(text, str))
    return strings if len(strings) == len(texts) else None


def _tmx_pairs(stream: BinaryIO, file: str, languages: tuple[str, str]) -> Iterator[Pair | Drop]:
    """A translation unit counts as a line. Entities that a file declares itself are refused."""
    number, body = 0, None
    with unpacked(stream) as content:
        try:
            for event, element in iterparse(content, events=("start", "end"), forbid_dtd=False):
                if element.tag == "body":
                    body = element
                elif event == "end" and element.tag == "tu":
                    number += 1
                    yield _unit_pair(element, number, file, languages)
                    if body is not None:
                        body.clear()
        except (ParseError, DefusedXmlException, RecursionError, OSError, EOFError, zlib.error) as error:
            yield Drop(Reason.UNREADABLE, file, number + 1, str(error))


def _unit_pair(unit: Element, number: int, file: str, languages: tuple[str, str]) -> Pair | Drop:
    # Of several texts in a language the first counts.
    texts = {_language(part): _text(part.find("seg")) for part in reversed(unit.findall("tuv"))}
    if not texts.keys() >= {*languages}:
        excerpt = " | ".join(f"{language}: {text}" for language, text in texts.items())
        return Drop(PairReason.NO_TEXT_IN_LANGUAGE, file, number, excerpt_of(excerpt))
    query, document = (texts[language] for language in languages)
    return Pair(query, (document,), (), number, str(number))


def _language(part: Element) -> str:
    """The ISO 639-1 code of a unit's part, such as en for en-US."""
    return (part.get(_LANGUAGE) or part.get("lang") or "").replace("_", "-").split("-")[0].lower()


def _text(segment: Element | None) -> str:
    """The text of a segment without the codes in it."""
    if segment is None:
        return ""
    parts = [segment.text or ""]
    for child in segment:
        parts += ["" if child.tag in _CODES else _text(child), child.tail or ""]
    return "".join(parts)

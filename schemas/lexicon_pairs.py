"""Pairs of texts with the same meaning, for `channels.lexicon.pairs`: our own files and published dictionaries.

Lines, plain, gzipped or bzipped:

    query-language text <TAB> document-language text                   a dictionary, or parallel text
    query-language text <TAB> document-language text <TAB> weight      a dictionary with probabilities
    query-language word SPACE document-language word                   as the dictionaries of MUSE

One JSON object, in a file whose name ends in `.json` or `.json.gz`:

    {document-language word: {query-language word: weight}}            as the tables of fast_psq

A file has the form of MUSE if its first line has no tab and two words. A weight is a number above 0, such as a
probability; a line without a weight has the weight 1. Within a file, a pair with a weight counts once, and a pair
without a weight as often as it occurs. A parser yields one pair or one `Drop` for every line, or for every entry of a
table: lines read = pairs + drops.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from schemas.byte_streams import unpacked
from schemas.drops import Drop
from schemas.json_files import read_json
from schemas.wikiclir import Reason, decode_lines, excerpt_of, read_lines

MAX_WEIGHT: Final = 1e12
"""The largest weight: in a sum with a larger weight, rounding would lose the other pairs."""

EXPORT_ENDINGS: Final = (".json", ".json.gz", ".tsv", ".tsv.gz")
"""The endings of files that `format_pairs` writes."""

TRANSLATIONS_FILE: Final = "translations.tsv"
"""The file of a translator's pairs: lines of a translation and the sentence, each distinct sentence once."""

_TABLE_ENDINGS: Final = (".json", ".json.gz", ".json.bz2")


class TextPair(NamedTuple):
    """A text in the query language, and one in the documents' language with the same meaning."""

    query: str
    document: str
    weight: float = 1.0
    """How often the pair counts, above 0."""


def is_table(file: str) -> bool:
    """Whether a file is a JSON table, by its name.

    Example:
      >>> is_table("psq.en-fr.json.gz"), is_table("en-fr.txt")
      (True, False)
    """
    return file.lower().endswith(_TABLE_ENDINGS)


def parse_pairs(stream: BinaryIO, file: str) -> Iterator[TextPair | Drop]:
    """Reads the pairs of one file in any of the layouts.

    Args:
      stream: the file's bytes.
      file: the file's name, which shows whether it is a table; also for the drops.

    Yields:
      pairs and drops in the file's order. In a table, the line of a drop is the number of its entry, from 1. A table
      of another form, or one that cannot be read, gives a single drop with a fatal reason.

    Example:
      >>> import io
      >>> [*parse_pairs(io.BytesIO(b"wolf\\tloup\\t0.9"), "en-fr.tsv")]
      [TextPair(query='wolf', document='loup', weight=0.9)]
      >>> [*parse_pairs(io.BytesIO(b"wolf loup"), "en-fr.txt")]
      [TextPair(query='wolf', document='loup', weight=1.0)]
      >>> [*parse_pairs(io.BytesIO(b'{"loup": {"wolf": 0.9}}'), "en-fr.json")]
      [TextPair(query='wolf', document='loup', weight=0.9)]
    """
    return _entries(stream, file) if is_table(file) else _lines(stream, file)


def format_pairs(pairs: Iterable[TextPair], file: str) -> bytes:
    """The content of a file of pairs with weights, which `parse_pairs` reads; equal pairs give equal bytes.

    Args:
      pairs: distinct pairs of words without tabs and line ends.
      file: the file's name; its ending, one of `EXPORT_ENDINGS`, determines the layout.

    Example:
      >>> pairs = [TextPair("wolf", "loup", 0.9), TextPair("dog", "chien", 0.8)]
      >>> format_pairs(pairs, "en-fr.tsv")
      b'dog\\tchien\\t0.8\\nwolf\\tloup\\t0.9\\n'
      >>> format_pairs(pairs, "en-fr.json")
      b'{"chien": {"dog": 0.8}, "loup": {"wolf": 0.9}}\\n'
    """
    in_order = sorted(pairs, key=lambda pair: (pair.query, -pair.weight, pair.document))
    if is_table(file):
        table: dict[str, dict[str, float]] = {
            pair.document: {} for pair in sorted(in_order, key=lambda pair: pair.document)
        }
        for query, document, weight in in_order:
            table[document][query] = weight
        content = json.dumps(table, ensure_ascii=False).encode() + b"\n"
    else:
        content = "".join(f"{pair.query}\t{pair.document}\t{pair.weight!r}\n" for pair in in_order).encode()
    # The time in gzip's header would make each file a new input.
    return gzip.compress(content, 6, mtime=0) if file.lower().endswith(".gz") else content


def _lines(stream: BinaryIO, file: str) -> Iterator[TextPair | Drop]:
    are_words = False
    seen: set[tuple[str, str]] = set()
    for item in decode_lines(read_lines(stream, file), file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        if number == 1:
            are_words = "\t" not in line and len(line.split()) == 2
        parsed = _words(line) if are_words else _columns(line, seen)
        yield Drop(parsed, file, number, excerpt_of(line)) if isinstance(parsed, Reason) else parsed


def _words(line: str) -> TextPair | Reason:
    """The pair of a line of two words."""
    words = line.split()
    return TextPair(words[0], words[1]) if len(words) == 2 else Reason.WORD_COUNT


def _columns(line: str, seen: set[tuple[str, str]]) -> TextPair | Reason:
    """The pair of a tab-separated line; `seen` holds the pairs with a weight so far."""
    query, *fields = line.split("\t")
    if len(fields) not in (1, 2):
        return Reason.FIELD_COUNT
    document, *weights = fields
    if not weights:
        return TextPair(query, document) if query.strip() and document.strip() else Reason.EMPTY_TEXT
    try:
        weight = float(weights[0])
    except ValueError:
        return Reason.BAD_WEIGHT
    return _weighted(query, document, weight, seen)


def _weighted(query: str, document: str, weight: object, seen: set[tuple[str, str]]) -> TextPair | Reason:
    """Returns a pair with a weight, or the reason to drop it; adds a good pair to `seen`."""
    if not (query.strip() and document.strip()):
        return Reason.EMPTY_TEXT
    if not (isinstance(weight, float) and 0 < weight <= MAX_WEIGHT):  # false for NaN
        return Reason.BAD_WEIGHT
    if (query, document) in seen:
        return Reason.DUPLICATE_ENTRY
    seen.add((query, document))
    return TextPair(query, document, weight)


# Tables


class _Object(list[tuple[str, Any]]):
    """The keys and values of a JSON object; a repeated key stays."""


_ESCAPED: Final = re.compile("[\x00\ud800-\udfff]")


def _entries(stream: BinaryIO, file: str) -> Iterator[TextPair | Drop]:
    table = _table(stream, file)
    if isinstance(table, Drop):
        yield table
        return
    seen: set[tuple[str, str]] = set()
    entries = ((document, *entry) for document, translations in table for entry in translations)
    for number, (document, query, weight) in enumerate(entries, 1):
        parsed = _text_fault(query + document) or _weighted(query, document, weight, seen)
        if isinstance(parsed, Reason):
            yield Drop(parsed, file, number, excerpt_of(f"{document}\t{query}\t{weight}"))
        else:
            yield parsed


def _text_fault(text: str) -> Reason | None:
    """Returns the reason to drop a text with a character that JSON can escape but valid UTF-8 cannot hold, or None."""
    match = _ESCAPED.search(text)
    return match and (Reason.NUL_BYTE if match[0] == "\x00" else Reason.BAD_UTF8)


def _table(stream: BinaryIO, file: str) -> _Object | Drop:
    """Reads a file's object, whose values must be objects as well."""

    def refused(why: str) -> Drop:
        return Drop(Reason.BAD_TABLE, file, 1, why)

    with unpacked(stream) as content:
        # Whole numbers are read as floats: Python would refuse an integer with thousands of digits.
        table = read_json(
            content,
            file,
            Reason.BAD_TABLE,
            "divide it, or bring it as tab-separated lines",
            object_pairs_hook=_Object,
            parse_int=float,
        )
    if isinstance(table, Drop):
        return table
    if not isinstance(table, _Object):
        return refused(f"not an object: {excerpt_of(str(table))}")
    for document, translations in table:
        if not isinstance(translations, _Object):
            return refused(f"not an object of translations: {excerpt_of(f'{document}: {translations}')}")
    return table

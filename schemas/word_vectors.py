"""Reads files of pre-trained word vectors, and reports every entry that is left out.

The content shows the format, plain, gzipped or bzipped:

    Polyglot            a pickle: (words, matrix)
    word2vec, fastText  a line `count width`, then a line a word: the word and its numbers, separated by spaces
    GloVe               the same without the first line

Tables are sorted by frequency, the most frequent word first.
"""

import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas import file_system
from schemas.byte_streams import unpacked
from schemas.drops import Drop, DropReason
from schemas.errors import DataError
from schemas.polyglot_pickle import HEADS, read_polyglot
from schemas.wikiclir import Reason, excerpt_of, number_lines


class VectorReason(DropReason):
    """The reasons for leaving an entry of a table out."""

    WRONG_WIDTH = ("wrong number of numbers", True)
    NOT_A_NUMBER = ("not a number", True)
    NOT_FINITE = ("NaN, infinite or too large", True)
    BAD_UTF8 = ("not valid UTF-8", True)
    TOO_LONG = ("line too long", True)
    NO_WORD = ("no word before the numbers", True)
    MARK = ("mark in angle brackets, not a word", False)
    NO_TOKEN = ("nothing left of the word after normalising", False)
    SEVERAL_TOKENS = ("several words after normalising", False)
    DUPLICATE = ("the same as an earlier word after normalising", False)


class WordVector(NamedTuple):
    """A table's word and its vector, float32 [width]; in a pickle, `line` is the word's number."""

    word: str
    vector: npt.NDArray[np.float32]
    line: int


_LARGEST = float(np.finfo(np.float32).max)
_HEADER = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18}) ?")
_MARK = re.compile(r"</?\w+>")
_MAX_CHARACTERS = 1000


def read_word_vectors(path: str, width: int) -> Iterator[WordVector | Drop]:
    """Yields every entry of a table in order; see `parse_word_vectors`."""
    with file_system.open_file(path, "rb") as stream:
        yield from parse_word_vectors(stream, path, width)


def parse_word_vectors(stream: BinaryIO, path: str, width: int) -> Iterator[WordVector | Drop]:
    """Yields every entry of a table in order. Reads a line at a time; only a pickle is held whole.

    Args:
      stream: the file's bytes.
      path: the file's name, for messages.
      width: the number of values that a vector must have.

    Raises:
      DataError: the file's vectors have another width, it is cut off or broken, or it is a refused pickle (see
        `read_polyglot`).
    """
    with unpacked(stream) as content:
        try:
            head = content.peek(3)[:3]  # type: ignore[attr-defined]
            read_entries = _pickle_entries if head.startswith(HEADS) else _text_entries
            yield from read_entries(content, path, width)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be read: {error}. Get the whole file again.") from None


def _pickle_entries(content: BinaryIO, path: str, width: int) -> Iterator[WordVector | Drop]:
    words, vectors = read_polyglot(content, path)
    if vectors.shape[1] != width:
        raise _wrong_width(path, width, vectors.shape[1])
    for number, (word, vector) in enumerate(zip(words, vectors, strict=True), 1):
        yield _entry(path, number, word, vector)


def _text_entries(content: BinaryIO, path: str, width: int) -> Iterator[WordVector | Drop]:
    for item in number_lines(content, path):
        if isinstance(item, Drop):
            if item.reason is Reason.UNREADABLE:
                raise DataError(f"{path}:{item.line}: cannot be read: {item.excerpt}. Get the whole file again.")
            yield item._replace(reason=VectorReason.TOO_LONG)
            continue
        number, line = item
        if number == 1 and (header := _HEADER.fullmatch(line)):
            # The header's number of words is not checked: tables are often cut to their first lines.
            if int(header[2]) != width:
                raise _wrong_width(path, width, int(header[2]))
            continue
        yield _line_entry(path, number, line, width)


def _line_entry(path: str, number: int, line: bytes, width: int) -> WordVector | Drop:
    # Splits from the right, at ASCII spaces only: a word may hold spaces, and `str.split()` would split at no-break
    # spaces as well.
    word, *numbers = line.rstrip(b" ").rsplit(b" ", width)
    if len(numbers) != width or (b" " in word and _is_number(word.rpartition(b" ")[2])):
        return Drop(VectorReason.WRONG_WIDTH, path, number, excerpt_of(line))
    try:
        vector = np.array([float(value) for value in numbers])
    except ValueError:
        return Drop(VectorReason.NOT_A_NUMBER, path, number, excerpt_of(line))
    return _entry(path, number, word, vector)


def _entry(path: str, number: int, word: str | bytes, vector: npt.NDArray[Any]) -> WordVector | Drop:
    """Returns an entry, or a drop if it fails the checks that all formats share."""
    try:
        # Python 2 may have cut a character and written a surrogate.
        word = (word.encode() if isinstance(word, str) else word).decode()
    except UnicodeError:
        return Drop(VectorReason.BAD_UTF8, path, number, excerpt_of(word))
    reason = None
    if not word:
        reason = VectorReason.NO_WORD
    elif len(word) > _MAX_CHARACTERS:
        reason = VectorReason.TOO_LONG
    elif _MARK.fullmatch(word):
        reason = VectorReason.MARK
    # A comparison with NaN is false.
    elif not (np.abs(vector) <= _LARGEST).all():
        reason = VectorReason.NOT_FINITE
    return (
        Drop(reason, path, number, excerpt_of(word)) if reason else WordVector(word, vector.astype(np.float32), number)
    )


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wrong_width(path: str, width: int, got: int) -> DataError:
    return DataError(
        f"{path} must hold vectors of {width} numbers (channels.towers.embedding_dim); got {got}. "
        f"Set channels.towers.embedding_dim to {got}, or use another table."
    )

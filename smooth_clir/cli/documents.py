"""Reads files of documents and of ids, before TensorFlow is imported."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, BinaryIO, Final

from schemas.columns import expected_form, text_columns
from schemas.drops import Drop, DropCounter
from schemas.errors import DataError
from schemas.record_files import parse_ids, parse_texts
from schemas.wikiclir import Text
from schemas.wording import printable
from smooth_clir.cli.terminal import FIELD

STDIN: Final = "-"
MAX_BAD_SHARE: Final = 0.05
"""Largest share of unusable lines in a collection; the default of `data.max_bad_share`."""


def read_documents(path: str) -> tuple[list[Text], list[str]]:
    """Reads a documents file, or stdin for `-`.

    Returns:
      the documents, and a line for each reason why records were left out.

    Raises:
      DataError: the file cannot be read, or holds no document.
    """
    items = read_texts("documents", path)
    lines = [f"{path}: left out {line}" for line in _left_out(items)]
    return [item for item in items if not isinstance(item, Drop)], lines


def read_texts(role: str, path: str, fields: Sequence[str] = ()) -> list[Text | Drop]:
    """Reads a file of queries or documents, or stdin for `-`; returns a record or a drop for each line.

    Args:
      role: queries or documents.
      path: the file.
      fields: the fields of documents.

    Raises:
      DataError: the file cannot be read to its end, has a header that does not name the columns, or holds no record.
    """
    try:
        with _open(path) as stream:
            columns = text_columns(fields) if role == "documents" else None
            items = [*parse_texts(stream, path, role=role, columns=columns)]
    except OSError as error:
        raise DataError(f"{role}: {path}: {error.strerror}.") from None
    fatal = [item for item in items if isinstance(item, Drop) and item.reason.is_fatal]
    if fatal or all(isinstance(item, Drop) for item in items):
        sentence = f"{path} must hold {role}: {expected_form(role)}."
        raise DataError("\n".join([sentence, *(f"left out {line}" for line in _left_out(fatal or items))]))
    return items


def _left_out(items: Iterable[Text | Drop]) -> Iterator[str]:
    """Yields a line for each reason why lines of a file were left out."""
    counter = DropCounter()
    for item in items:
        if isinstance(item, Drop):
            counter.add(item)
    for drops in counter.drops():
        first = drops.examples[0]
        yield f"{drops.count:,} x {drops.reason.text}; first at line {first.line}: {first.excerpt}"


def read_ids(path: str) -> list[str]:
    """Reads ids of documents, a line each, or the ids in a file of documents.

    Raises:
      DataError: the file cannot be read, or a line holds no id.
    """
    ids = []
    try:
        with _open(path) as stream:
            for item in parse_ids(stream, path):
                if not isinstance(item, Drop):
                    ids.append(item)
                elif item.reason.bad:
                    raise DataError(
                        f"{path}:{item.line}: must hold {expected_form('ids')}; {item.reason.text}: {item.excerpt}."
                    )
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}.") from None
    return ids


class DocumentFiles:
    """A stream of the documents of several files; only the first document of an id is read.

    Args:
      paths: files, - for stdin.

    Raises:
      DataError: a file is missing.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._left_out = DropCounter()
        self._lines = self._bytes_before = 0
        self._stream: BinaryIO | None = None
        try:
            self._sizes = [0 if path == STDIN else os.path.getsize(path) for path in paths]
        except OSError as error:
            raise DataError(f"{error.filename}: {error.strerror}.") from None

    @property
    def share(self) -> float:
        """The share of the files that was read, in [0, 1]; 0 if the size of a file is unknown."""
        read = self._bytes_before
        if self._stream is not None and self._stream.seekable():
            read += self._stream.tell()
        return read / sum(self._sizes) if all(self._sizes) else 0.0

    def texts(self, fields: Sequence[str] = ()) -> Iterator[Text]:
        """Yields the documents, with the values of these fields.

        Raises:
          DataError: a file cannot be read to its end, holds no document, or has too many unusable lines.
        """
        seen: set[str] = set()
        columns = text_columns(fields)
        for path, size in zip(self._paths, self._sizes, strict=True):
            try:
                opened = _open(path)
            except OSError as error:
                raise DataError(f"{path}: {error.strerror}.") from None
            with opened as stream:
                self._stream = stream
                for item in parse_texts(stream, path, seen, columns=columns):
                    self._lines += 1
                    if not isinstance(item, Drop):
                        yield item
                        continue
                    self._left_out.add(item)
                    if item.reason.is_fatal:
                        raise DataError(f"{path}:{item.line}: {item.reason.text}: {item.excerpt}. Nothing was changed.")
            self._stream, self._bytes_before = None, self._bytes_before + size
        bad = sum(drops.count for drops in self._left_out.drops() if drops.reason.bad)
        if not seen or bad > MAX_BAD_SHARE * self._lines:
            sentence = (
                f"{' and '.join(self._paths)}: at least {1 - MAX_BAD_SHARE:.0%} of the lines must be documents; got "
                f"{len(seen):,} of {self._lines:,}. Expected {expected_form('documents')}. Nothing was changed."
            )
            raise DataError("\n".join([sentence, *self.left_out()]))

    def left_out(self) -> list[str]:
        """Returns a line for each reason why lines were left out."""
        return [
            f"left out {drops.count:,} x {drops.reason.text}; first at "
            f"{drops.examples[0].file}:{drops.examples[0].line}: {printable(drops.examples[0].excerpt, FIELD)}"
            for drops in self._left_out.drops()
        ]


def _open(path: str) -> Any:
    return nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb")

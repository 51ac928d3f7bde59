"""Reads the documents that `clir rank` is given, before TensorFlow is imported."""

import sys
from collections import Counter
from typing import BinaryIO

from schemas.errors import DataError
from schemas.wikiclir import Drop, Text, parse_texts


def read_documents(path: str) -> tuple[list[Text], list[str]]:
    """Reads a documents file, or stdin for `-`.

    Returns:
      the documents, and a line for each reason for which records were left out.

    Raises:
      DataError: the file cannot be read, or holds no document.
    """
    try:
        with _open(path) as stream:
            items = list(parse_texts(stream, path))
    except OSError as error:
        raise DataError(f"documents: {path}: {error.strerror}.") from None
    documents = [item for item in items if isinstance(item, Text)]
    drops = [item for item in items if isinstance(item, Drop)]
    first = {drop.reason: drop for drop in reversed(drops)}
    lines = [
        f"{path}: left out {count:,} x {reason.text}; first at line {first[reason].line}: {first[reason].excerpt}"
        for reason, count in Counter(drop.reason for drop in drops).items()
    ]
    if not documents:
        raise DataError("\n".join([f"{path} must hold a document: id, title and text, tab-separated.", *lines]))
    return documents, lines


def _open(path: str) -> BinaryIO:
    return sys.stdin.buffer if path == "-" else open(path, "rb")

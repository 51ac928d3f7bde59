"""Reads the documents that `clir rank` is given, before TensorFlow is imported."""

import sys
from typing import BinaryIO

from schemas.drops import Drop, DropCounter
from schemas.errors import DataError
from schemas.wikiclir import Text, parse_texts


def read_documents(path: str) -> tuple[list[Text], list[str]]:
    """Reads a documents file, or stdin for `-`.

    Returns:
      the documents, and a line for each reason for which records were left out.

    Raises:
      DataError: the file cannot be read, or holds no document.
    """
    documents: list[Text] = []
    left_out = DropCounter()
    try:
        with _open(path) as stream:
            for item in parse_texts(stream, path):
                if isinstance(item, Drop):
                    left_out.add(item)
                else:
                    documents.append(item)
    except OSError as error:
        raise DataError(f"documents: {path}: {error.strerror}.") from None
    lines = [
        f"{path}: left out {one.count:,} x {one.reason.text}; first at line {one.examples[0].line}: "
        f"{one.examples[0].excerpt}"
        for one in left_out.drops()
    ]
    if not documents:
        raise DataError("\n".join([f"{path} must hold a document: id, title and text, tab-separated.", *lines]))
    return documents, lines


def _open(path: str) -> BinaryIO:
    return sys.stdin.buffer if path == "-" else open(path, "rb")

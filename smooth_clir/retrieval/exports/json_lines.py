"""Files of JSON lines, in parts that an engine takes in one request."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from models.exported.model import EncodedQuery

PART_BYTES: Final = 32 << 20
"""Bytes after which a file ends: a third of OpenSearch's largest request."""


class JsonLinesWriter:
    """Writes `documents-00000.jsonl` and those that follow it.

    Args:
      folder: the folder of the files.
      most_bytes: bytes after which a file ends.
    """

    def __init__(self, folder: Path, most_bytes: int = PART_BYTES) -> None:
        self._folder, self._most_bytes = folder, most_bytes
        self._file: IO[bytes] | None = None
        self._number = self._bytes = 0

    def __enter__(self) -> "JsonLinesWriter":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file:
            self._file.close()

    def write(self, *records: Any) -> None:
        """Writes records that belong into one file, a line each."""
        if self._file is None or self._bytes >= self._most_bytes:
            if self._file:
                self._file.close()
            self._file = open(self._folder / f"documents-{self._number:05}.jsonl", "wb")
            self._number, self._bytes = self._number + 1, 0
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
        self._file.write(lines)
        self._bytes += len(lines)


def write_json(path: Path, content: Any) -> None:
    """Writes a file for people: one value, indented."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def numbers(values: npt.NDArray[np.float32]) -> list[float]:
    """The numbers with just the digits that tell each float32 from its neighbours.

    Example:
      >>> numbers(np.array([0.1], np.float32))
      [0.1]
    """
    return [float(str(value)) for value in values]


def term_weights(terms: Iterable[bytes], weights: npt.NDArray[np.float32]) -> dict[str, float]:
    """The terms of a text with their weights, without the padding of a query."""
    return {term.decode(): weight for term, weight in zip(terms, numbers(weights), strict=True) if term and weight > 0}


def query_parts(query: EncodedQuery) -> tuple[list[float], dict[str, float]]:
    """The vector and the weighted terms of a query."""
    return numbers(query.vector), term_weights(query.terms.tolist(), query.weights)

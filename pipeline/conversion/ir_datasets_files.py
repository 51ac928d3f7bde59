"""Collections of ir_datasets by their ids there, read as if it had exported them: JSON lines, and TREC's judgments."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final, NamedTuple

from schemas.errors import ConfigError, DataError
from schemas.languages import LANGUAGES
from schemas.settings import did_you_mean

_PREFIX: Final = "ir_datasets:"
_TEXTS: Final = ("text", "first_sent")
"""The possible fields of a record's text, of which the first counts; the second is that of WikiCLIR's queries. Other
records have ir_datasets' default text, which includes the title."""


class Collection(NamedTuple):
    """The files of a collection, and the languages that ir_datasets knows, as ISO 639-1 codes."""

    queries: str
    documents: str
    judgments: tuple[tuple[str, str], ...]
    query_language: str | None = None
    document_language: str | None = None


def find_collection(named: Sequence[tuple[str, str]]) -> Collection:
    """Finds the files of ids that share the documents of the first id; downloads no collection.

    Args:
      named: (split, id) of each; the split is empty if it has no name.

    Raises:
      ConfigError: ir_datasets is not installed, an id is unknown, or lacks queries, documents or judgments, or
        has other languages than the first id.
      DataError: ir_datasets asks its host about an id, and gets no answer.
    """
    ids = [name for _, name in named]
    faults = [fault for name in ids for fault in _faults(name)] or [*_language_faults(ids[0], ids[1:])]
    if faults:
        raise ConfigError([f"--ir-dataset: {fault}" for fault in faults])
    first = _load(ids[0])
    return Collection(
        queries=f"{_PREFIX}{','.join(dict.fromkeys(ids))}#queries",
        documents=f"{_PREFIX}{ids[0]}#docs",
        judgments=tuple((split, f"{_PREFIX}{name}#qrels") for split, name in named),
        query_language=_known(first.queries_lang()),
        document_language=_known(first.docs_lang()),
    )


def is_of_ir_datasets(path: str) -> bool:
    """Whether a path stands for a part of a collection of ir_datasets."""
    return path.startswith(_PREFIX)


def open_part(path: str) -> BinaryIO:
    """Opens a path of `find_collection` as a stream with a line for each record.

    Raises:
      DataError: during reading, if ir_datasets cannot get or read its files.
    """
    names, _, part = path.removeprefix(_PREFIX).partition("#")
    return io.BufferedReader(_Lines(_lines(names.split(","), part, path)))


class _Lines(io.RawIOBase):
    """A stream of lines that are made one by one."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        super().__init__()
        self._lines, self._left = lines, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._left = self._left or next(self._lines, b"")
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def _lines(names: Sequence[str], part: str, path: str) -> Iterator[bytes]:
    """Yields the lines of a part of collections; a query of several collections comes once."""
    seen = set()
    try:
        for name in names:
            for record in getattr(_load(name), f"{part}_iter")():
                if part == "qrels":
                    line = f"{record.query_id} 0 {record.doc_id} {record.relevance}"
                else:
                    line = json.dumps(_fields(record))
                if part != "queries" or line not in seen:
                    yield line.encode() + b"\n"
                if part == "queries":
                    seen.add(line)
    except Exception as error:  # whatever a collection's own reader, or a download, may raise
        raise DataError(f"{path}: cannot be read: {error or type(error).__name__}.") from error


def _fields(record: Any) -> dict[str, str]:
    text = next((getattr(record, name) for name in _TEXTS if hasattr(record, name)), None)
    return {
        "id": record[0],
        "title": getattr(record, "title", "") or "",
        "text": record.default_text() if text is None else text,
    }


def _load(name: str) -> Any:
    import ir_datasets  # installed by the user, not by this project

    return ir_datasets.load(name)


def _faults(name: str) -> Iterator[str]:
    try:
        dataset = _load(name)
    except ImportError:
        yield "ir_datasets must be installed: pip install ir-datasets."
        return
    except KeyError:
        import ir_datasets

        yield f"must be an id of ir_datasets; got {name!r}{did_you_mean(name, [*ir_datasets.registry])}"
        return
    except Exception as error:  # the look-up of some ids downloads a list of files
        raise DataError(f"{name}: ir_datasets cannot look it up: {error or type(error).__name__}.") from error
    parts = {"queries": dataset.has_queries(), "documents": dataset.has_docs(), "qrels": dataset.has_qrels()}
    if lacking := [part for part, has in parts.items() if not has]:
        yield f"{name} must have queries, documents and qrels; it lacks {' and '.join(lacking)}."


def _language_faults(first: str, names: Sequence[str]) -> Iterator[str]:
    """Yields a fault for each id with other languages than the first id.

    Documents in another language may have the same ids, so that judgments would be wrong without notice.
    """
    expected = _languages(first)
    for name in names:
        if (languages := _languages(name)) != expected:
            yield f"all must have the same documents and languages; {first} has {expected}, {name} has {languages}."


def _languages(name: str) -> str:
    dataset = _load(name)
    return f"queries in {dataset.queries_lang()} and documents in {dataset.docs_lang()}"


def _known(code: str | None) -> str | None:
    return code if code in LANGUAGES else None

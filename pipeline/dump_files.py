"""The dump files that settings name: where they stand in a raw configuration, and a first look at them."""

from collections.abc import Iterator
from typing import Any

from pipeline.input_files import file_fault, files_of, is_remote, scheme_fault
from schemas.errors import DataError
from wikipedia.dumps.files import find_dump_files


def dump_sections(wikipedia: dict[str, Any], keys: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """The parts of raw settings of dumps that name files, each with its keys: the settings, and each wiki."""
    yield wikipedia, keys
    wikis = wikipedia.get("wikis")
    for language, wiki in (wikis if isinstance(wikis, dict) else {}).items():
        if isinstance(wiki, dict):
            yield wiki, (*keys, "wikis", str(language))


def files_of_dump(path: str) -> list[str]:
    """The files of a dump, in the order of their pages; of a table its one file.

    Raises:
      DataError: a pattern matches none, or files of two dumps.
    """
    return find_dump_files(path, files_of)


def dump_fault(path: str) -> str | None:
    """Why the files that a path or pattern names cannot be read, if so."""
    if fault := scheme_fault(path):
        return fault
    if is_remote(path):
        return None
    try:
        files = files_of_dump(path)
    except DataError as error:
        return str(error)
    return next(filter(None, map(file_fault, files)), None)

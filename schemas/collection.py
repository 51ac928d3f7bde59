"""The collection as an artifact: the readable records of the input files, in shards, and the account of the reading.

    manifest.json
    <role>-00000-00000.tsv, <role>-00000-00001.tsv, ...    shards of the first input file of queries, documents,
                                                           judgments, candidates or domains; the second begins with
                                                           00001, ...
    <role>-00000-00000.ids, ...                            the ids of each shard of queries and documents
    copies.tsv                                             the ids of documents with equal texts, a line for each text

Shards are uncompressed UTF-8 in the form of `schemas.wikiclir`. Line n of a role's joined shards is line n of its
joined input files: a record that was left out leaves an empty line, in the ids as well.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import BinaryIO, Final, TypeAlias, TypeVar

from schemas import file_system
from schemas.apply import Apply
from schemas.byte_streams import raw_lines
from schemas.drops import ReadReport
from schemas.json_files import parse_json
from schemas.wikiclir import Judgment, QueryDomain, Reason, Text

MANIFEST_FILE: Final = "manifest.json"
COPIES_FILE: Final = "copies.tsv"
FORMAT: Final = 4
EMPTY_LINE: Final = b"\n"
"""The line of a record that was left out."""


@dataclass(frozen=True)
class InputFile:
    """An input file: its path, the SHA-256 of its stored bytes, and its number of lines."""

    path: str
    sha256: str
    lines: int


@dataclass(frozen=True)
class Shard:
    """A file of the artifact: its name, and the lines of the role that it holds."""

    name: str
    first_line: int
    lines: int

    @property
    def ids_name(self) -> str:
        """The name of the file of its records' ids.

        Example:
          >>> Shard("documents-00000-00000.tsv", 1, 5).ids_name
          'documents-00000-00000.ids'
        """
        return self.name.removesuffix(".tsv") + ".ids"


@dataclass(frozen=True)
class Role:
    """The input files of one role, the shards made of them, and the account of their lines."""

    files: tuple[InputFile, ...]
    shards: tuple[Shard, ...]
    report: ReadReport

    def locate(self, line: int) -> tuple[str, int]:
        """Returns the file that holds a line of the role, and the line's number in it.

        Example:
          >>> role = Role((InputFile("a", "", 2), InputFile("b", "", 3)), (), ReadReport("a and b", 5, 5, ()))
          >>> role.locate(2), role.locate(3)
          (('a', 2), ('b', 1))
        """
        before = 0
        for file in self.files:
            if line <= before + file.lines:
                return file.path, line - before
            before += file.lines
        raise ValueError(f"the role has {before} lines; got line {line}")


def manifest_text(roles: Mapping[str, Role]) -> str:
    """The content of `manifest.json`."""
    content = {
        name: {
            "files": [asdict(file) for file in role.files],
            "shards": [asdict(shard) for shard in role.shards],
            "report": role.report.as_dict(),
        }
        for name, role in roles.items()
    }
    return json.dumps({"format": FORMAT, "roles": content}, indent=1, ensure_ascii=False) + "\n"


def parse_manifest(text: str) -> dict[str, Role]:
    """The roles of a manifest, by their names."""
    return {
        name: Role(
            files=tuple(InputFile(**file) for file in role["files"]),
            shards=tuple(Shard(**shard) for shard in role["shards"]),
            report=ReadReport.from_dict(role["report"], Reason),
        )
        for name, role in parse_json(text)["roles"].items()
    }


def read_texts(stream: BinaryIO, shard: Shard) -> Iterator[Text]:
    """The queries or documents of a shard."""
    for number, line in enumerate(stream, shard.first_line):
        if line != EMPTY_LINE:
            identifier, title, text, *fields = line.decode().rstrip("\n").split("\t")
            yield Text(identifier, title, text, number, tuple(fields))


def split_text(line: bytes) -> tuple[str, bytes, bytes, bytes]:
    """The id, and as bytes the title, the text, and the first field or b"", of a query's or a document's line."""
    identifier, title, text, *fields = line[:-1].split(b"\t")
    return identifier.decode(), title, text, fields[0] if fields else b""


def parse_judgments(lines: Iterable[bytes], first_line: int) -> Iterator[Judgment]:
    """The judgments or candidates in consecutive lines of a shard."""
    for number, line in enumerate(lines, first_line):
        if line != EMPTY_LINE:
            query_id, doc_id, grade, *split = line.decode().rstrip("\n").split("\t")
            yield Judgment(query_id, doc_id, int(grade), split[0] if split else "", number)


def parse_domains(lines: Iterable[bytes], first_line: int) -> Iterator[QueryDomain]:
    """The domains of queries in consecutive lines of a shard."""
    for number, line in enumerate(lines, first_line):
        if line != EMPTY_LINE:
            query_id, domain = line.decode().rstrip("\n").split("\t")
            yield QueryDomain(query_id, domain, number)


def read_raw_documents(stream: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """The ids and the texts of a shard's queries or documents, undecoded."""
    for line in filter(None, raw_lines(stream)):
        identifier, _, text, *_ = line.split(b"\t")
        yield identifier, text


def raw_documents(folder: str) -> Iterator[tuple[bytes, bytes]]:
    """The id and the text, undecoded, of every document of a collection in a local or remote folder."""
    for path in _document_shards(folder):
        with file_system.open_file(path, "rb") as stream:
            yield from read_raw_documents(stream)


RawText: TypeAlias = bytes | str
_Result = TypeVar("_Result")


class DocumentTexts:
    """The text of every document of a collection, undecoded.

    Args:
      folder: the collection's folder, local or remote.
      apply: reads the shards, possibly in other processes.
    """

    def __init__(self, folder: str, apply: Apply = map) -> None:
        self._shards, self._apply = _document_shards(folder), apply

    def __iter__(self) -> Iterator[bytes]:
        for path in self._shards:
            yield from _texts_of_shard(path)

    def each_shard(self, work: Callable[[Iterable[RawText]], _Result]) -> Iterable[_Result]:
        """The results of a function on the texts of each shard, in order."""
        return self._apply(partial(_work_on_shard, work), self._shards)


def each_shard(texts: Iterable[RawText], work: Callable[[Iterable[RawText]], _Result]) -> Iterable[_Result]:
    """The results of a function on the texts of each shard; texts other than `DocumentTexts` count as a single shard.

    Example:
      >>> list(each_shard(["a", "b"], len))
      [2]
    """
    return texts.each_shard(work) if isinstance(texts, DocumentTexts) else [work(texts)]


def _work_on_shard(work: Callable[[Iterable[RawText]], _Result], path: str) -> _Result:
    return work(_texts_of_shard(path))


def _texts_of_shard(path: str) -> Iterator[bytes]:
    with file_system.open_file(path, "rb") as stream:
        for _, text in read_raw_documents(stream):
            yield text


def _document_shards(folder: str) -> list[str]:
    with file_system.open_file(f"{folder}/{MANIFEST_FILE}", "r") as manifest:
        documents = parse_manifest(manifest.read())["documents"]
    return [f"{folder}/{shard.name}" for shard in documents.shards]

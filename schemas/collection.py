"""The collection as an artifact: what the input files hold that can be read, in shards, and how it came about.

    manifest.json
    <role>-00000-00000.tsv, <role>-00000-00001.tsv, ...    of the first input file of queries, documents, judgments or
                                                           candidates; that of the second begins with 00001, ...
    <role>-00000-00000.ids, ...                            beside each shard of queries and documents, its ids

Shards are UTF-8 in the form of `schemas.wikiclir`, never compressed. Line n of a role, counted through its shards, is
line n of its input files, counted through them: a record that was left out leaves an empty line. So it is with the ids.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, BinaryIO, Final, TypeVar

from schemas.byte_streams import raw_lines
from schemas.drops import ReadReport
from schemas.wikiclir import Judgment, Reason, Text

MANIFEST_FILE: Final = "manifest.json"
FORMAT: Final = 3
EMPTY_LINE: Final = b"\n"
"""What stands for a record that was left out."""


@dataclass(frozen=True)
class InputFile:
    """A file that was read: its path, the SHA-256 of its bytes as they are stored, and its lines."""

    path: str
    sha256: str
    lines: int


@dataclass(frozen=True)
class Shard:
    """A file of the artifact: its name, and which of the role's lines it holds."""

    name: str
    first_line: int
    lines: int

    @property
    def ids_name(self) -> str:
        """The file of the ids of its records, where these have ids.

        Example:
          >>> Shard("documents-00000-00000.tsv", 1, 5).ids_name
          'documents-00000-00000.ids'
        """
        return self.name.removesuffix(".tsv") + ".ids"


@dataclass(frozen=True)
class Role:
    """The files of one role, the shards that were made of them, and what became of their lines."""

    files: tuple[InputFile, ...]
    shards: tuple[Shard, ...]
    report: ReadReport

    def place(self, line: int) -> tuple[str, int]:
        """The file, and the line in it, of one of the role's lines.

        Example:
          >>> role = Role((InputFile("a", "", 2), InputFile("b", "", 3)), (), ReadReport("a and b", 5, 5, ()))
          >>> role.place(2), role.place(3)
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
        for name, role in json.loads(text)["roles"].items()
    }


def read_texts(stream: BinaryIO, shard: Shard) -> Iterator[Text]:
    """The queries or documents of a shard."""
    for number, line in enumerate(stream, shard.first_line):
        if line != EMPTY_LINE:
            identifier, title, text = line.decode().rstrip("\n").split("\t")
            yield Text(identifier, title, text, number)


def split_text(line: bytes) -> tuple[str, bytes, bytes]:
    """The id, and the title and the text as bytes, of a query's or a document's line."""
    identifier, title, text = line[:-1].split(b"\t")
    return identifier.decode(), title, text


def read_raw_documents(stream: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """The ids and the texts of a shard's queries or documents, undecoded."""
    for line in filter(None, raw_lines(stream)):
        identifier, _, text = line.split(b"\t")
        yield identifier, text


def read_raw_texts(stream: BinaryIO) -> Iterator[bytes]:
    """Their texts alone."""
    for _, text in read_raw_documents(stream):
        yield text


def raw_documents(folder: str, open_file: Callable[[str, str], Any]) -> Iterator[tuple[bytes, bytes]]:
    """The id and the text, undecoded, of every document of a collection.

    Args:
      folder: of the collection, local or remote.
      open_file: (path, mode) -> stream.
    """
    for path in _document_shards(folder, open_file):
        with open_file(path, "rb") as stream:
            yield from read_raw_documents(stream)


RawText = bytes | str
_Result = TypeVar("_Result")


class ShardedTexts:
    """The texts of a collection, file by file.

    Args:
      paths: of the files.
      read: path -> the texts of that file.
      apply: applies a function to items, as `map` does, perhaps elsewhere.
    """

    def __init__(
        self,
        paths: Sequence[str],
        read: Callable[[str], Iterator[RawText]],
        apply: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
    ) -> None:
        self._paths, self._read, self._apply = paths, read, apply

    def __iter__(self) -> Iterator[RawText]:
        for path in self._paths:
            yield from self._read(path)

    def each(self, work: Callable[[Iterable[RawText]], _Result]) -> Iterable[_Result]:
        """What a function makes of the texts of each file, in order."""
        return self._apply(partial(_work_on_file, work, self._read), self._paths)


def each_shard(texts: Iterable[RawText], work: Callable[[Iterable[RawText]], _Result]) -> Iterable[_Result]:
    """What a function makes of the texts of each file; other texts than `ShardedTexts` count as one file.

    Example:
      >>> list(each_shard(["a", "b"], len))
      [2]
    """
    return texts.each(work) if isinstance(texts, ShardedTexts) else [work(texts)]


def _work_on_file(
    work: Callable[[Iterable[RawText]], _Result], read: Callable[[str], Iterator[RawText]], path: str
) -> _Result:
    return work(read(path))


def document_texts(
    folder: str,
    open_file: Callable[[str, str], Any],
    apply: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
) -> ShardedTexts:
    """Their texts alone, shard by shard; `apply` may read the shards elsewhere."""
    return ShardedTexts(_document_shards(folder, open_file), partial(_texts_of_shard, open_file), apply)


def _texts_of_shard(open_file: Callable[[str, str], Any], path: str) -> Iterator[bytes]:
    with open_file(path, "rb") as stream:
        yield from read_raw_texts(stream)


def _document_shards(folder: str, open_file: Callable[[str, str], Any]) -> list[str]:
    with open_file(f"{folder}/{MANIFEST_FILE}", "r") as manifest:
        documents = parse_manifest(manifest.read())["documents"]
    return [f"{folder}/{shard.name}" for shard in documents.shards]


def read_judgments(stream: BinaryIO, shard: Shard) -> Iterator[Judgment]:
    """The judgments or candidates of a shard."""
    return parse_judgments(stream, shard.first_line)


def parse_judgments(lines: Iterable[bytes], first_line: int) -> Iterator[Judgment]:
    """The judgments or candidates in consecutive lines of a shard."""
    for number, line in enumerate(lines, first_line):
        if line != EMPTY_LINE:
            query_id, doc_id, grade, *split = line.decode().rstrip("\n").split("\t")
            yield Judgment(query_id, doc_id, int(grade), split[0] if split else "", number)

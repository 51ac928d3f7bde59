"""The collection as an artifact: what the input files hold that can be read, in shards, and how it came about.

    manifest.json
    <role>-00000.tsv, <role>-00001.tsv, ...    for the roles queries, documents, judgments and candidates

Shards are UTF-8 in the form of `schemas.wikiclir`, never compressed. Line n of a role, counted through its shards, is
line n of its input files, counted through them: a record that was left out leaves an empty line.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import BinaryIO, Final

from schemas.wikiclir import Judgment, Reason, Text

MANIFEST_FILE: Final = "manifest.json"
FORMAT: Final = 1
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


@dataclass(frozen=True)
class Drops:
    """Records that were left out for one reason: how many, and the first of them as (line, excerpt)."""

    reason: str
    count: int
    examples: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Role:
    """What became of the files of one role; lines = records + all drops."""

    files: tuple[InputFile, ...]
    shards: tuple[Shard, ...]
    records: int
    drops: tuple[Drops, ...]

    @property
    def lines(self) -> int:
        """The lines of all its files."""
        return sum(file.lines for file in self.files)

    def place(self, line: int) -> tuple[str, int]:
        """The file, and the line in it, of one of the role's lines.

        Example:
          >>> role = Role((InputFile("a", "", 2), InputFile("b", "", 3)), (), 5, ())
          >>> role.place(2), role.place(3)
          (('a', 2), ('b', 1))
        """
        for file in self.files:
            if line <= file.lines:
                return file.path, line
            line -= file.lines
        raise ValueError(f"the role has {self.lines} lines; got line {line + self.lines}")


def manifest_text(roles: Mapping[str, Role]) -> str:
    """The content of `manifest.json`."""
    content = {"format": FORMAT, "roles": {name: asdict(role) for name, role in roles.items()}}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def parse_manifest(text: str) -> dict[str, Role]:
    """The roles of a manifest, by their names."""
    return {
        name: Role(
            files=tuple(InputFile(**file) for file in role["files"]),
            shards=tuple(Shard(**shard) for shard in role["shards"]),
            records=role["records"],
            drops=tuple(
                Drops(one["reason"], one["count"], tuple((line, text) for line, text in one["examples"]))
                for one in role["drops"]
            ),
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


def read_ids(stream: BinaryIO) -> Iterator[str]:
    """The ids of a shard's queries or documents."""
    for line in stream:
        if line != EMPTY_LINE:
            yield line.partition(b"\t")[0].decode()


def read_raw_texts(stream: BinaryIO) -> Iterator[bytes]:
    """The texts of a shard's queries or documents, undecoded."""
    for line in stream:
        if line != EMPTY_LINE:
            yield line[:-1].rpartition(b"\t")[2]


def read_judgments(stream: BinaryIO, shard: Shard) -> Iterator[Judgment]:
    """The judgments or candidates of a shard."""
    for number, line in enumerate(stream, shard.first_line):
        if line != EMPTY_LINE:
            query_id, doc_id, grade, *split = line.decode().rstrip("\n").split("\t")
            yield Judgment(query_id, doc_id, int(grade), split[0] if split else "", number)


def drops_in_order(counts: Mapping[Reason, tuple[int, Sequence[tuple[int, str]]]]) -> tuple[Drops, ...]:
    """Drops in the order of the reasons."""
    return tuple(
        Drops(reason.name, counts[reason][0], tuple(counts[reason][1])) for reason in Reason if reason in counts
    )

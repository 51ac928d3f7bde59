"""Reads the input files once, and writes the shards and the manifest of a collection (see `schemas.collection`)."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, compress
from types import MappingProxyType
from typing import Any, BinaryIO, Final, cast

import numpy as np

from components.collection_gen.copies import NO_TEXT, equal_documents, text_hash
from schemas import file_system
from schemas.apply import Apply
from schemas.byte_streams import HashingReader, check_content, raw_lines
from schemas.collection import COPIES_FILE, EMPTY_LINE, MANIFEST_FILE, InputFile, Role, Shard, manifest_text, read_texts
from schemas.columns import check_values, fields_of_roles, text_columns
from schemas.drops import Drop, DropCounter, ReadReport, sum_of_drops
from schemas.record_files import parse_role
from schemas.wikiclir import Reason, Text, excerpt_of

HAVE_IDS: Final = ("queries", "documents")
"""The roles whose records have unique ids."""

_SHARD_BYTES: Final = 1 << 26
"""The size at which a shard ends: large enough to cost nothing, small enough to share among workers."""
_BUFFER: Final = 1 << 20


def write_collection(
    paths: Mapping[str, Sequence[str]],
    digests: Mapping[str, str],
    top_grade: int,
    folder: str,
    apply: Apply = map,
    fields: Sequence[str] = (),
    languages: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, Role]:
    """Writes the collection.

    Each file is read as a whole and gets its own shards: a file's digest needs all its bytes in order, so several
    readers of the same file would read it twice. Then the ids of all files of a role are compared, and only the first
    record of an id is kept.

    Args:
      paths: the files of each role (queries, documents, judgments, candidates), which are read as one file.
      digests: role to the `input_digest` of its files; other content is refused.
      top_grade: the MR grade.
      folder: the folder to write to.
      apply: shares the files among workers.
      fields: further fields of documents.
      languages: role to its codes, where texts are in several languages; a text's first field is then its own.

    Returns:
      the content of the manifest.

    Raises:
      DataError: a role's files do not have its digest, or no document has a field.
    """
    files = [(role, number, path) for role, role_paths in paths.items() for number, path in enumerate(role_paths)]
    written: dict[str, list[Role]] = {role: [] for role in paths}
    text_hashes: dict[str, list[bytes]] = {role: [] for role in paths}
    documents = Counter(dict.fromkeys(fields, 0))
    role_fields = fields_of_roles(languages, fields)
    read = partial(_write_shards, top_grade=top_grade, folder=folder, fields=role_fields, languages=languages)
    for (name, _, _), (role, hashes, values) in zip(files, apply(read, files), strict=True):
        written[name].append(role)
        text_hashes[name].append(hashes)
        documents.update(values)
    check_values(documents)
    roles = {}
    for name, parts in written.items():
        role = _join(parts)
        check_content(f"data.{name}", paths[name], [file.sha256 for file in role.files], digests.get(name))
        roles[name] = _leave_out_repeated(role, folder) if name in HAVE_IDS else role
    if "documents" in roles:
        copies = _copies(roles["documents"], b"".join(text_hashes["documents"]), folder)
        with file_system.open_file(os.path.join(folder, COPIES_FILE), "wb") as file:
            file.write("".join("\t".join(doc_ids) + "\n" for doc_ids in copies).encode())
    with file_system.open_file(os.path.join(folder, MANIFEST_FILE), "wb") as file:
        file.write(manifest_text(roles).encode())
    return roles


def _write_shards(
    source: tuple[str, int, str],
    top_grade: int,
    folder: str,
    fields: Mapping[str, Sequence[str]],
    languages: Mapping[str, Sequence[str]],
) -> tuple[Role, bytes, Counter[str]]:
    """Writes the shards of one file (its role, its number there, and its path), repeated ids included.

    Returns:
      the file's part of the role; for documents eight bytes a line, a hash of its text or zeros; and the number of
      documents with a value of each field.
    """
    role, number, path = source
    left_out = DropCounter()
    records = 0
    text_hashes, values = bytearray(), Counter[str]()
    shards = _ShardWriter(f"{role}-{number:05}", role in HAVE_IDS, folder)
    with file_system.open_file(path, "rb") as stored, shards:
        stream = HashingReader(stored)
        columns = text_columns(fields[role], role) if role in fields else None
        for item in parse_role(role, cast(BinaryIO, stream), path, top_grade, None, columns):
            if isinstance(item, Text) and role in languages and item.fields[0] not in languages[role]:
                item = Drop(Reason.OTHER_LANGUAGE, path, item.line, f"{item.id} | {item.fields[0]}")
            if isinstance(item, Drop):
                shards.write(b"")
                left_out.add(item)
            else:
                shards.write(item.tsv().encode())
                records += 1
            if role == "documents":
                text_hashes += text_hash(item.text) if isinstance(item, Text) else NO_TEXT
            if role == "documents" and isinstance(item, Text):
                values.update(compress(fields[role], item.fields))
        digest = stream.hexdigest()
    report = ReadReport(path, shards.lines, records, left_out.drops())
    role_part = Role((InputFile(path, digest, shards.lines),), tuple(shards.written), report)
    return role_part, bytes(text_hashes), values


class _ShardWriter:
    """Writes lines, and their ids, into one shard after another; the last shard may still grow."""

    def __init__(self, prefix: str, has_ids: bool, folder: str) -> None:
        self.written: list[Shard] = []
        self.lines = 0
        self._prefix, self._has_ids, self._folder = prefix, has_ids, folder
        self._waiting: list[bytes] = []
        self._waiting_size = 0
        self._shard: Any = None
        self._ids: Any = None
        self._shard_bytes = 0

    def __enter__(self) -> "_ShardWriter":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._write_waiting()
        self._end_shard()

    def write(self, line: bytes) -> None:
        self.lines += 1
        self._waiting.append(line)
        self._waiting_size += len(line) + 1
        if self._waiting_size >= _BUFFER:
            self._write_waiting()
            if self._shard_bytes >= _SHARD_BYTES:
                self._end_shard()

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        if self._shard is None:
            self._begin_shard()
        content = b"\n".join([*self._waiting, b""])
        self._shard.write(content)
        self._shard_bytes += len(content)
        if self._ids is not None:
            self._ids.write(b"\n".join([*(line.partition(b"\t")[0] for line in self._waiting), b""]))
        shard = self.written[-1]
        self.written[-1] = replace(shard, lines=self.lines - shard.first_line + 1)
        self._waiting, self._waiting_size = [], 0

    def _begin_shard(self) -> None:
        shard = Shard(f"{self._prefix}-{len(self.written):05}.tsv", self.lines - len(self._waiting) + 1, 0)
        self.written.append(shard)
        self._shard = file_system.open_file(os.path.join(self._folder, shard.name), "wb")
        if self._has_ids:
            self._ids = file_system.open_file(os.path.join(self._folder, shard.ids_name), "wb")

    def _end_shard(self) -> None:
        for file in (self._shard, self._ids):
            if file is not None:
                file.close()
        self._shard, self._ids, self._shard_bytes = None, None, 0


def _join(parts: Sequence[Role]) -> Role:
    """Returns the role of several files, read as one."""
    reports = [part.report for part in parts]
    lines_before = accumulate((report.read for report in reports), initial=0)
    return Role(
        files=tuple(file for part in parts for file in part.files),
        shards=tuple(
            replace(shard, first_line=before + shard.first_line)
            for before, part in zip(lines_before, parts, strict=False)
            for shard in part.shards
        ),
        report=ReadReport(
            " and ".join(report.path for report in reports),
            sum(report.read for report in reports),
            sum(report.used for report in reports),
            sum_of_drops(drops for report in reports for drops in report.drops),
        ),
    )


def _copies(documents: Role, hashes: bytes, folder: str) -> list[tuple[str, ...]]:
    """Returns the ids of the documents with equal texts, a tuple for each shared text."""

    def read_documents() -> Iterator[tuple[int, str, str]]:
        for shard in documents.shards:
            with file_system.open_file(os.path.join(folder, shard.name), "rb") as stream:
                yield from ((text.line - 1, text.id, text.text) for text in read_texts(stream, shard))

    return equal_documents(hashes, read_documents)


def _leave_out_repeated(role: Role, folder: str) -> Role:
    """Empties the lines of all records but the first of each id; rewrites only the shards with repeated ids.

    Holds eight bytes a record, the repeated ids, and one shard at a time.
    """
    repeated = _repeated(role, folder)
    left_out = DropCounter()
    for shard in role.shards:
        if lines := repeated.get(shard.name):
            _empty(os.path.join(folder, shard.ids_name), lines)
            dropped = _empty(os.path.join(folder, shard.name), lines)
            for offset, text in zip(sorted(lines), dropped, strict=True):
                left_out.add(Drop(Reason.DUPLICATE_ID, *role.locate(shard.first_line + offset), excerpt_of(text)))
    drops = left_out.drops()
    report, count = role.report, sum(drop.count for drop in drops)
    drops = sum_of_drops((*report.drops, *drops))
    return replace(role, report=ReadReport(report.path, report.read, report.used - count, drops))


def _repeated(role: Role, folder: str) -> Mapping[str, set[int]]:
    """Shard name to the offsets of the lines whose ids occur before."""

    def ids() -> Iterator[tuple[Shard, int, bytes]]:
        for shard in role.shards:
            with file_system.open_file(os.path.join(folder, shard.ids_name), "rb") as stream:
                yield from ((shard, offset, line) for offset, line in enumerate(raw_lines(stream)) if line)

    # Python's hash is the same within a process; ids that share a hash are then compared themselves.
    hashes = np.fromiter((hash(line) for _, _, line in ids()), np.int64, role.report.used)
    values, counts = np.unique(hashes, return_counts=True)
    suspects = set(values[counts > 1].tolist())
    offsets: dict[str, set[int]] = defaultdict(set)
    if suspects:
        seen: set[bytes] = set()
        for shard, offset, line in ids():
            if hash(line) in suspects:
                if line in seen:
                    offsets[shard.name].add(offset)
                seen.add(line)
    return offsets


def _empty(path: str, offsets: set[int]) -> list[str]:
    """Empties lines of a file; returns their former content."""
    with file_system.open_file(path, "rb") as stream:
        lines = stream.readlines()
    emptied = [lines[offset][:-1].decode() for offset in sorted(offsets)]
    for offset in offsets:
        lines[offset] = EMPTY_LINE
    with file_system.open_file(path, "wb") as stream:
        stream.write(b"".join(lines))
    return emptied

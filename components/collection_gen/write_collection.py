"""Reads input files once, and writes the collection's shards and manifest (see `schemas.collection`)."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from components.collection_gen.leave_out_repeated import leave_out_repeated
from components.collection_gen.write_shards import HAVE_IDS, ShardsOfFile, write_shards
from schemas.collection import MANIFEST_FILE, Role, Shard, manifest_text
from schemas.drops import sum_of_drops
from schemas.errors import DataError
from schemas.input_digest import input_digest
from schemas.read_report import ReadReport

Open = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""

Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Applies a function to items, as `map` does."""


def write_collection(
    paths: Mapping[str, Sequence[str]],
    digests: Mapping[str, str],
    top_grade: int,
    folder: str,
    open_file: Open,
    apply: Apply = map,
) -> dict[str, Role]:
    """Writes the collection.

    Each file becomes shards of its own, by itself: a file's digest needs its bytes from the first to the last, so that
    several readers of one file would read it twice. What needs all files is done here, of their ids alone: an id stays
    where it stands first, whichever file that is.

    Args:
      paths: the files of each role (queries, documents, judgments, candidates), which are read as if they were one.
      digests: what `schemas.input_digest` makes of a role's files: other bytes are refused.
      top_grade: the MR grade.
      folder: to write to.
      open_file: opens what is read and what is written.
      apply: reads the files, perhaps elsewhere and several at a time.

    Returns:
      what the manifest holds.

    Raises:
      DataError: a role's files are not those of its digest.
    """
    files = [(role, number, path) for role, some in paths.items() for number, path in enumerate(some)]
    written: dict[str, list[ShardsOfFile]] = {role: [] for role in paths}
    read = partial(write_shards, top_grade=top_grade, folder=folder, open_file=open_file)
    for (role, _, _), one in zip(files, apply(read, files), strict=True):
        written[role].append(one)
    roles = {}
    for name, parts in written.items():
        found = input_digest([part.file.sha256 for part in parts])
        if found != digests.get(name, found):
            raise DataError(
                f"{' and '.join(paths[name])} must not change while a run reads the data ({name}): expected the "
                f"SHA-256 {digests[name]}; got {found}. Run again once the files are complete."
            )
        roles[name] = _role(name, parts, folder, open_file)
    with open_file(os.path.join(folder, MANIFEST_FILE), "wb") as file:
        file.write(manifest_text(roles).encode())
    return roles


def _role(name: str, parts: Sequence[ShardsOfFile], folder: str, open_file: Open) -> Role:
    """The role that files make together."""
    lines_before = accumulate((part.file.lines for part in parts), initial=0)
    shards = tuple(
        Shard(shard.name, before + shard.first_line, shard.lines)
        for before, part in zip(lines_before, parts, strict=False)
        for shard in part.shards
    )
    read = sum(part.file.lines for part in parts)
    role = Role(
        files=tuple(part.file for part in parts),
        shards=shards,
        report=ReadReport(
            " and ".join(part.file.path for part in parts),
            read,
            sum(part.records for part in parts),
            sum_of_drops(drops for part in parts for drops in part.drops),
        ),
    )
    return leave_out_repeated(role, folder, open_file) if name in HAVE_IDS else role

"""Leaves out the records whose ids stood before, in whichever file."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from schemas.collection import EMPTY_LINE, Role, Shard
from schemas.drops import Drop, DropCounter, sum_of_drops
from schemas.raw_lines import raw_lines
from schemas.read_report import ReadReport
from schemas.wikiclir import Reason, excerpt_of

Open = Callable[[str, str], Any]
"""Opens a file, local or remote: (path, mode) -> stream of bytes."""


def leave_out_repeated(role: Role, folder: str, open_file: Open) -> Role:
    """Empties the lines of all records but the first of each id; nothing is written where there are none.

    Held in memory are eight bytes a record, besides the repeated ids and one shard that has some.

    Args:
      role: whose shards have files of ids.
      folder: of the collection.
      open_file: opens what is read and what is written.

    Returns:
      the role without these records.
    """
    repeated = _repeated(role, folder, open_file)
    left_out = DropCounter()
    for shard in role.shards:
        if lines := repeated.get(shard.name):
            _empty(os.path.join(folder, shard.ids_name), lines, open_file)
            dropped = _empty(os.path.join(folder, shard.name), lines, open_file)
            for place, text in zip(sorted(lines), dropped, strict=True):
                left_out.add(Drop(Reason.DUPLICATE_ID, *role.place(shard.first_line + place), excerpt_of(text)))
    drops = left_out.drops()
    report, count = role.report, sum(one.count for one in drops)
    drops = sum_of_drops((*report.drops, *drops))
    return replace(role, report=ReadReport(report.path, report.read, report.used - count, drops))


def _repeated(role: Role, folder: str, open_file: Open) -> Mapping[str, set[int]]:
    """The places of the lines in each shard, by its name, whose ids stood before."""

    def ids() -> Iterator[tuple[Shard, int, bytes]]:
        for shard in role.shards:
            with open_file(os.path.join(folder, shard.ids_name), "rb") as stream:
                yield from ((shard, place, line) for place, line in enumerate(raw_lines(stream)) if line)

    # Python's own hash holds within a process; what shares one with another is looked at itself.
    hashes = np.fromiter((hash(line) for _, _, line in ids()), np.int64, role.report.used)
    values, counts = np.unique(hashes, return_counts=True)
    suspects = set(values[counts > 1].tolist())
    places: dict[str, set[int]] = defaultdict(set)
    if suspects:
        seen: set[bytes] = set()
        for shard, place, line in ids():
            if hash(line) in suspects:
                if line in seen:
                    places[shard.name].add(place)
                seen.add(line)
    return places


def _empty(path: str, places: set[int], open_file: Open) -> list[str]:
    """Empties lines of a file; returns what they were."""
    with open_file(path, "rb") as stream:
        lines = stream.readlines()
    emptied = [lines[place][:-1].decode() for place in sorted(places)]
    for place in places:
        lines[place] = EMPTY_LINE
    with open_file(path, "wb") as stream:
        stream.write(b"".join(lines))
    return emptied

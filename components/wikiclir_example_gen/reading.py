"""Beam steps that read the shards of a collection (see `schemas.collection`)."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any

import apache_beam as beam

from components.wikiclir_example_gen.collection_file import collection_file
from components.wikiclir_example_gen.needed_documents import Needed
from components.wikiclir_example_gen.packed_lines import pack_lines
from components.wikiclir_example_gen.report import TALLIES, USED, tally
from schemas.collection import EMPTY_LINE, Shard, read_texts
from schemas.wikiclir import Reason


class ReadQueries(beam.DoFn):
    """shard -> (query_id, query)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def process(self, shard: Shard) -> Iterator[Any]:
        with collection_file(self._folder, shard.name) as stream:
            for query in read_texts(stream, shard):
                yield query.id, query


class ReadJudgments(beam.DoFn):
    """shard -> (query_id, the number of the first of its lines that stand together, and these lines' bytes).

    They are parsed where they are needed: as judgments, Beam would pickle each of them.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def process(self, shard: Shard) -> Iterator[Any]:
        with collection_file(self._folder, shard.name) as stream:
            numbered = ((number, line) for number, line in enumerate(stream, shard.first_line) if line != EMPTY_LINE)
            for query_id, lines in groupby(numbered, lambda line: line[1].partition(b"\t")[0]):
                block = list(lines)
                first_line, _ = block[0]
                # A record that was left out keeps its place.
                padded = (
                    EMPTY_LINE * (number - before - 1) + line
                    for (before, _), (number, line) in pairwise([(first_line - 1, b""), *block])
                )
                yield query_id.decode(), (first_line, b"".join(padded))


class ReadNeededDocuments(beam.DoFn):
    """shard -> (query_id, the shard's documents that its list needs, packed)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._needed: Needed | None = None

    def process(self, shard: Shard, needed: bytes) -> Iterator[Any]:
        if self._needed is None:
            self._needed = Needed.from_bytes(needed)
        with collection_file(self._folder, shard.ids_name) as stream:
            ids = stream.read().splitlines()
        query_id_to_lines = defaultdict(list)
        used = 0
        with collection_file(self._folder, shard.name) as stream:
            # Left-out records, whose ids are empty, are needed by no list.
            for line, query_ids in zip(stream, self._needed.query_ids(ids), strict=True):
                if query_ids:
                    used += 1
                    for query_id in query_ids:
                        query_id_to_lines[query_id].append(line)
        for query_id, lines in query_id_to_lines.items():
            yield query_id, pack_lines(lines)
        yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", USED, used))
        if unused := sum(map(bool, ids)) - used:
            yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", Reason.NOT_IN_A_LIST.name, unused))

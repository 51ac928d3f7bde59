"""Beam steps that read the shards of a collection (see `schemas.collection`)."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import apache_beam as beam

from components.wikiclir_example_gen.collection_file import collection_file
from components.wikiclir_example_gen.needed_documents import Needed
from components.wikiclir_example_gen.packed_lines import pack_lines
from components.wikiclir_example_gen.report import TALLIES, USED, tally
from schemas.collection import Shard, read_judgments, read_texts
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
    """shard -> (query_id, its judgments or candidates that stand together)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def process(self, shard: Shard) -> Iterator[Any]:
        with collection_file(self._folder, shard.name) as stream:
            for query_id, judgments in groupby(read_judgments(stream, shard), lambda judgment: judgment.query_id):
                yield query_id, list(judgments)


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

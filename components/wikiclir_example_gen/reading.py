"""Beam steps that read the shards of a collection (see `schemas.collection`)."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import Any, BinaryIO

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from components.wikiclir_example_gen.report import TALLIES, USED, tally
from schemas.collection import EMPTY_LINE, Shard, read_judgments, read_texts, split_text
from schemas.wikiclir import Reason


def open_shard(folder: str, shard: Shard) -> BinaryIO:
    """Opens a shard, local or remote."""
    path = os.path.join(folder, shard.name)
    stream: BinaryIO = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return stream


class ReadQueries(beam.DoFn):
    """shard -> (query_id, query)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def process(self, shard: Shard) -> Iterator[Any]:
        with open_shard(self._folder, shard) as stream:
            for query in read_texts(stream, shard):
                yield query.id, query


class ReadJudgments(beam.DoFn):
    """shard -> (query_id, its judgments or candidates that stand together)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def process(self, shard: Shard) -> Iterator[Any]:
        with open_shard(self._folder, shard) as stream:
            for query_id, judgments in groupby(read_judgments(stream, shard), lambda judgment: judgment.query_id):
                yield query_id, list(judgments)


class ReadNeededDocuments(beam.DoFn):
    """shard -> (query_id, the shard's documents that its list needs): one element for many texts, all undecoded."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._needed: dict[str, list[str]] | None = None

    def process(self, shard: Shard, needed: str) -> Iterator[Any]:
        if self._needed is None:
            self._needed = json.loads(needed)
        query_id_to_documents = defaultdict(list)
        used = unused = 0
        with open_shard(self._folder, shard) as stream:
            for line in stream:
                if line == EMPTY_LINE:
                    continue
                doc_id, title, text = split_text(line)
                query_ids = self._needed.get(doc_id)
                if query_ids is None:
                    unused += 1
                    continue
                used += 1
                for query_id in query_ids:
                    query_id_to_documents[query_id].append((doc_id, title, text))
        yield from query_id_to_documents.items()
        yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", USED, used))
        if unused:
            yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", Reason.NOT_IN_A_LIST.name, unused))

"""Beam steps that read a collection's shards, but only those documents that a list needs."""

import pickle
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple, TypeAlias

import apache_beam as beam
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from components.wikiclir_example_gen.document_ids import collection_file, id_hashes
from components.wikiclir_example_gen.lists import IngestSettings, RankingList
from components.wikiclir_example_gen.query_words import with_drawn_words
from components.wikiclir_example_gen.report import TALLIES, USED, tally
from schemas.collection import EMPTY_LINE, Shard, read_texts
from schemas.passages import document_of
from schemas.wikiclir import Reason

PackedLines: TypeAlias = tuple[int, bytes]
"""Many lines as one element, because Beam is slow with many: their number of bytes, and the lines, compressed. Not a
class, because Beam would write the class's name with each element."""

_CODEC: Final = "snappy"
"""Half the bytes in a tenth of gzip's time: a runner in one process holds some six copies of a joined element."""


def read_queries(shard: Shard, folder: str, settings: IngestSettings) -> Iterator[Any]:
    """shard -> (query_id, query), with drawn words as its text where the settings ask for keyword queries."""
    with collection_file(folder, shard.name) as stream:
        queries = read_texts(stream, shard)
        if settings.query_words is not None:
            queries = with_drawn_words(queries, settings.query_words, settings.seed, settings.segmented)
        for query in queries:
            yield query.id, query


def read_lines_of_query(shard: Shard, folder: str) -> Iterator[Any]:
    """shard -> (query_id, the number of the first of consecutive lines, and these lines' bytes).

    The shard is of judgments, candidates or domains. `MakeList` parses the lines: Beam would pickle each record.
    """
    with collection_file(folder, shard.name) as stream:
        numbered = ((number, line) for number, line in enumerate(stream, shard.first_line) if line != EMPTY_LINE)
        for query_id, lines in groupby(numbered, lambda line: line[1].partition(b"\t")[0]):
            block = list(lines)
            first_line, _ = block[0]
            # A record that was left out keeps its line.
            padded = (
                EMPTY_LINE * (number - before - 1) + line
                for (before, _), (number, line) in pairwise([(first_line - 1, b""), *block])
            )
            yield query_id.decode(), (first_line, b"".join(padded))


class Needed(NamedTuple):
    """The pairs of queries and documents of all lists, sorted by the documents' hashes: twelve bytes a pair."""

    documents: npt.NDArray[np.uint64]
    """Hash of each pair's document, [pairs]."""
    queries: npt.NDArray[np.uint32]
    """Position of each pair's query in `ids`, [pairs]."""
    ids: Sequence[str]
    """Ids of the queries."""

    def query_ids(self, doc_ids: Iterable[bytes]) -> Iterator[list[str]]:
        """Yields the queries that need each document, and very rarely another query, if two hashes agree."""
        hashes = id_hashes(doc_ids)
        starts, ends = (np.searchsorted(self.documents, hashes, side).tolist() for side in ("left", "right"))
        for start, end in zip(starts, ends, strict=True):
            yield [self.ids[query] for query in self.queries[start:end].tolist()] if end > start else []


class _Lists(NamedTuple):
    """Lists: the queries' ids, their numbers of documents, and the hashes of the documents."""

    query_ids: list[str]
    sizes: "array[int]"
    hashes: "array[int]"


class NeededDocuments(beam.CombineFn):
    """(query_id, RankingList)s -> `Needed`, a filter that every worker has before it reads any document.

    Pickled, because Beam measures any side input but bytes object by object.
    """

    def create_accumulator(self) -> _Lists:
        return _Lists([], array("I"), array("Q"))

    def add_input(self, accumulator: _Lists, element: tuple[str, RankingList]) -> _Lists:
        query_id, ranking_list = element
        accumulator.query_ids.append(query_id)
        accumulator.sizes.append(len(ranking_list.grades))
        accumulator.hashes.frombytes(id_hashes(doc_id.encode() for doc_id in ranking_list.grades).tobytes())
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[_Lists]) -> _Lists:
        first, *further = accumulators
        for lists in further:
            first.query_ids.extend(lists.query_ids)
            first.sizes.extend(lists.sizes)
            first.hashes.extend(lists.hashes)
        return first

    def extract_output(self, accumulator: _Lists) -> bytes:
        hashes = np.frombuffer(accumulator.hashes, np.uint64)
        queries = np.repeat(np.arange(len(accumulator.sizes), dtype=np.uint32), accumulator.sizes)
        order = np.argsort(hashes, kind="stable")
        return pickle.dumps(Needed(hashes[order], queries[order], accumulator.query_ids))


class ReadNeededDocuments(beam.DoFn):
    """shard of documents or passages -> (query_id, the lines that the query's list needs, packed)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._needed: Needed | None = None

    def process(self, shard: Shard, needed: bytes) -> Iterator[Any]:
        if self._needed is None:
            self._needed = pickle.loads(needed)
        with collection_file(self._folder, shard.ids_name) as stream:
            ids = [document_of(identifier.decode()).encode() for identifier in stream.read().splitlines()]
        query_id_to_lines = defaultdict(list)
        used = set()
        with collection_file(self._folder, shard.name) as stream:
            # No list needs a left-out record, whose id is empty.
            for line, doc_id, query_ids in zip(stream, ids, self._needed.query_ids(ids), strict=True):
                if query_ids:
                    used.add(doc_id)
                    for query_id in query_ids:
                        query_id_to_lines[query_id].append(line)
        for query_id, lines in query_id_to_lines.items():
            yield query_id, pack_lines(lines)
        yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", USED, len(used)))
        if unused := len({*filter(None, ids)}) - len(used):
            yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", Reason.NOT_IN_A_LIST.name, unused))


def pack_lines(lines: Iterable[bytes]) -> PackedLines:
    """Compresses lines with their ends.

    Example:
      >>> unpack_lines(pack_lines([b"d1\\t\\tun loup\\n", b"d2\\t\\tun\\rrenard\\n"]))
      [b'd1\\t\\tun loup\\n', b'd2\\t\\tun\\rrenard\\n']
    """
    content = b"".join(lines)
    return len(content), pa.compress(content, _CODEC, asbytes=True)


def unpack_lines(packed: PackedLines) -> list[bytes]:
    """Decompresses the lines of `pack_lines`."""
    size, compressed = packed
    content = pa.decompress(compressed, size, _CODEC, asbytes=True)
    # `splitlines` would split at a carriage return too.
    return [b"%b\n" % line for line in content.split(b"\n")[:-1]]

"""Which documents the lists need: a filter that every worker has, before any text is joined with its lists."""

import pickle
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apache_beam as beam
import numpy as np
import numpy.typing as npt

from components.wikiclir_example_gen.id_hashes import id_hashes
from components.wikiclir_example_gen.lists import RankingList


class Needed(NamedTuple):
    """The pairs of queries and documents, sorted by the documents' hashes: twelve bytes a pair."""

    documents: npt.NDArray[np.uint64]
    """Their hashes, [pairs]."""
    queries: npt.NDArray[np.uint32]
    """Places in the ids, [pairs]."""
    ids: Sequence[str]
    """Of the queries."""

    def query_ids(self, doc_ids: Iterable[bytes]) -> Iterator[list[str]]:
        """The queries that need each document, and once in a long while another: hashes may agree."""
        hashes = id_hashes(doc_ids)
        starts, ends = (np.searchsorted(self.documents, hashes, side).tolist() for side in ("left", "right"))
        for start, end in zip(starts, ends, strict=True):
            yield [self.ids[query] for query in self.queries[start:end].tolist()] if end > start else []

    def to_bytes(self) -> bytes:
        """A side input: one element, for Beam measures any other object by object."""
        return pickle.dumps((self.documents.tobytes(), self.queries.tobytes(), list(self.ids)))

    @classmethod
    def from_bytes(cls, content: bytes) -> "Needed":
        """What `to_bytes` was called on."""
        documents, queries, ids = pickle.loads(content)
        return cls(np.frombuffer(documents, np.uint64), np.frombuffer(queries, np.uint32), ids)


class _Lists(NamedTuple):
    """Some lists: ids of queries, how many documents each has, and the hashes of these."""

    query_ids: list[str]
    sizes: "array[int]"
    hashes: "array[int]"


class NeededDocuments(beam.CombineFn):
    """(query_id, RankingList)s -> `Needed`, as bytes."""

    def create_accumulator(self) -> _Lists:
        return _Lists([], array("I"), array("Q"))

    def add_input(self, accumulator: _Lists, element: tuple[str, RankingList]) -> _Lists:
        query_id, ranking_list = element
        accumulator.query_ids.append(query_id)
        accumulator.sizes.append(len(ranking_list.grades))
        accumulator.hashes.frombytes(id_hashes(doc_id.encode() for doc_id in ranking_list.grades).tobytes())
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[_Lists]) -> _Lists:
        first, *others = accumulators
        for other in others:
            first.query_ids.extend(other.query_ids)
            first.sizes.extend(other.sizes)
            first.hashes.extend(other.hashes)
        return first

    def extract_output(self, accumulator: _Lists) -> bytes:
        hashes = np.frombuffer(accumulator.hashes, np.uint64)
        queries = np.repeat(np.arange(len(accumulator.sizes), dtype=np.uint32), accumulator.sizes)
        order = np.argsort(hashes, kind="stable")
        return Needed(hashes[order], queries[order], accumulator.query_ids).to_bytes()

"""The Beam job that encodes a collection into the segments of an index."""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam

import components.beam_runner  # noqa: F401 - pipelines are made here
from models.encoders.text_vectors import TextVectors
from models.exported.model import LoadedModel
from schemas.collection import Role, Shard, read_texts
from schemas.index_manifest import SEGMENTS, SegmentRecord
from smooth_clir.retrieval.segment import MAX_DOCUMENTS, encode_documents


class Part(NamedTuple):
    """Consecutive lines of a shard, which become a segment."""

    shard: Shard
    first: int
    """The first line in the shard, from 0."""
    lines: int
    number: int
    """The number of the segment."""


def index_collection(
    pipeline: beam.Pipeline,
    model: str,
    collection: str,
    roles: Mapping[str, Role],
    folder: str,
    records: str,
    text_vectors: str | None = None,
) -> None:
    """Encodes a collection's documents.

    Nothing is grouped: a worker reads a part of a shard and writes a segment, in memory that does not grow with the
    collection.

    Args:
      pipeline: the Beam pipeline to add to.
      model: folder of an exported model.
      collection: folder of the collection.
      roles: the collection's roles.
      folder: local folder of the index, which receives only the segments.
      records: prefix of the files that receive each segment's `SegmentRecord` as a line of JSON.
      text_vectors: folder of the documents' vectors by a pre-trained encoder, if the model has one.
    """
    (
        pipeline
        | "NameParts" >> beam.Create(parts_of(roles["documents"].shards))
        | "ShareParts" >> beam.Reshuffle()
        | "EncodePart" >> beam.ParDo(_EncodePart(model, collection, folder, text_vectors))
        | "WriteRecords" >> beam.io.WriteToText(records, num_shards=1)
    )


def parts_of(shards: tuple[Shard, ...], max_lines: int = MAX_DOCUMENTS) -> list[Part]:
    """Parts of shards, about equal within a shard, and of `max_lines` lines at most.

    Example:
      >>> shard = Shard("documents-00000.tsv", 1, 5)
      >>> [(part.first, part.lines, part.number) for part in parts_of((shard, shard), max_lines=3)]
      [(0, 3, 0), (3, 2, 1), (0, 3, 2), (3, 2, 3)]
    """
    parts: list[Part] = []
    for shard in shards:
        pieces = -(-shard.lines // max_lines)
        size = -(-shard.lines // max(pieces, 1))
        for first in range(0, shard.lines, max(size, 1)):
            parts.append(Part(shard, first, min(size, shard.lines - first), len(parts)))
    return parts


class _EncodePart(beam.DoFn):
    """part -> the record of its segment, as JSON; nothing where no line is a document."""

    def __init__(self, model: str, collection: str, folder: str, text_vectors: str | None) -> None:
        self._model_path, self._collection, self._folder = model, collection, folder
        self._text_vectors = text_vectors
        self._model: Any = None

    def setup(self) -> None:
        encoder = TextVectors(self._text_vectors) if self._text_vectors else None
        self._model = LoadedModel(self._model_path, "encode_document", encoder=encoder)

    def process(self, part: Part) -> Iterator[str]:
        with open(os.path.join(self._collection, part.shard.name), "rb") as stream:
            for _ in islice(stream, part.first):
                pass
            # A left-out record is an empty line.
            documents = read_texts(islice(stream, part.lines), part.shard)  # type: ignore[arg-type]
            records = encode_documents(self._model, documents, os.path.join(self._folder, SEGMENTS), part.number)
            for record in records:
                yield record.model_dump_json()


def read_records(paths: list[str]) -> list[SegmentRecord]:
    """Returns the records of all segments, in the order of their numbers."""
    records = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            records += [SegmentRecord.model_validate_json(line) for line in file]
    return sorted(records, key=lambda record: record.number)

"""Makes an index of segments that are there."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from models.exported.model import ModelStatistics
from models.retrieval.corpus_index import document_numbers, removed_rows
from models.retrieval.drift import measure_drift
from models.retrieval.near_vectors import LEAST, PROBED, NearVectors, lists_for, sample_size
from models.retrieval.segment import Segment
from schemas.byte_streams import stream_sha256
from schemas.index_manifest import (
    MANIFEST_FILE,
    SEGMENTS,
    VECTORS_FILE,
    IndexManifest,
    SegmentRecord,
)

_SEED: Final = 1


def assemble_index(
    folder: str,
    model: str,
    segments: Sequence[SegmentRecord],
    next_number: int,
    origin: str = "",
    near: NearVectors | None = None,
    least: int = LEAST,
    statistics: ModelStatistics | None = None,
) -> IndexManifest:
    """Writes what an index has besides its segments: lists of near vectors, if they are many, and the manifest.

    Args:
      folder: that holds the segments, and the rows that were removed.
      model: the fingerprint of that which encoded them.
      segments: what the manifest says of them.
      next_number: of a segment that is to come.
      origin: see `IndexManifest`.
      near: lists of exactly these documents, where an earlier version had some; else they are made.
      least: vectors that need lists.
      statistics: that the model keeps, if it has some.
    """
    opened = [
        Segment(os.path.join(folder, SEGMENTS, str(one.number)), one, removed_rows(folder, one.number))
        for one in segments
    ]
    documents = sum(one.documents - one.removed for one in segments)
    lists, digest = 0, ""
    if documents >= least:
        near = near or _lists_of(opened, documents)
        near.save(os.path.join(folder, VECTORS_FILE))
        with open(os.path.join(folder, VECTORS_FILE), "rb") as file:
            digest = stream_sha256(file)
        lists = near.lists
    manifest = IndexManifest(
        model=model,
        dimension=opened[0].vectors.shape[1] if opened else 0,
        documents=documents,
        segments=tuple(segments),
        next_number=next_number,
        lists=lists,
        probes=int(np.ceil(lists * PROBED)),
        vectors_sha256=digest,
        origin=origin,
        drift=measure_drift(opened, statistics),
    )
    with open(os.path.join(folder, MANIFEST_FILE), "w", encoding="utf-8") as file:
        file.write(manifest.to_json())
    return manifest


def _lists_of(segments: Sequence[Segment], documents: int) -> NearVectors:
    """Lists that learn from an even share of every segment."""
    lists = lists_for(documents)
    share = min(1.0, sample_size(lists) / documents)
    generator = np.random.default_rng(_SEED)
    sample = [segment.vectors[rows[generator.random(len(rows)) < share]] for segment, rows in _kept(segments)]
    near = NearVectors.learn(np.concatenate(sample), lists)
    for segment, rows in _kept(segments):
        near.add(segment.vectors[rows], document_numbers(segment.number, rows))
    return near


def _kept(segments: Sequence[Segment]) -> Iterator[tuple[Segment, npt.NDArray[np.int64]]]:
    for segment in segments:
        yield segment, segment.kept

"""Completes an index whose segments are written: the lists of near vectors, and the manifest."""

import os
from collections.abc import Sequence
from typing import Final

import numpy as np

from models.exported.lexicon import ModelStatistics
from schemas.index_manifest import MANIFEST_FILE, VECTORS_FILE, IndexManifest, SegmentRecord
from smooth_clir.retrieval.corpus_index import document_numbers, open_segments
from smooth_clir.retrieval.drift import measure_drift
from smooth_clir.retrieval.field_columns import field_records
from smooth_clir.retrieval.index_files import file_record
from smooth_clir.retrieval.near_vectors import MIN_VECTORS, PROBED, TRAINED_ON, NearVectors, lists_for
from smooth_clir.retrieval.segment import Segment

_SEED: Final = 1


def assemble_index(
    folder: str,
    model: str,
    segments: Sequence[SegmentRecord],
    next_number: int,
    origin: str = "",
    is_of_run: bool = False,
    near: NearVectors | None = None,
    min_vectors: int = MIN_VECTORS,
    statistics: ModelStatistics | None = None,
    fields: Sequence[str] = (),
) -> IndexManifest:
    """Writes the lists of near vectors, if there are many vectors, and the manifest.

    Args:
      folder: the folder with the segments and the removed rows.
      model: the fingerprint of the model that encoded them.
      segments: the segments' records.
      next_number: the number of the next new segment.
      origin, is_of_run: see `IndexManifest.origin` and `IndexManifest.of_run`.
      near: lists of exactly these documents, updated from the previous version; None makes new lists.
      min_vectors: the smallest number of vectors that get lists.
      statistics: the model's statistics of its own documents; None for a model without a lexicon.
      fields: the names of the documents' fields.

    Raises:
      ValueError: the documents of a segment have no fields.
    """
    opened = open_segments(folder, segments)
    columns = [(segment.fields, segment.kept_rows) for segment in opened if segment.fields]
    if len(columns) != (len(opened) if fields else 0):
        raise ValueError(f"every document must have the fields of the index ({', '.join(fields) or 'none'}).")
    documents = sum(segment.documents - segment.removed for segment in segments)
    lists, files = 0, [segment.removed_file for segment in segments if segment.removed]
    if documents >= min_vectors:
        near = near or _lists_of(opened, documents)
        near.save(os.path.join(folder, VECTORS_FILE))
        lists = near.lists
        files.append(VECTORS_FILE)
    manifest = IndexManifest(
        model=model,
        dimension=opened[0].vectors.shape[1] if opened else 0,
        documents=documents,
        segments=tuple(segments),
        next_number=next_number,
        lists=lists,
        probes=int(np.ceil(lists * PROBED)),
        files={path: file_record(os.path.join(folder, path)) for path in files},
        origin=origin,
        of_run=is_of_run,
        drift=measure_drift(opened, statistics),
        fields=field_records(fields, columns),
    )
    with open(os.path.join(folder, MANIFEST_FILE), "w", encoding="utf-8") as file:
        file.write(manifest.to_json())
    return manifest


def _lists_of(segments: Sequence[Segment], documents: int) -> NearVectors:
    """Makes the lists of near vectors, learned from the same share of each segment."""
    lists = lists_for(documents)
    share = min(1.0, lists * TRAINED_ON / documents)
    generator = np.random.default_rng(_SEED)
    kept_rows = [segment.kept_rows for segment in segments]
    sample = [
        segment.vectors[rows[generator.random(len(rows)) < share]]
        for segment, rows in zip(segments, kept_rows, strict=True)
    ]
    near = NearVectors.learn(np.concatenate(sample), lists)
    for segment, rows in zip(segments, kept_rows, strict=True):
        near.add(segment.vectors[rows], document_numbers(segment.number, rows))
    return near

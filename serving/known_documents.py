"""Finds the documents of an index by their ids, in bulk."""

import hashlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from models.corpus_index.segment import Segment

_KEY_BYTES: Final = 8


class Place(NamedTuple):
    """Where a document lies."""

    segment: int
    """The place of its segment among those given."""
    row: int
    digest: bytes
    """See `models.corpus_index.segment.document_digest`."""


class KnownDocuments:
    """The documents of segments, by keys of their ids: some 16 bytes each, where a dict would take 200.

    Args:
      segments: whose documents are known.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._digests = [segment.digests for segment in segments]
        keys, places, rows = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        for place, segment in enumerate(segments):
            kept = segment.kept
            keys.append(np.array([_key(segment.doc_id(row)) for row in kept.tolist()], np.uint64))
            places.append(np.full(len(kept), place, np.int32))
            rows.append(kept.astype(np.int32))
        order = np.argsort(np.concatenate(keys), kind="stable")
        self._keys, self._places, self._rows = (np.concatenate(part)[order] for part in (keys, places, rows))

    def find(self, doc_id: bytes) -> Place | None:
        """Where a document lies, if it is there."""
        key = np.uint64(_key(doc_id))
        start, end = (int(np.searchsorted(self._keys, key, side=side)) for side in ("left", "right"))
        for at in range(start, end):
            segment, row = int(self._places[at]), int(self._rows[at])
            if self._segments[segment].doc_id(row) == doc_id:
                return Place(segment, row, self._digests[segment][row].tobytes())
        return None


def _key(doc_id: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(doc_id, digest_size=_KEY_BYTES).digest(), "little")

"""Encodes documents with an exported model, into segments of an index."""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

import tensorflow as tf

from models.corpus_index.segment import MOST_DOCUMENTS, SegmentWriter
from schemas.index_manifest import SegmentRecord
from schemas.wikiclir import Text

_BATCH: Final = 1024


def encode_documents(
    model: Any,
    documents: Iterable[Text],
    folder: str,
    first_number: int,
    told: Callable[[int], None] = lambda documents: None,
    most: int = MOST_DOCUMENTS,
) -> Iterator[SegmentRecord]:
    """Writes segments of documents, one after the other; no more than one is held in memory.

    Args:
      model: an exported model, loaded, whose score is an inner product.
      documents: in the order in which they are written.
      folder: in which each segment gets a folder, its number.
      first_number: of the first segment.
      told: is called with the number of documents that are encoded, again and again.
      most: documents of a segment.
    """
    encode, count = model.signatures["encode_document"], model.signatures.get("count_terms")
    left = iter(documents)
    done = 0
    writer = SegmentWriter()
    number = first_number
    while batch := list(islice(left, min(_BATCH, most - len(writer)))):
        texts = tf.constant([document.text for document in batch])
        writer.add(batch, encode(document=texts), count and count(document=texts))
        done += len(batch)
        told(done)
        if len(writer) == most:
            yield writer.write(os.path.join(folder, str(number)), number)
            writer, number = SegmentWriter(), number + 1
    if len(writer):
        yield writer.write(os.path.join(folder, str(number)), number)

"""Finds documents with equal texts, in eight bytes of memory a document."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Final

NO_TEXT: Final = bytes(8)
"""The hash of a document that was left out."""


def text_hash(text: str) -> bytes:
    """Returns a hash of a text: eight bytes, the same in every process."""
    return blake2b(text.encode(), digest_size=len(NO_TEXT)).digest()


def equal_documents(
    hashes: bytes, read_documents: Callable[[], Iterable[tuple[int, str, str]]]
) -> list[tuple[str, ...]]:
    """Returns the ids of the documents with equal texts, a tuple for each shared text, in the order of the documents.

    Args:
      hashes: `text_hash` of each row, one after the other, or `NO_TEXT`.
      read_documents: reads (row, id, text) of each document; called where two rows have the same hash.

    Example:
      >>> texts = {"d1": "un loup", "d2": "une ville", "d3": "un loup"}
      >>> rows = [(row, *document) for row, document in enumerate(texts.items())]
      >>> equal_documents(b"".join(map(text_hash, texts.values())), lambda: rows)
      [('d1', 'd3')]
    """
    # Imported late, because `clir convert` imports this module.
    import numpy as np

    numbers = np.frombuffer(hashes, np.uint64)
    values, counts = np.unique(numbers, return_counts=True)
    suspects = {*values[(counts > 1) & (values > 0)].tolist()}
    doc_ids: dict[str, list[str]] = defaultdict(list)
    for row, doc_id, text in read_documents() if suspects else ():
        if int(numbers[row]) in suspects:
            doc_ids[text].append(doc_id)
    return [tuple(equal) for equal in doc_ids.values() if len(equal) > 1]

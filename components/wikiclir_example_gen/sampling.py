"""Decisions that must come out the same wherever they are made: NR documents, and the order of a list."""

import random
from collections.abc import Collection, Sequence

from schemas.splits import stable_hash


def is_cold(unit: str, seed: int, share: float) -> bool:
    """Whether a unit of documents (see `DocumentGroups`) is one of the share that train and eval do without.

    The units of a smaller share are among those of a larger.

    Example:
      >>> [sum(is_cold(str(unit), 1, share) for unit in range(1000)) for share in (0, 0.2)]
      [0, 2...]
    """
    return stable_hash("cold", str(seed), unit) < share * 2**64


def sample_negatives(
    query_id: str, seed: int, count: int, doc_ids: Sequence[str], relevant: Collection[str]
) -> list[str]:
    """Draws NR documents for a query, uniformly and without repetition, never a relevant one.

    The draw depends on the seed, the query and the collection alone, and a smaller `count` gives a prefix of a larger.

    Args:
      query_id: the query.
      seed: of the run.
      count: how many; fewer come back where the collection is too small.
      doc_ids: all documents, or a sample of them, in the order of their file.
      relevant: ids that must not be drawn.
    """
    generator = random.Random(stable_hash("negatives", str(seed), query_id))
    # Fisher and Yates's shuffle, holding only the places that differ from the file's order.
    chosen: list[str] = []
    swapped: dict[int, int] = {}
    for place in range(len(doc_ids)):
        if len(chosen) == count:
            break
        other = generator.randrange(place, len(doc_ids))
        doc_id = doc_ids[swapped.get(other, other)]
        swapped[other] = swapped.get(place, place)
        if doc_id not in relevant:
            chosen.append(doc_id)
    return chosen


def list_place(query_id: str, doc_id: str) -> int:
    """Sorting a list by this key puts its documents in an order that says nothing about their grades."""
    return stable_hash("order", query_id, doc_id)

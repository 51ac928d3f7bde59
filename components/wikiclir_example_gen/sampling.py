"""Random decisions that are the same wherever they are made: cold units, NR documents, and the order of a list."""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence

from schemas.relevance import NOT_RELEVANT
from schemas.splits import stable_hash


def is_cold(unit: str, seed: int, share: float) -> bool:
    """Returns whether a unit of documents (see `DocumentGroups`) is in the share left out of train and eval.

    The units of a smaller share are among those of a larger one.

    Example:
      >>> [sum(is_cold(str(unit), 1, share) for unit in range(1000)) for share in (0, 0.2)]
      [0, 2...]
    """
    return stable_hash("cold", str(seed), unit) < share * 2**64


def never_drawn(grades: Mapping[str, int], copies: Mapping[str, Iterable[str]]) -> set[str]:
    """Returns the documents never drawn as NR documents of a query: the judged ones, and copies of the relevant ones.

    Args:
      grades: the grade of each judged document, by its id.
      copies: each document that shares its text, to the ids of all documents with this text.

    Example:
      >>> copies = {"d1": ("d1", "d7"), "d7": ("d1", "d7"), "d2": ("d2", "d8"), "d8": ("d2", "d8")}
      >>> sorted(never_drawn({"d1": 2, "d2": 0}, copies))
      ['d1', 'd2', 'd7']
    """
    relevant = (doc_id for doc_id, grade in grades.items() if grade > NOT_RELEVANT)
    return {*grades, *(copy for doc_id in relevant for copy in copies.get(doc_id, ()))}


def sample_negatives(
    query_id: str, seed: int, count: int, doc_ids: Sequence[str], excluded: Collection[str]
) -> list[str]:
    """Draws NR documents for a query, uniformly and without repetition, from those that are not excluded.

    The draw depends only on the seed, the query and the collection; a smaller `count` gives a prefix of a larger one.

    Args:
      query_id: the query.
      seed: the seed of the run.
      count: the number of documents; a small collection gives fewer.
      doc_ids: all documents, or a sample of them, in the order of their file.
      excluded: the ids that must not be drawn.
    """
    generator = random.Random(stable_hash("negatives", str(seed), query_id))
    # Fisher and Yates's shuffle; `swapped` holds only the positions that differ from the file's order.
    chosen: list[str] = []
    swapped: dict[int, int] = {}
    for index in range(len(doc_ids)):
        if len(chosen) == count:
            break
        drawn = generator.randrange(index, len(doc_ids))
        doc_id = doc_ids[swapped.get(drawn, drawn)]
        swapped[drawn] = swapped.get(index, index)
        if doc_id not in excluded:
            chosen.append(doc_id)
    return chosen


def list_sort_key(query_id: str, doc_id: str) -> int:
    """Returns the key that sorts a list's documents into an order independent of their grades."""
    return stable_hash("order", query_id, doc_id)

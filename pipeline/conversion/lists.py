"""The lists of a conversion: each query's split and documents."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from components.wikiclir_example_gen.sampling import never_drawn, sample_negatives
from schemas.relevance import NOT_RELEVANT
from schemas.splits import SPLITS, split_of

_SEED: Final = 1
"""The default of `data.seed`."""


def missing_split(named: Collection[str]) -> str | None:
    """The third split if judgments name two splits, else None.

    Example:
      >>> missing_split({"train", "test"}), missing_split({"test"})
      ('eval', None)
    """
    missing = [split for split in SPLITS if split not in named]
    return missing[0] if len(missing) == 1 else None


def donor_split(named: Collection[str]) -> str:
    """The split that gives a share of its queries to the missing split.

    Example:
      >>> donor_split({"train", "test"}), donor_split({"eval", "test"})
      ('train', 'eval')
    """
    return "train" if "train" in named else "eval"


def split_for(query_id: str, named_split: str, named: Collection[str]) -> str:
    """The split of a query.

    If the judgments name fewer than two splits, a hash of the query's id decides, as in a run without candidates.
    If they name two, the third takes its share of the donor's queries, by the same hash.

    Args:
      query_id: the query.
      named_split: the split of its judgments.
      named: all splits that judgments name.

    Example:
      >>> {split_for(str(n), "train", {"train", "test"}) for n in range(99)} == {"train", "eval"}
      True
    """
    if len(named) < 2:
        return split_of(query_id)
    missing = missing_split(named)
    if missing and named_split == donor_split(named) and split_of(query_id) == missing:
        return missing
    return named_split


def sampled_list(
    query_id: str,
    judged: Mapping[str, int],
    doc_ids: Sequence[str],
    copies: Mapping[str, Sequence[str]],
    negatives: int,
) -> dict[str, int]:
    """doc_id to grade of a query's judged documents, and of the NR documents that a run would draw for it.

    Args:
      query_id: the query.
      judged: doc_id to grade.
      doc_ids: all documents, in the order of their file.
      copies: see `never_drawn`.
      negatives: number of documents to draw.
    """
    drawn = sample_negatives(query_id, _SEED, negatives, doc_ids, never_drawn(judged, copies))
    return {**judged, **dict.fromkeys(drawn, NOT_RELEVANT)}


def reranking_list(judged: Mapping[str, int], ranked: Sequence[str], is_test: bool) -> dict[str, int]:
    """doc_id to grade of a first stage's documents, best first.

    Outside the test split, all other judged documents follow.

    Example:
      >>> reranking_list({"d1": 2, "d9": 1}, ["d3", "d1"], is_test=True)
      {'d3': 0, 'd1': 2}
    """
    grades = {doc_id: judged.get(doc_id, NOT_RELEVANT) for doc_id in ranked}
    return grades if is_test else {**grades, **{doc_id: judged[doc_id] for doc_id in judged if doc_id not in grades}}

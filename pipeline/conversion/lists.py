"""The lists of a conversion: which split a query goes to, and which documents stand beside it."""

import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence

from components.wikiclir_example_gen.sampling import sample_negatives
from schemas.features import SPLITS
from schemas.foreign_run import RunLine
from schemas.relevance import NOT_RELEVANT
from schemas.split_of import split_of

_SEED = 1
"""As `data.seed` is by default."""


def missing_split(named: Collection[str]) -> str | None:
    """The split that judgments do not name although they name two; None where they name all, or none, or one.

    Example:
      >>> missing_split({"train", "test"}), missing_split({"test"})
      ('eval', None)
    """
    missing = [split for split in SPLITS if split not in named]
    return missing[0] if len(missing) == 1 else None


def donor_split(named: Collection[str]) -> str:
    """The split whose queries a missing one takes a share of.

    Example:
      >>> donor_split({"train", "test"}), donor_split({"eval", "test"})
      ('train', 'eval')
    """
    return "train" if "train" in named else "eval"


def split_for(query_id: str, named_split: str, named: Collection[str]) -> str:
    """The split of a query.

    Where the judgments name fewer than two splits, a hash of its id tells, as without candidates. Where they name two,
    the third takes its share, by the same hash, of the donor's.

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


def sampled_list(query_id: str, judged: Mapping[str, int], doc_ids: Sequence[str], negatives: int) -> dict[str, int]:
    """doc_id to grade of a query's judged documents, and of the NR documents that a run would draw for it.

    Args:
      query_id: the query.
      judged: doc_id to grade.
      doc_ids: all documents, in the order of their file.
      negatives: how many to draw.
    """
    drawn = sample_negatives(query_id, _SEED, negatives, doc_ids, judged.keys())
    return {**judged, **dict.fromkeys(drawn, NOT_RELEVANT)}


class FirstStage:
    """The best documents of each query in a run file, whose lines come in any order.

    Args:
      depth: how many of a query's documents are kept; of equal scores, those that come first.

    Example:
      >>> stage = FirstStage(depth=1)
      >>> stage.add(RunLine("q", "d1", 1.0, 1)), stage.add(RunLine("q", "d2", 2.0, 2)), stage.doc_ids("q")
      (None, RunLine(query_id='q', doc_id='d1', score=1.0, line=1), ['d2'])
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._best: dict[str, list[tuple[float, int, RunLine]]] = {}
        self._kept: dict[str, set[str]] = {}

    def keeps(self, line: RunLine) -> bool:
        """Whether the line's document is kept for its query."""
        return line.doc_id in self._kept.get(line.query_id, ())

    def add(self, line: RunLine) -> RunLine | None:
        """Takes a line; returns the one that falls beyond the depth, which may be this one, if any does."""
        best = self._best.setdefault(line.query_id, [])
        key = (-line.score, line.line, line)
        if len(best) == self._depth and key > best[-1]:
            return line
        bisect.insort(best, key)
        kept = self._kept.setdefault(line.query_id, set())
        kept.add(line.doc_id)
        if len(best) <= self._depth:
            return None
        beyond = best.pop()[2]
        kept.discard(beyond.doc_id)
        return beyond

    def doc_ids(self, query_id: str) -> list[str]:
        """The kept documents of a query, best first; none where the run has none."""
        return [line.doc_id for line in self.lines(query_id)]

    def lines(self, query_id: str) -> list[RunLine]:
        """Their lines."""
        return [line for _, _, line in self._best.get(query_id, ())]

    def query_ids(self) -> Iterator[str]:
        """The queries of which documents are kept."""
        return iter(self._best)


def reranking_list(judged: Mapping[str, int], ranked: Sequence[str], is_test: bool) -> dict[str, int]:
    """doc_id to grade of what a first stage found, best first; outside the test split, of the other judged ones, too.

    Example:
      >>> reranking_list({"d1": 2, "d9": 1}, ["d3", "d1"], is_test=True)
      {'d3': 0, 'd1': 2}
    """
    grades = {doc_id: judged.get(doc_id, NOT_RELEVANT) for doc_id in ranked}
    return grades if is_test else {**grades, **{doc_id: judged[doc_id] for doc_id in judged if doc_id not in grades}}

"""TREC's two text formats: run files (`query_id Q0 doc_id rank score tag`) and qrels (`query_id 0 doc_id grade`)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from schemas.errors import DataError


def run_lines(query_id: str, doc_ids: Sequence[str], scores: Sequence[float], tag: str) -> Iterator[str]:
    """The lines of one query's ranking.

    Args:
      query_id: the query.
      doc_ids: the documents, the best first.
      scores: the documents' scores; nine digits, so that a float32 reads back the same.
      tag: the name of the system.
    """
    for rank, (doc_id, score) in enumerate(zip(doc_ids, scores, strict=True), 1):
        yield f"{query_id} Q0 {doc_id} {rank} {score:.9g} {tag}\n"


def qrels_lines(query_id: str, doc_ids: Sequence[str], grades: Sequence[int]) -> Iterator[str]:
    """The lines of one query's judgments."""
    for doc_id, grade in zip(doc_ids, grades, strict=True):
        yield f"{query_id} 0 {doc_id} {grade}\n"


class RunLine(NamedTuple):
    """A document in a first stage's ranking; as in `trec_eval`, its score counts and its rank is not read."""

    query_id: str
    doc_id: str
    score: float
    line: int


class Run(NamedTuple):
    """The content of a run file."""

    tag: str
    """The name of the system."""
    scores: dict[str, dict[str, float]]
    """query_id to doc_id to score."""


def parse_run(lines: Iterable[str], path: str) -> Run:
    """Reads a run file.

    Args:
      lines: the lines of the file.
      path: the file's path, for messages.

    Raises:
      DataError: the file is not the run of one system.
    """
    scores: dict[str, dict[str, float]] = {}
    tags: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != 6:
            raise DataError(
                f"{path}:{number}: expected 6 fields (query_id, Q0, doc_id, rank, score, tag); got {len(fields)}."
            )
        query_id, _, doc_id, _, score, tag = fields
        scores.setdefault(query_id, {})[doc_id] = float(score)
        tags[tag] = None
    if len(tags) != 1:
        got = f"the tags {', '.join(tags)}" if tags else "no line"
        raise DataError(f"{path}: a run must have one tag, in the sixth column of every line; got {got}.")
    return Run(next(iter(tags)), scores)

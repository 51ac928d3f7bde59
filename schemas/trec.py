"""TREC's two text formats: run files (`query_id Q0 doc_id rank score tag`) and qrels (`query_id 0 doc_id grade`)."""

from collections.abc import Iterable, Iterator, Sequence


def run_lines(query_id: str, doc_ids: Sequence[str], scores: Sequence[float], tag: str) -> Iterator[str]:
    """The lines of one query's ranking.

    Args:
      query_id: the query.
      doc_ids: best-ranked first.
      scores: of the documents; nine digits, so that a float32 reads back the same.
      tag: names the system.
    """
    for rank, (doc_id, score) in enumerate(zip(doc_ids, scores, strict=True), 1):
        yield f"{query_id} Q0 {doc_id} {rank} {score:.9g} {tag}\n"


def qrels_lines(query_id: str, doc_ids: Sequence[str], grades: Sequence[int]) -> Iterator[str]:
    """The lines of one query's judgments."""
    for doc_id, grade in zip(doc_ids, grades, strict=True):
        yield f"{query_id} 0 {doc_id} {grade}\n"


def parse_run(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """A run file's scores: query_id to doc_id to score."""
    run: dict[str, dict[str, float]] = {}
    for line in lines:
        query_id, _, doc_id, _, score, _ = line.split()
        run.setdefault(query_id, {})[doc_id] = float(score)
    return run

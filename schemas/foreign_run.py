"""A first stage's ranking, read line by line: TREC's run file, `query_id Q0 doc_id rank score tag`."""

import math
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from schemas.drops import Drop
from schemas.foreign_lines import foreign_lines
from schemas.foreign_reason import ForeignReason
from schemas.wikiclir import Reason, excerpt_of


class RunLine(NamedTuple):
    """A document that a first stage ranks for a query: as in `trec_eval` by its score, and its rank is not read."""

    query_id: str
    doc_id: str
    score: float
    line: int


def parse_foreign_run(stream: BinaryIO, file: str) -> Iterator[RunLine | Drop]:
    """One `RunLine` or one `Drop` for every line.

    Unlike `schemas.trec.parse_run`, which refuses a file that is not wholly one system's run, this loses a bad line
    alone, and holds none.

    Args:
      stream: of the file's bytes, which may be gzipped or bzipped.
      file: its name, for the drops.

    Example:
      >>> import io
      >>> [*parse_foreign_run(io.BytesIO(b"q1 Q0 d1 1 12.5 bm25"), "run.trec")]
      [RunLine(query_id='q1', doc_id='d1', score=12.5, line=1)]
    """
    for item in foreign_lines(stream, file):
        if isinstance(item, Drop):
            yield item
            continue
        number, line = item
        fields = line.split()
        if len(fields) != 6:
            yield Drop(Reason.FIELD_COUNT, file, number, excerpt_of(line))
            continue
        score = _score(fields[4])
        if math.isfinite(score):
            yield RunLine(fields[0], fields[2], score, number)
        else:
            yield Drop(ForeignReason.BAD_SCORE, file, number, excerpt_of(line))


def _score(text: str) -> float:
    """The number, or NaN where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan

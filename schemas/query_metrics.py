"""The metrics of an evaluation query by query, `per_query.tsv`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_QUERY_ID = "query_id"


@dataclass(frozen=True)
class QueryMetrics:
    """Every metric of every query.

    Attributes:
      query_ids: in the order of the lists, which is that of their ids.
      values: of each metric, by its key, its value for each of the queries.

    Example:
      >>> QueryMetrics(["q1", "q2"], {"map": [0.5, 1.0]}).to_tsv()
      'query_id\\tmap\\nq1\\t0.5\\nq2\\t1.0\\n'
    """

    query_ids: Sequence[str]
    values: Mapping[str, Sequence[float]]

    def to_tsv(self) -> str:
        """The text of the file: a line of names, then a line a query. Numbers read back the same."""
        rows = zip(self.query_ids, *([repr(value) for value in values] for values in self.values.values()), strict=True)
        return "".join("\t".join(row) + "\n" for row in [(_QUERY_ID, *self.values), *rows])

    @classmethod
    def from_tsv(cls, text: str) -> "QueryMetrics":
        """The metrics of a file's text.

        Raises:
          ValueError: it is not of this form.
        """
        (first, *names), *rows = (line.split("\t") for line in text.removesuffix("\n").split("\n"))
        if first != _QUERY_ID or not names:
            raise ValueError(f"the first line must name {_QUERY_ID} and metrics; got {[first, *names]}")
        for number, row in enumerate(rows, 2):
            if len(row) != 1 + len(names):
                raise ValueError(f"line {number} must hold {1 + len(names)} fields; got {len(row)}")
        columns = zip(*(map(float, row[1:]) for row in rows), strict=True) if rows else [()] * len(names)
        return cls([row[0] for row in rows], {name: list(values) for name, values in zip(names, columns, strict=True)})

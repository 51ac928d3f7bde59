"""What becomes of the lines of one file while a conversion reads it."""

from schemas.drops import Drop, DropCounter, DropReason
from schemas.read_report import ReadReport
from schemas.wikiclir import excerpt_of


class FileAccount:
    """Counts a file's lines: read, used, and left out by reason.

    Args:
      name: what the file is.
      path: where it lies.

    Attributes:
      read, used: lines, counted by who reads and who writes; `report` asks that they balance.

    Example:
      >>> account = FileAccount("queries", "q.tsv")
      >>> account.read, account.used = 3, 3
      >>> account.report().describe()
      '3 read, 3 used'
    """

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        self.read = 0
        self.used = 0
        self._left_out = DropCounter()

    def add(self, drop: Drop) -> None:
        """Counts a line that a reader left out."""
        self._left_out.add(drop)

    def leave_out(self, reason: DropReason, line: int, excerpt: str) -> None:
        """Counts a line that was read well, and is left out for what else was read."""
        self.add(Drop(reason, self.path, line, excerpt_of(excerpt)))

    def faults(self, max_bad_share: float) -> list[str]:
        """The lines of an error where too much is bad, the worst reason first; none where it is not.

        Args:
          max_bad_share: the share of bad lines that a file may have; a reason that is fatal is too bad whatever the
            share, and then shown alone.
        """
        drops = self._left_out.drops()
        bad = sum(one.count for one in drops if one.reason.bad)
        shown = [one for one in drops if one.reason.is_fatal]
        limit = ""
        if not shown:
            if bad <= max_bad_share * self.read:
                return []
            limit = f"; at most a share of {max_bad_share:g} may be (--max-bad-share)"
            shown = [one for one in drops if one.reason.bad]
        worst_first = sorted(shown, key=lambda one: -one.count)
        return [
            f"{self.path}: {bad:,} of {self.read:,} lines are bad{limit}:",
            *(line for one in worst_first for line in one.lines()),
        ]

    def report(self) -> ReadReport:
        """The account of the whole file.

        Raises:
          AssertionError: the counts do not balance (a fault of ours).
        """
        return ReadReport(self.path, self.read, self.used, self._left_out.drops())

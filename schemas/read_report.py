"""What became of one input: what was read of it, what is used, and what was left out and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schemas.drops import DropReason, Drops


@dataclass(frozen=True)
class ReadReport:
    """The account of a file, or of several that are read as if they were one: read = used + left out.

    Attributes:
      path: of the file; of several, with "and" between them.
      read: records, or lines, that were read.
      used: those of them that are used.
      drops: the others, by reason.

    Raises:
      AssertionError: the counts do not balance (a fault of ours).

    Example:
      >>> ReadReport("wiki.queries", read=2, used=2, drops=()).describe()
      '2 read, 2 used'
    """

    path: str
    read: int
    used: int
    drops: tuple[Drops, ...]

    def __post_init__(self) -> None:
        dropped = sum(one.count for one in self.drops)
        if self.read != self.used + dropped:
            raise AssertionError(f"{self.path}: {self.read} read, but {self.used} used and {dropped} dropped")

    @property
    def bad(self) -> int:
        """How many records were left out because they are bad."""
        return sum(one.count for one in self.drops if one.reason.bad)

    def faults(self, max_bad_share: float, records: str = "records") -> list[str]:
        """The lines of an error where too much is bad, the worst reason first; none where it is not.

        Args:
          max_bad_share: the share of bad records that an input may have (`data.max_bad_share`); a reason that is fatal
            is too bad whatever the share, and then shown alone.
          records: what the records of the input are called.
        """
        shown = [one for one in self.drops if one.reason.is_fatal]
        limit = ""
        if not shown:
            if self.bad <= max_bad_share * self.read:
                return []
            limit = f"; at most a share of {max_bad_share:g} may be (data.max_bad_share)"
            shown = [one for one in self.drops if one.reason.bad]
        worst_first = sorted(shown, key=lambda one: -one.count)
        return [
            f"{self.path}: {self.bad:,} of {self.read:,} {records} are bad{limit}:",
            *(line for one in worst_first for line in one.lines()),
        ]

    def describe(self) -> str:
        """The account in a line for a person, without the name of the input."""
        left_out = "; ".join(f"{one.count:,} {one.reason.text}" for one in self.drops)
        return f"{self.read:,} read, {self.used:,} used" + (f"; left out: {left_out}" if left_out else "")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        drops = [one.as_dict() for one in self.drops]
        return {"path": self.path, "read": self.read, "used": self.used, "drops": drops}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], reasons: type[DropReason]) -> "ReadReport":
        """What `as_dict` was called on; `reasons` are those of its kind of input."""
        drops = tuple(Drops.from_dict(one, reasons) for one in content["drops"])
        return cls(content["path"], content["read"], content["used"], drops)

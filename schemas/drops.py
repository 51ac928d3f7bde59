"""What becomes of an input: how much is read and used, and what is left out and why. Read = used + left out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any, Final, NamedTuple

MOST_EXAMPLES: Final = 5
"""How many of the records that were left out for one reason are shown."""


class DropReason(Enum):
    """Why a reader leaves something out; each kind of input lists its own.

    Attributes:
      text: in words.
      bad: whether it counts against the allowed share of bad records.
      is_fatal: whether one such record is too bad, whatever the share.
      place: among the reasons of its kind of input, from 0.
    """

    def __init__(self, text: str, bad: bool, is_fatal: bool = False) -> None:
        self.text = text
        self.bad = bad
        self.is_fatal = is_fatal
        self.place = len(type(self).__members__)


class Drop(NamedTuple):
    """A record left out: why, and where it stood."""

    reason: DropReason
    file: str
    line: int
    excerpt: str


@dataclass(frozen=True)
class Drops:
    """All records of an input that were left out for one reason: how many, and the first of them."""

    reason: DropReason
    count: int
    examples: tuple[Drop, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "reason": self.reason.name.lower(),
            "meaning": self.reason.text,
            "bad": self.reason.bad,
            "count": self.count,
            "examples": [{"file": one.file, "line": one.line, "text": one.excerpt} for one in self.examples],
        }

    def lines(self) -> list[str]:
        """Lines of an error: the count, and below it the examples."""
        shown = (f"    {one.file}:{one.line}: {one.excerpt}" for one in self.examples)
        return [f"  {self.count:,} x {self.reason.text}", *shown]

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], reasons: type[DropReason]) -> "Drops":
        """What `as_dict` was called on; `reasons` are those of its kind of input."""
        reason = reasons[content["reason"].upper()]
        examples = (Drop(reason, one["file"], one["line"], one["text"]) for one in content["examples"])
        return cls(reason, content["count"], tuple(examples))


class DropCounter:
    """Counts what a reader leaves out, and keeps the first examples of each reason."""

    def __init__(self) -> None:
        self._counts: dict[DropReason, int] = {}
        self._examples: dict[DropReason, list[Drop]] = {}

    def add(self, drop: Drop) -> None:
        """Counts one record."""
        self._counts[drop.reason] = self._counts.get(drop.reason, 0) + 1
        examples = self._examples.setdefault(drop.reason, [])
        if len(examples) < MOST_EXAMPLES:
            examples.append(drop)

    def drops(self) -> tuple[Drops, ...]:
        """What was counted, in the order of the reasons."""
        return in_order(Drops(reason, self._counts[reason], tuple(some)) for reason, some in self._examples.items())


def sum_of_drops(parts: Iterable[Drops]) -> tuple[Drops, ...]:
    """The drops of parts of an input, in their order, as those of the whole."""
    by_reason: dict[DropReason, list[Drops]] = {}
    for one in parts:
        by_reason.setdefault(one.reason, []).append(one)
    return in_order(
        Drops(reason, sum(one.count for one in some), tuple(chain(*(one.examples for one in some)))[:MOST_EXAMPLES])
        for reason, some in by_reason.items()
    )


def in_order(drops: Iterable[Drops]) -> tuple[Drops, ...]:
    """Drops of one kind of input in the order in which its reasons are listed."""
    return tuple(sorted(drops, key=lambda one: one.reason.place))


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

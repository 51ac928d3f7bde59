"""The account of an input: read = used + left out, with the reason and the first examples of each omission."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any, Final, NamedTuple

REPORT_FILE: Final = "report.json"
"""The file of a stage's account of the data."""

MAX_EXAMPLES: Final = 5
"""Number of examples kept for each reason."""


class DropReason(Enum):
    """A reason to leave a record out; each kind of input has its own enum of reasons.

    Attributes:
      text: the reason in words.
      bad: whether the record counts against the allowed share of bad records.
      is_fatal: whether a single such record is too many, whatever the allowed share.
      position: among the reasons of its enum, from 0.
    """

    def __init__(self, text: str, bad: bool, is_fatal: bool = False) -> None:
        self.text = text
        self.bad = bad
        self.is_fatal = is_fatal
        self.position = len(type(self).__members__)


class Drop(NamedTuple):
    """A record left out: its reason, and the line where it stands."""

    reason: DropReason
    file: str
    line: int
    excerpt: str


@dataclass(frozen=True)
class Drops:
    """All records of an input that were left out for one reason: their number and the first of them."""

    reason: DropReason
    count: int
    examples: tuple[Drop, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON content; `from_dict` reads it."""
        return {
            "reason": self.reason.name.lower(),
            "meaning": self.reason.text,
            "bad": self.reason.bad,
            "count": self.count,
            "examples": [{"file": drop.file, "line": drop.line, "text": drop.excerpt} for drop in self.examples],
        }

    def lines(self) -> list[str]:
        """The lines of an error: the count, then the examples."""
        shown = (f"    {drop.file}:{drop.line}: {drop.excerpt}" for drop in self.examples)
        return [f"  {self.count:,} x {self.reason.text}", *shown]

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], reasons: type[DropReason]) -> "Drops":
        """Reads the content of `as_dict`; `reasons` is the enum of the kind of input."""
        reason = reasons[content["reason"].upper()]
        examples = (Drop(reason, example["file"], example["line"], example["text"]) for example in content["examples"])
        return cls(reason, content["count"], tuple(examples))


class DropCounter:
    """Counts the records left out, and keeps the first examples of each reason."""

    def __init__(self) -> None:
        self._counts: dict[DropReason, int] = {}
        self._examples: dict[DropReason, list[Drop]] = {}

    def add(self, drop: Drop) -> None:
        """Counts one record."""
        self._counts[drop.reason] = self._counts.get(drop.reason, 0) + 1
        examples = self._examples.setdefault(drop.reason, [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(drop)

    def drops(self) -> tuple[Drops, ...]:
        """The counts, in the order of the reasons."""
        return _in_order(Drops(reason, self._counts[reason], tuple(kept)) for reason, kept in self._examples.items())


def sum_of_drops(parts: Iterable[Drops]) -> tuple[Drops, ...]:
    """The drops of a whole input, from those of its parts in their order."""
    by_reason: dict[DropReason, list[Drops]] = {}
    for part in parts:
        by_reason.setdefault(part.reason, []).append(part)
    return _in_order(
        Drops(reason, sum(drop.count for drop in same), tuple(chain(*(drop.examples for drop in same)))[:MAX_EXAMPLES])
        for reason, same in by_reason.items()
    )


def _in_order(drops: Iterable[Drops]) -> tuple[Drops, ...]:
    return tuple(sorted(drops, key=lambda drop: drop.reason.position))


def bad_input(
    path: str, read: int, drops: Sequence[Drops], max_bad_share: float, records: str, limit: str
) -> list[str]:
    """The lines of an error for too many bad records, the most frequent reason first; empty if the share is allowed.

    Args:
      path: the input's path.
      read: the number of records read.
      drops: the records left out.
      max_bad_share: the allowed share of bad records. A fatal reason is always an error, and then the only one shown.
      records: the word for the input's records.
      limit: a phrase that names the share's setting.
    """
    bad = sum(dropped.count for dropped in drops if dropped.reason.bad)
    shown = [dropped for dropped in drops if dropped.reason.is_fatal]
    if not shown:
        if bad <= max_bad_share * read:
            return []
        shown = [dropped for dropped in drops if dropped.reason.bad]
    worst_first = sorted(shown, key=lambda dropped: -dropped.count)
    excess = "" if shown[0].reason.is_fatal else f"; {limit}"
    return [
        f"{path}: {bad:,} of {read:,} {records} are bad{excess}:",
        *(line for dropped in worst_first for line in dropped.lines()),
    ]


@dataclass(frozen=True)
class ReadReport:
    """The account of a file, or of several files that are read as one.

    Attributes:
      path: the file's path; the paths of several files, with "and" between them.
      read: number of records, or lines, read.
      used: number of records used.
      drops: the records left out, by reason.

    Raises:
      AssertionError: the counts do not balance, which is a bug of ours.

    Example:
      >>> ReadReport("wiki.queries", read=2, used=2, drops=()).describe()
      '2 read, 2 used'
    """

    path: str
    read: int
    used: int
    drops: tuple[Drops, ...]

    def __post_init__(self) -> None:
        dropped = sum(drop.count for drop in self.drops)
        if self.read != self.used + dropped:
            raise AssertionError(f"{self.path}: {self.read} read, but {self.used} used and {dropped} dropped")

    @property
    def bad(self) -> int:
        """The number of bad records left out."""
        return sum(drop.count for drop in self.drops if drop.reason.bad)

    def faults(self, max_bad_share: float, records: str = "records") -> list[str]:
        """The lines of an error for too many bad records; see `bad_input`."""
        limit = f"at most a share of {max_bad_share:g} may be (data.max_bad_share)"
        return bad_input(self.path, self.read, self.drops, max_bad_share, records, limit)

    def describe(self) -> str:
        """The account in one line for a person, without the name of the input."""
        left_out = "; ".join(f"{drop.count:,} {drop.reason.text}" for drop in self.drops)
        return f"{self.read:,} read, {self.used:,} used" + (f"; left out: {left_out}" if left_out else "")

    def as_dict(self) -> dict[str, Any]:
        """The JSON content; `from_dict` reads it."""
        drops = [drop.as_dict() for drop in self.drops]
        return {"path": self.path, "read": self.read, "used": self.used, "drops": drops}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], reasons: type[DropReason]) -> "ReadReport":
        """Reads the content of `as_dict`; `reasons` is the enum of the kind of input."""
        drops = tuple(Drops.from_dict(drop, reasons) for drop in content["drops"])
        return cls(content["path"], content["read"], content["used"], drops)

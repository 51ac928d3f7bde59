"""What ingestion read, used and left out, by file and reason. For every file: read = used + drops."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schemas.collection import Role
from schemas.errors import DataError
from schemas.features import SPLITS
from schemas.wikiclir import Drop, Reason

REPORT_FILE = "report.json"

TALLIES = "tallies"
"""The tag of tallies among the outputs of a Beam step."""

USED = "used"
GRADE_DISAGREEMENT = "grade_disagreement"

_EXAMPLES = 5

Tally = tuple[tuple[str, str], tuple[int, list[tuple[int, str]]]]
"""((what, kind), (count, [(line, excerpt), ...])): `what` is a role of a file (queries, documents, judgments,
candidates) and `kind` is USED or a Reason's name; or `what` is "lists" and `kind` a split."""


def tally(what: str, kind: str, count: int = 1) -> Tally:
    """Counts something that needs no example."""
    return (what, kind), (count, [])


def tally_drop(what: str, drop: Drop) -> Tally:
    """Counts one dropped record and keeps it as an example."""
    return (what, drop.reason.name), (1, [(drop.line, drop.excerpt)])


def merge_tallies(values: Iterable[tuple[int, list[tuple[int, str]]]]) -> tuple[int, list[tuple[int, str]]]:
    """Sums counts of one key and keeps its first examples by line."""
    total = 0
    examples: list[tuple[int, str]] = []
    for count, some in values:
        total += count
        if some:
            examples = sorted([*examples, *some])[:_EXAMPLES]
    return total, examples


def make_report(tallies: Iterable[Tally], roles: Mapping[str, Role]) -> dict[str, Any]:
    """The report as it is written to JSON.

    Args:
      tallies: of the job, merged, one a key.
      roles: what became of the files before, in the collection's manifest.

    Raises:
      AssertionError: the counts of a file do not balance (a fault of ours).
    """
    merged = dict(tallies)
    for name, role in roles.items():
        merged |= {(name, drops.reason): (drops.count, [*drops.examples]) for drops in role.drops}

    def count(what: str, kind: str) -> int:
        return merged.get((what, kind), (0, []))[0]

    files = {}
    for name, role in roles.items():
        path = " and ".join(file.path for file in role.files)
        drops: list[dict[str, Any]] = [
            {
                "reason": reason.name.lower(),
                "meaning": reason.text,
                "bad": reason.bad,
                "count": merged[name, reason.name][0],
                "examples": [_example(role, line, text) for line, text in merged[name, reason.name][1]],
            }
            for reason in Reason
            if (name, reason.name) in merged
        ]
        read, used = role.lines, count(name, USED)
        dropped = sum(drop["count"] for drop in drops)
        if read != used + dropped:
            raise AssertionError(f"{path}: {read} read, but {used} used and {dropped} dropped")
        files[name] = {"path": path, "read": read, "used": used, "drops": drops}
    counts = {kind: {split: count(kind, split) for split in SPLITS} for kind in ("lists", "pairs")}
    return {"files": files, **counts, "grade_disagreements": count("candidates", GRADE_DISAGREEMENT)}


def _example(role: Role, line: int, text: str) -> dict[str, Any]:
    """A record that was left out, and where it stands."""
    file, place = role.place(line)
    return {"file": file, "line": place, "text": text}


def check_report(report: Mapping[str, Any], max_bad_share: float, splits: Sequence[str] = SPLITS) -> None:
    """Refuses a collection that is too bad to use.

    Args:
      report: see `make_report`.
      max_bad_share: see `DataSettings`.
      splits: those that are used.

    Raises:
      DataError: a file cannot be read to its end, has more than `max_bad_share` of bad records, or a split is empty.
    """
    faults = []
    # Documents first: where they are at fault, what judgments and queries lack follows from it.
    for _, file in sorted(report["files"].items(), key=lambda item: item[0] != "documents"):
        bad = [drop for drop in file["drops"] if drop["bad"]]
        count = sum(drop["count"] for drop in bad)
        unreadable = [drop for drop in bad if drop["reason"] == Reason.UNREADABLE.name.lower()]
        if unreadable or count > max_bad_share * file["read"]:
            limit = "" if unreadable else f"; at most a share of {max_bad_share:g} may be (data.max_bad_share)"
            faults.append(f"{file['path']}: {count:,} of {file['read']:,} records are bad{limit}:")
            for drop in sorted(unreadable or bad, key=lambda drop: -drop["count"]):
                faults.append(f"  {drop['count']:,} x {drop['meaning']}")
                faults += [
                    f"    {example['file']}:{example['line']}: {example['text']}" for example in drop["examples"]
                ]
    if not faults:
        empty = [split for split in splits if not report["lists"][split]]
        if empty:
            lists = ", ".join(f"{split} {count}" for split, count in report["lists"].items())
            faults.append(
                f"every split needs a query list, but {' and '.join(empty)} got none (lists: {lists}); "
                "bring more judged queries, or fix the split column of data.candidates."
            )
    if faults:
        raise DataError("\n".join(faults))


def describe_report(report: Mapping[str, Any]) -> list[str]:
    """The report in a few lines for a person."""
    lists = ", ".join(f"{count:,} {split}" for split, count in report["lists"].items())
    lines = [f"query lists: {lists}; {sum(report['pairs'].values()):,} query-document pairs"]
    for role, file in report["files"].items():
        drops = "; ".join(f"{drop['count']:,} {drop['meaning']}" for drop in file["drops"])
        lines.append(
            f"{role}: {file['read']:,} read, {file['used']:,} used" + (f"; left out: {drops}" if drops else "")
        )
    if report["grade_disagreements"]:
        lines.append(f"candidates: {report['grade_disagreements']:,} grades differ from the judgments'")
    return lines


def write_report(report: Mapping[str, Any]) -> str:
    """The report as JSON text."""
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"

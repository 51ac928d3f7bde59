"""The report of ingestion, from the counts of all Beam steps."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.collection import Role
from schemas.columns import form_note
from schemas.drops import MAX_EXAMPLES, Drop, Drops, ReadReport, sum_of_drops
from schemas.errors import DataError
from schemas.json_files import parse_json
from schemas.splits import SPLITS
from schemas.wikiclir import Reason

TALLIES = "tallies"
"""The tag of tallies among the outputs of a Beam step."""

_LISTS_OF = "lists of "
USED = "used"
GRADE_DISAGREEMENT = "grade_disagreement"

Tally = tuple[tuple[str, str], tuple[int, list[tuple[int, str]]]]
"""((subject, kind), (count, [(line, excerpt), ...])): `subject` is a role of a file (queries, documents, judgments,
candidates, domains), and `kind` is USED or a Reason's name; or `subject` is "lists", "pairs" or
`domain_subject(domain)`, and `kind` a split."""


def domain_subject(domain: str) -> str:
    """Returns the `subject` of a tally of a domain's lists."""
    return f"{_LISTS_OF}{domain}"


def tally(subject: str, kind: str, count: int = 1) -> Tally:
    """Returns a count without an example."""
    return (subject, kind), (count, [])


def tally_drop(role: str, reason: Reason, line: int, excerpt: str) -> Tally:
    """Returns the count of one dropped record, with its example; the line is counted through all files of the role."""
    return (role, reason.name), (1, [(line, excerpt)])


def merge_tallies(values: Iterable[tuple[int, list[tuple[int, str]]]]) -> tuple[int, list[tuple[int, str]]]:
    """Sums the counts of one key, and keeps its first examples by line."""
    total = 0
    examples: list[tuple[int, str]] = []
    for count, first_examples in values:
        total += count
        if first_examples:
            examples = sorted([*examples, *first_examples])[:MAX_EXAMPLES]
    return total, examples


@dataclass(frozen=True)
class DataReport:
    """The report of ingestion.

    Attributes:
      files: role to the account of its files.
      lists, pairs: split to its number of query lists, and of query-document pairs.
      grade_disagreements: the number of candidates that have another grade in the judgments.
      query_words: the number of words that were drawn of each longer query; None if queries are whole.
      domains: domain to split to its number of query lists; empty if the collection names no domains.
      copies: the number of documents with the text of an earlier one.
    """

    files: Mapping[str, ReadReport]
    lists: Mapping[str, int]
    pairs: Mapping[str, int]
    grade_disagreements: int
    query_words: int | None = None
    domains: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    copies: int = 0

    def check(self, max_bad_share: float, splits: Sequence[str] = SPLITS) -> None:
        """Refuses a collection with too many bad records, or an empty split.

        Args:
          max_bad_share: see `DataSettings`.
          splits: the splits that must have lists.

        Raises:
          DataError: a file cannot be read to its end, has more than `max_bad_share` of bad records, or a split is
            empty.
        """
        # Documents first: their faults cause those of judgments and queries.
        files = sorted(self.files.items(), key=lambda item: item[0] != "documents")
        faults: list[str] = []
        for role, file in files:
            if lines := file.faults(max_bad_share):
                faults += [*lines, *form_note(role, file.drops)]
        empty = [split for split in splits if not self.lists[split]]
        if empty and not faults:
            lists = ", ".join(f"{split} {count}" for split, count in self.lists.items())
            is_cold = any(drops.reason is Reason.COLD for drops in self.files["queries"].drops)
            faults.append(
                f"every split needs a query list, but {' and '.join(empty)} got none (lists: {lists}); "
                f"bring more judged queries, {'lower data.cold_share, ' * is_cold}or fix the split column of "
                "data.candidates."
            )
        if faults:
            raise DataError("\n".join(faults))

    def describe(self) -> list[str]:
        """Returns the report in a few lines for a person."""
        lists = ", ".join(f"{count:,} {split}" for split, count in self.lists.items())
        lines = [f"query lists: {lists}; {sum(self.pairs.values()):,} query-document pairs"]
        if self.query_words is not None:
            words = "1 random word" if self.query_words == 1 else f"{self.query_words:,} random words"
            lines.append(f"keyword queries: {words} of each longer query")
        for domain, split_lists in self.domains.items():
            lines.append(f"  {domain}: " + ", ".join(f"{count:,} {split}" for split, count in split_lists.items()))
        lines += [f"{role}: {file.describe()}" for role, file in self.files.items()]
        if self.copies:
            lines.append(
                f"documents with the text of an earlier one: {self.copies:,}; copies of relevant ones are not drawn"
            )
        if self.grade_disagreements:
            lines.append(f"candidates: {self.grade_disagreements:,} grades differ from the judgments'")
        return lines

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "files": {role: file.as_dict() for role, file in self.files.items()}}

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "DataReport":
        """Reads the content of `report.json`."""
        content = parse_json(text)
        files = {role: ReadReport.from_dict(file, Reason) for role, file in content.pop("files").items()}
        return cls(files, **content)


def make_report(
    tallies: Iterable[Tally], roles: Mapping[str, Role], query_words: int | None = None, copies: int = 0
) -> DataReport:
    """Returns the report of a job.

    Args:
      tallies: the job's tallies, merged, one for each key.
      roles: the collection's roles, whose omissions are part of the report.
      query_words, copies: see `DataReport`.

    Raises:
      AssertionError: the counts of a file do not balance: a bug.
    """
    merged = dict(tallies)

    def total(subject: str, kind: str) -> int:
        return merged.get((subject, kind), (0, []))[0]

    files = {}
    for name, role in roles.items():
        counted = {reason: merged[name, reason.name] for reason in Reason if (name, reason.name) in merged}
        left_out = [
            Drops(reason, count, tuple(Drop(reason, *role.locate(line), excerpt) for line, excerpt in examples))
            for reason, (count, examples) in counted.items()
        ]
        drops = sum_of_drops([*role.report.drops, *left_out])
        files[name] = ReadReport(role.report.path, role.report.read, total(name, USED), drops)
    lists, pairs = ({split: total(kind, split) for split in SPLITS} for kind in ("lists", "pairs"))
    names = sorted({subject.removeprefix(_LISTS_OF) for subject, _ in merged if subject.startswith(_LISTS_OF)})
    domains = {name: {split: total(domain_subject(name), split) for split in SPLITS} for name in names}
    return DataReport(files, lists, pairs, total("candidates", GRADE_DISAGREEMENT), query_words, domains, copies)

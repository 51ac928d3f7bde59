"""Everything that a conversion reads. Texts go straight to files of ours; ids, judgments and a run's best lines stay.

Documents are read first, then queries, judgments and the run: each may only name what stands in those before it.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from pipeline.conversion.account import FileAccount
from pipeline.conversion.lists import FirstStage
from pipeline.conversion.settings import ConversionSettings, Sources
from schemas.drops import Drop, DropReason
from schemas.errors import DataError
from schemas.foreign_judgments import parse_foreign_judgments
from schemas.foreign_reason import ForeignReason
from schemas.foreign_run import RunLine, parse_foreign_run
from schemas.foreign_texts import parse_foreign_texts
from schemas.wikiclir import Judgment, Reason, Text

Record = TypeVar("Record")


class ConversionInputs:
    """What was read.

    Args:
      sources: the files.
      settings: how they are read.
      documents: where the documents are written, in our form.
      queries: where all queries are, likewise.

    Attributes:
      doc_ids: of all documents, to their lines, in the order of their file.
      query_lines: query ids to their lines, likewise.
      judged: query_id to doc_id to the judgment, and the account of its file.
      first_stage: the kept lines of the run, if there is one.
      notes: what else is to be known, sentences.

    Raises:
      DataError: a file holds too many bad lines, cannot be read to its end, or holds nothing of use.
    """

    def __init__(self, sources: Sources, settings: ConversionSettings, documents: Path, queries: Path) -> None:
        self.documents = FileAccount("documents", sources.documents)
        self.queries = FileAccount("queries", sources.queries)
        self.judgments = [FileAccount(f"judgments {split}".rstrip(), path) for split, path in sources.judgments]
        self.run = FileAccount("run", sources.run) if sources.run else None
        self.judged: dict[str, dict[str, tuple[Judgment, FileAccount]]] = {}
        self.notes: list[str] = []
        self.doc_ids = _copy_texts(self.documents, documents, settings.with_titles)
        self.documents.used = len(self.doc_ids)
        self.query_lines = _copy_texts(self.queries, queries, with_titles=False)
        for (split, _), account in zip(sources.judgments, self.judgments, strict=True):
            self._read_judgments(split, account)
        self.first_stage = self._read_run(self.run, settings.depth) if self.run else None
        self._check(settings.max_bad_share)

    def accounts(self) -> list[FileAccount]:
        """Of all files."""
        return [self.queries, self.documents, *self.judgments, *([self.run] if self.run else [])]

    def _read_judgments(self, split: str, account: FileAccount) -> None:
        """Keeps the judgments of known queries and documents, each pair once, and each query in one split."""

        def parse(stream: BinaryIO, file: str) -> Iterator[Judgment | Drop]:
            return parse_foreign_judgments(stream, file, split)

        below = 0
        for one in _records(account, parse):
            judged = self.judged.get(one.query_id, {})
            reason = self._unknown(one.query_id, one.doc_id)
            if reason is None and any(other.split != split for other, _ in judged.values()):
                reason = Reason.TWO_SPLITS
            elif reason is None and one.doc_id in judged:
                reason = Reason.DUPLICATE_PAIR
            if reason is not None:
                account.leave_out(reason, one.line, f"{one.query_id} | {one.doc_id} | {one.grade}")
                continue
            below += one.grade < 0
            self.judged.setdefault(one.query_id, judged)[one.doc_id] = one, account
        if below:
            self.notes.append(f"{account.path}: {below:,} grades below 0 count as 0")

    def _read_run(self, account: FileAccount, depth: int) -> FirstStage:
        """Keeps the best lines of each judged query."""
        stage = FirstStage(depth)
        for line in _records(account, parse_foreign_run):
            reason = self._unknown(line.query_id, line.doc_id)
            if reason is None and line.query_id not in self.judged:
                reason = Reason.NO_JUDGMENT
            elif reason is None and stage.keeps(line):
                reason = Reason.DUPLICATE_PAIR
            if reason is not None:
                leave_out(account, reason, line)
            elif beyond := stage.add(line):
                leave_out(account, ForeignReason.BEYOND_DEPTH, beyond)
        return stage

    def _unknown(self, query_id: str, doc_id: str) -> DropReason | None:
        if query_id not in self.query_lines:
            return Reason.UNKNOWN_QUERY
        return None if doc_id in self.doc_ids else Reason.UNKNOWN_DOCUMENT

    def _check(self, max_bad_share: float) -> None:
        """Refuses what is too bad, or too little. Documents first: what judgments lack follows from them."""
        accounts = sorted(self.accounts(), key=lambda account: account is not self.documents)
        faults = [line for account in accounts for line in account.faults(max_bad_share)]
        if not faults and len(self.doc_ids) < 2:
            faults.append(f"{self.documents.path} must hold two documents or more; got {len(self.doc_ids)}.")
        if not faults and not self.query_lines:
            faults.append(f"{self.queries.path} must hold a query; got none.")
        if faults:
            raise DataError("\n".join(faults))


def leave_out(account: FileAccount, reason: DropReason, line: RunLine) -> None:
    """Counts a line of a run that was read well."""
    account.leave_out(reason, line.line, f"{line.query_id} | {line.doc_id} | {line.score:g}")


def _copy_texts(account: FileAccount, target: Path, with_titles: bool) -> dict[str, int]:
    """Writes the texts of a file in our form; returns their ids and lines, in order."""

    def parse(stream: BinaryIO, file: str) -> Iterator[Text | Drop]:
        return parse_foreign_texts(stream, file, with_titles)

    ids: dict[str, int] = {}
    with open(target, "w", encoding="utf-8", newline="\n") as stream:
        for text in _records(account, parse):
            if text.id in ids:
                account.leave_out(Reason.DUPLICATE_ID, text.line, f"{text.id} | {text.title} | {text.text[:200]}")
            else:
                ids[text.id] = text.line
                stream.write(f"{text.id}\t{text.title}\t{text.text}\n")
    return ids


def _records(account: FileAccount, parse: Callable[[BinaryIO, str], Iterable[Record | Drop]]) -> Iterator[Record]:
    """The records of a file; what it drops goes to its account."""
    try:
        stream = open(account.path, "rb")
    except OSError as error:
        raise DataError(f"{account.path}: cannot be read: {error.strerror}.") from None
    with stream:
        for item in parse(stream, account.path):
            account.read += 1
            if isinstance(item, Drop):
                account.add(item)
            else:
                yield item

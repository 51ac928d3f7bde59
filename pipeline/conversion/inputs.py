"""The files of a conversion, and the account of their lines.

Documents are read first, then queries, judgments and the run: each file may name only ids of the files before it. Texts
are copied to files of ours; ids, judgments and a run's best lines are kept in memory.
"""

import bisect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import dropwhile, pairwise
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from components.collection_gen.copies import equal_documents, text_hash
from pipeline.conversion.ir_datasets_files import is_of_ir_datasets, open_part
from schemas.byte_streams import unpacked
from schemas.columns import COLUMNS, column_name, form_note, own_columns, text_columns
from schemas.drops import Drop, DropCounter, DropReason, ReadReport, bad_input
from schemas.errors import DataError
from schemas.languages import LANGUAGE_FIELD, are_several, codes_of, language_fault
from schemas.record_files import parse_judgments, parse_run, parse_texts
from schemas.relevance import MAX_GRADE
from schemas.settings import did_you_mean
from schemas.trec import RunLine
from schemas.wikiclir import Judgment, Reason, excerpt_of

NEGATIVES: Final = 40
DEPTH: Final = 100
MAX_BAD_SHARE: Final = 0.05
_GRADES: Final = range(-(10**9), MAX_GRADE + 1)
_ROLES: Final = ("documents", "judgments", "run", "pairs")
_COLUMNS: Final = (*dict.fromkeys(column for role in _ROLES for column in COLUMNS[role].names), LANGUAGE_FIELD)
TEXT_HEADER: Final = f"id\ttitle\ttext\t{LANGUAGE_FIELD}\n"
"""The first line of written texts in several languages."""


class ConversionReason(DropReason):
    """The reasons for leaving a record out that occur only in a conversion."""

    BEYOND_DEPTH = ("document beyond --depth", False)
    NO_TOP_GRADE = ("query without a document of the top grade", False)
    NOT_IN_RUN = ("query without a document in the run", False)
    NO_TOP_GRADE_IN_RUN = ("test query without a document of the top grade in the run", False)


@dataclass(frozen=True)
class Sources:
    """The files that are converted.

    Attributes:
      queries, documents: their paths.
      judgments: (split, path) of each file; the split is empty if it has no name.
      run: a first stage's run file, or None.
    """

    queries: str
    documents: str
    judgments: tuple[tuple[str, str], ...]
    run: str | None = None

    def paths(self) -> list[str]:
        """The paths of all files."""
        return [self.queries, self.documents, *(path for _, path in self.judgments), *([self.run] if self.run else [])]

    def named_splits(self) -> frozenset[str]:
        """The splits that judgments name."""
        return frozenset(split for split, _ in self.judgments if split)

    def has_candidates(self) -> bool:
        """Whether the files fix lists or splits, so that a conversion writes candidates."""
        return self.run is not None or len(self.named_splits()) > 1


@dataclass(frozen=True)
class ConversionSettings:
    """The settings of a conversion.

    Attributes:
      query_language, document_language: ISO 639-1 codes; several joined by a plus, for texts with a column `lang`.
      negatives: number of NR documents drawn for a list, where there is no run.
      depth: largest number of a query's documents that a run gives.
      top_grade: higher grades count as this; None takes the highest of the judgments.
      with_titles: whether a document's title is put before its text.
      segmented: whether white space alone parts words.
      max_bad_share: largest share of bad lines in a file.
      columns: column to its names in headers and JSON objects, beside the usual ones.
      scale: the lowest judgment of grade 1, of grade 2, and so on; None where judgments are grades.
    """

    query_language: str
    document_language: str
    negatives: int = NEGATIVES
    depth: int = DEPTH
    top_grade: int | None = None
    with_titles: bool = False
    segmented: bool = False
    max_bad_share: float = MAX_BAD_SHARE
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scale: tuple[float, ...] | None = None

    def codes_of(self, role: str) -> tuple[str, ...]:
        """The codes of the languages of queries or documents, if these are several."""
        language = self.query_language if role == "queries" else self.document_language
        return codes_of(language) if are_several(language) else ()


class FileAccount:
    """Counts a file's lines: read, used, and left out by reason.

    Args:
      name: the file's name in the account.
      path: the file's path.

    Attributes:
      read, used: numbers of lines; the reader and the writer count them, and `report` checks that they balance.

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
        """Counts a well-formed line that is left out because of other lines."""
        self.add(Drop(reason, self.path, line, excerpt_of(excerpt)))

    def faults(self, max_bad_share: float) -> list[str]:
        """The lines of an error message for too many bad lines, the worst reason first; empty if there are few.

        Args:
          max_bad_share: largest share of bad lines. A fatal reason is an error at any share, and the only reason shown.
        """
        drops = self._left_out.drops()
        limit = f"at most a share of {max_bad_share:g} may be (--max-bad-share)"
        faults = bad_input(self.path, self.read, drops, max_bad_share, "lines", limit)
        return [*faults, *form_note(self.name.split()[0], drops)] if faults else []

    def report(self) -> ReadReport:
        """The account of the whole file.

        Raises:
          AssertionError: the counts do not balance, which is a bug.
        """
        return ReadReport(self.path, self.read, self.used, self._left_out.drops())


class FirstStage:
    """The best documents of each query in a run file, whose lines come in any order.

    Args:
      depth: number of documents kept for a query; of equal scores, those that come first.

    Example:
      >>> stage = FirstStage(depth=1)
      >>> stage.add(RunLine("q", "d1", 1.0, 1)), stage.add(RunLine("q", "d2", 2.0, 2)), stage.doc_ids("q")
      (None, RunLine(query_id='q', doc_id='d1', score=1.0, line=1), ['d2'])
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._best: dict[str, list[tuple[float, int, RunLine]]] = {}
        self._kept: dict[str, set[str]] = {}

    def keeps(self, line: RunLine) -> bool:
        """Whether the line's document is kept for its query."""
        return line.doc_id in self._kept.get(line.query_id, ())

    def add(self, line: RunLine) -> RunLine | None:
        """Takes a line; returns the line that falls beyond the depth, which may be this one, or None."""
        best = self._best.setdefault(line.query_id, [])
        key = (-line.score, line.line, line)
        if len(best) == self._depth and key > best[-1]:
            return line
        bisect.insort(best, key)
        kept = self._kept.setdefault(line.query_id, set())
        kept.add(line.doc_id)
        if len(best) <= self._depth:
            return None
        beyond = best.pop()[2]
        kept.discard(beyond.doc_id)
        return beyond

    def doc_ids(self, query_id: str) -> list[str]:
        """The kept documents of a query, best first; empty if the run lacks the query."""
        return [line.doc_id for line in self.lines(query_id)]

    def lines(self, query_id: str) -> list[RunLine]:
        """The lines of a query's kept documents, best first."""
        return [line for _, _, line in self._best.get(query_id, ())]

    def query_ids(self) -> Iterator[str]:
        """The queries with kept documents."""
        return iter(self._best)


Record = TypeVar("Record")


class ConversionInputs:
    """The content of the files.

    Args:
      sources: the files.
      settings: the settings of the conversion.
      documents: the file to write the documents to, in our form.
      queries: the file to write all queries to, in our form.

    Attributes:
      doc_ids: ids of all documents to their lines, in the order of their file.
      copies: doc_id to the ids of all documents with the same text; only of documents that share their text.
      query_lines: ids of all queries to their lines, in the order of their file.
      judged: query_id to doc_id to the judgment and the account of its file.
      first_stage: the kept lines of the run, or None.
      notes: sentences for the user.

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
        self._settings = settings
        self.doc_ids, hashes = self._copy_texts("documents", self.documents, documents, settings.with_titles)
        equal_texts = equal_documents(hashes, partial(_read_rows, documents))
        self.copies = {doc_id: equal for equal in equal_texts for doc_id in equal}
        self.documents.used = len(self.doc_ids)
        self.query_lines, _ = self._copy_texts("queries", self.queries, queries, with_titles=False)
        for (split, _), account in zip(sources.judgments, self.judgments, strict=True):
            self._read_judgments(split, account)
        self.first_stage = self._read_run(self.run, settings.depth) if self.run else None
        self._check(settings.max_bad_share)

    def accounts(self) -> list[FileAccount]:
        """The accounts of all files."""
        return [self.queries, self.documents, *self.judgments, *([self.run] if self.run else [])]

    def _copy_texts(
        self, role: str, account: FileAccount, target: Path, with_titles: bool
    ) -> tuple[dict[str, int], bytes]:
        """Writes the texts of a file in our form; returns their ids and lines, in order, and hashes of the texts."""
        ids: dict[str, int] = {}
        hashes = bytearray()
        codes = self._settings.codes_of(role)
        columns = text_columns([LANGUAGE_FIELD] if codes else [], role, self._settings.columns)
        parse = partial(parse_texts, role=role, with_titles=with_titles, columns=columns)
        with open(target, "w", encoding="utf-8", newline="\n") as stream:
            if codes:
                stream.write(TEXT_HEADER)
            for text in read_records(account, parse):
                if codes and text.fields[0] not in codes:
                    account.leave_out(Reason.OTHER_LANGUAGE, text.line, f"{text.id} | {text.fields[0]}")
                    continue
                ids[text.id] = text.line
                hashes += text_hash(text.text)
                stream.write(f"{text.tsv()}\n")
        return ids, bytes(hashes)

    def _read_judgments(self, split: str, account: FileAccount) -> None:
        """Keeps the judgments of known queries and documents, each pair once, and each query in one split."""
        below = 0
        columns = own_columns("judgments", self._settings.columns)
        parse = partial(parse_judgments, grades=_GRADES, columns=columns, scale=self._settings.scale)
        for record in read_records(account, parse):
            judgment = record._replace(split=split)
            judged = self.judged.get(judgment.query_id, {})
            reason = self._unknown(judgment.query_id, judgment.doc_id)
            if reason is None and any(earlier.split != split for earlier, _ in judged.values()):
                reason = Reason.TWO_SPLITS
            elif reason is None and judgment.doc_id in judged:
                is_equal = judged[judgment.doc_id][0].grade == judgment.grade
                reason = Reason.REPEATED if is_equal else Reason.DUPLICATE_PAIR
            if reason is not None:
                account.leave_out(reason, judgment.line, judgment.excerpt)
                continue
            below += judgment.grade < 0
            self.judged.setdefault(judgment.query_id, judged)[judgment.doc_id] = judgment, account
        if below:
            self.notes.append(f"{account.path}: {below:,} grades below 0 count as 0")

    def _read_run(self, account: FileAccount, depth: int) -> FirstStage:
        """Keeps the best lines of each judged query."""
        stage = FirstStage(depth)
        for line in read_records(account, parse_run):
            reason = self._unknown(line.query_id, line.doc_id)
            if reason is None and line.query_id not in self.judged:
                reason = Reason.NO_JUDGMENT
            elif reason is None and stage.keeps(line):
                reason = Reason.DUPLICATE_PAIR
            if reason is not None:
                leave_out(account, reason, line)
            elif beyond := stage.add(line):
                leave_out(account, ConversionReason.BEYOND_DEPTH, beyond)
        return stage

    def _unknown(self, query_id: str, doc_id: str) -> DropReason | None:
        if query_id not in self.query_lines:
            return Reason.UNKNOWN_QUERY
        return None if doc_id in self.doc_ids else Reason.UNKNOWN_DOCUMENT

    def _check(self, max_bad_share: float) -> None:
        """Refuses files with too many bad lines, documents first, because they cause unknown ids in other files."""
        accounts = sorted(self.accounts(), key=lambda account: account is not self.documents)
        faults = [line for account in accounts for line in account.faults(max_bad_share)]
        if not faults and len(self.doc_ids) < 2:
            faults.append(f"{self.documents.path} must hold two documents or more; got {len(self.doc_ids)}.")
        if not faults and not self.query_lines:
            faults.append(f"{self.queries.path} must hold a query; got none.")
        if faults:
            raise DataError("\n".join(faults))


def leave_out(account: FileAccount, reason: DropReason, line: RunLine) -> None:
    """Counts a well-formed line of a run that is left out."""
    account.leave_out(reason, line.line, f"{line.query_id} | {line.doc_id} | {line.score:g}")


def _read_rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yields (row, id, text) for each text in a file of our form; rows count from 0."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        texts = dropwhile(TEXT_HEADER.__eq__, lines)
        for row, line in enumerate(texts):
            identifier, _, text, *_ = line.removesuffix("\n").split("\t")
            yield row, identifier, text


def read_records(account: FileAccount, parse: Callable[[BinaryIO, str], Iterable[Record | Drop]]) -> Iterator[Record]:
    """Yields the records of a file; counts its lines in its account, and adds its drops."""
    try:
        stream = open_part(account.path) if is_of_ir_datasets(account.path) else open(account.path, "rb")
    except OSError as error:
        raise DataError(f"{account.path}: cannot be read: {error.strerror}.") from None
    with stream:
        for item in parse(stream, account.path):
            account.read += 1
            if isinstance(item, Drop):
                account.add(item)
            else:
                yield item


def settings_faults(
    settings: ConversionSettings, paths: Sequence[str], have_queries: bool = True
) -> Iterator[tuple[str, str]]:
    """Yields the name of each wrong setting, and what is wrong with it.

    Args:
      settings: of a conversion.
      paths: the files, which can be read.
      have_queries: whether the queries are texts of their own, and not parts of pairs or of documents.
    """
    for name in ("query_language", "document_language"):
        language = getattr(settings, name)
        if are_several(language) and not have_queries:
            yield name, f"must be a single language where queries come from pairs or documents; got {language}."
        if fault := language_fault(language):
            yield name, fault
    for column, names in settings.columns.items():
        if column not in _COLUMNS:
            hint = did_you_mean(column, _COLUMNS)
            yield "columns", f"a column must be one of {', '.join(_COLUMNS)}; got {column!r}{hint}"
        for name in names:
            if not any(_has_column(path, name) for path in paths):
                yield "columns", f"no file has a column {name!r} in its first lines."
    if settings.scale is not None and not all(low < high for low, high in pairwise((-math.inf, *settings.scale))):
        yield "scale", f"must be ascending numbers; got {', '.join(map(str, settings.scale))}."


def _has_column(path: str, name: str) -> bool:
    """Whether the first 64 KiB of a file hold a column's name, in any spelling of `column_name`."""
    with open(path, "rb") as stream, unpacked(stream) as content:
        return column_name(name) in column_name(content.read(1 << 16).decode("utf-8", "replace"))

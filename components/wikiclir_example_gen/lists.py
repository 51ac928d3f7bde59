"""Beam steps that make the list of every query, as ids without texts."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields
from io import BytesIO
from typing import Any, NamedTuple

import apache_beam as beam

from components.wikiclir_example_gen.document_ids import DocumentIds
from components.wikiclir_example_gen.report import GRADE_DISAGREEMENT, TALLIES, Tally, tally, tally_drop
from components.wikiclir_example_gen.sampling import never_drawn, sample_negatives
from components.wikiclir_example_gen.settings import DataSettings
from schemas.collection import Role, parse_domains, parse_judgments
from schemas.relevance import NOT_RELEVANT
from schemas.splits import SPLITS, split_of
from schemas.wikiclir import EXCERPT_CHARACTERS, Judgment, QueryDomain, Reason

_ROLES = ("judgments", "candidates")
_DOMAINS = "domains"


@dataclass(frozen=True)
class IngestSettings:
    """The settings that determine the lists of a collection; see `DataSettings`."""

    negatives: int
    seed: int
    max_queries: int | None
    top_grade: int
    split: str = "queries"
    cold_share: float = 0.0
    most_sampled: int = 4_000_000
    shards: int | None = None
    leave_out_own: bool = False
    test_negatives: int | None = None
    query_words: int | None = None
    segmented: bool = False
    in_languages: tuple[str, ...] = ()
    """The roles whose texts are in several languages: queries, documents."""

    @classmethod
    def of(cls, data: DataSettings) -> "IngestSettings":
        """Takes the settings that determine lists from those of the data."""
        content = data.model_dump(include={field.name for field in fields(cls)})
        return cls(**content, in_languages=tuple(data.languages_by_role))

    def negatives_in(self, split: str) -> int:
        """Returns the number of NR documents sampled for a query of a split."""
        return (self.test_negatives if split == "test" else None) or self.negatives

    def max_negatives(self) -> int:
        """Returns the largest number of NR documents sampled for a query of any split."""
        return max(map(self.negatives_in, SPLITS))


class RankingList(NamedTuple):
    """The list of one query, without texts."""

    split: str
    line: int
    grades: dict[str, int]
    """doc_id to grade."""
    negatives: list[str]
    """The NR documents, in the order of the draw or of the candidates."""
    used: dict[str, list[str]]
    """Role of a file to the documents of the records that this list uses."""
    domain: str = ""
    """The query's domain; empty where the collection names none."""

    def relevant(self) -> list[str]:
        """Returns the documents with a grade above 0."""
        return [doc_id for doc_id, grade in self.grades.items() if grade > NOT_RELEVANT]

    def without(self, doc_ids: Collection[str]) -> "RankingList":
        """Returns the list without these documents; their records no longer count as used."""
        return self._replace(
            grades={doc_id: grade for doc_id, grade in self.grades.items() if doc_id not in doc_ids},
            used={role: [doc_id for doc_id in used if doc_id not in doc_ids] for role, used in self.used.items()},
        )

    def with_first_negatives(self, count: int) -> "RankingList":
        """Returns the list with only its first NR documents."""
        kept, left_out = self.negatives[:count], self.negatives[count:]
        return self.without(set(left_out))._replace(negatives=kept)

    def tallies(self, kind: str) -> Iterator[Tally]:
        """Counts the list's query and its records in each file as used, or as dropped for a reason."""
        yield tally("queries", kind)
        if self.domain:
            yield tally(_DOMAINS, kind)
        for role, doc_ids in self.used.items():
            yield tally(role, kind, len(doc_ids))


class MakeList(beam.DoFn):
    """(query_id, the query's line, and lines of its judgments or candidates or both) -> (query_id, RankingList).

    If the collection names domains, the element also has the lines of the query's domain.

    Args:
      settings: see `IngestSettings`; a list needs a document with the MR grade.
      folder: the collection's folder.
      documents: the collection's documents, whose ids every worker reads once.
    """

    def __init__(self, settings: IngestSettings, folder: str, documents: Role) -> None:
        self._settings = settings
        self._folder = folder
        self._documents = documents

    def setup(self) -> None:
        self._doc_ids = DocumentIds(self._folder, self._documents, self._settings.most_sampled, self._settings.seed)

    def process(self, element: tuple[str, dict[str, Any]]) -> Iterator[Any]:
        query_id, groups = element
        lines = list(groups["query"])
        tallies: list[Tally] = []
        kept = {
            role: self._keep(role, _judgments(groups[role]), bool(lines), tallies) for role in _ROLES if role in groups
        }
        members = kept["candidates" if "candidates" in kept else "judgments"]
        domains = _keep_domains(groups[_DOMAINS], bool(lines), tallies) if _DOMAINS in groups else None
        for line in lines:
            reason = self._reason_to_drop(members, domains)
            domain = domains[0].domain if domains else ""
            if reason:
                excerpt = query_id
                if reason is Reason.NO_MOST_RELEVANT:
                    highest, top_grade = max(member.grade for member in members), self._settings.top_grade
                    excerpt += f" | its highest grade is {highest}, data.top_grade is {top_grade}"
                tallies.append(tally_drop("queries", reason, line, excerpt))
                tallies += [
                    _drop(role, Reason.QUERY_DROPPED, judgment)
                    for role, judgments in kept.items()
                    for judgment in judgments
                ]
                tallies += [_drop_domain(Reason.QUERY_DROPPED, query_domain) for query_domain in domains or ()]
            elif "candidates" in kept:
                grades = {candidate.doc_id: candidate.grade for candidate in members}
                used = {"candidates": list(grades)}
                if "judgments" in kept:
                    tallies += _compare(kept["judgments"], members)
                    used["judgments"] = [judgment.doc_id for judgment in kept["judgments"] if judgment.doc_id in grades]
                negatives = [doc_id for doc_id, grade in grades.items() if grade == NOT_RELEVANT]
                yield query_id, RankingList(members[0].split, line, grades, negatives, used, domain)
            else:
                grades = {judgment.doc_id: judgment.grade for judgment in members}
                used = {"judgments": list(grades)}
                never = never_drawn(grades, self._doc_ids.copies)
                if self._settings.leave_out_own:
                    never.add(query_id)
                split = split_of(query_id)
                # With a split by documents, `DivideLists` decides the split later, and leaves out surplus negatives.
                by_queries = self._settings.split == "queries"
                count = self._settings.negatives_in(split) if by_queries else self._settings.max_negatives()
                negatives = sample_negatives(query_id, self._settings.seed, count, self._doc_ids.sample, never)
                grades.update(dict.fromkeys(negatives, NOT_RELEVANT))
                yield query_id, RankingList(split, line, grades, negatives, used, domain)
        for item in tallies:
            yield beam.pvalue.TaggedOutput(TALLIES, item)

    def _reason_to_drop(self, members: list[Judgment], domains: list[QueryDomain] | None) -> Reason | None:
        if not members:
            return Reason.NO_JUDGMENT
        if all(member.grade != self._settings.top_grade for member in members):
            return Reason.NO_MOST_RELEVANT
        if len({member.split for member in members}) > 1:
            return Reason.TWO_SPLITS
        if domains is not None and len(domains) != 1:
            return Reason.TWO_DOMAINS if domains else Reason.NO_DOMAIN
        return None

    def _keep(
        self, role: str, judgments: Iterable[Judgment], query_is_known: bool, tallies: list[Tally]
    ) -> list[Judgment]:
        """Returns the judgments of known queries and documents, the first of each pair; counts the others."""
        kept: dict[str, Judgment] = {}
        ordered = sorted(judgments, key=lambda judgment: judgment.line)
        are_known = self._doc_ids.include(judgment.doc_id for judgment in ordered)
        for judgment, is_known in zip(ordered, are_known, strict=True):
            if not query_is_known:
                tallies.append(_drop(role, Reason.UNKNOWN_QUERY, judgment))
            elif not is_known:
                tallies.append(_drop(role, Reason.UNKNOWN_DOCUMENT, judgment))
            elif self._settings.leave_out_own and judgment.doc_id == judgment.query_id:
                tallies.append(_drop(role, Reason.OWN_DOCUMENT, judgment))
            elif judgment.doc_id in kept:
                is_equal = judgment[:-1] == kept[judgment.doc_id][:-1]  # apart from the line
                tallies.append(_drop(role, Reason.REPEATED if is_equal else Reason.DUPLICATE_PAIR, judgment))
            else:
                kept[judgment.doc_id] = judgment
        return list(kept.values())


def _keep_domains(blocks: Iterable[tuple[int, bytes]], query_is_known: bool, tallies: list[Tally]) -> list[QueryDomain]:
    """Returns the different domains of a query, by the first line of each; counts the other lines."""
    kept: dict[str, QueryDomain] = {}
    lines = [line for first_line, content in blocks for line in parse_domains(BytesIO(content), first_line)]
    for query_domain in sorted(lines, key=lambda query_domain: query_domain.line):
        if not query_is_known:
            tallies.append(_drop_domain(Reason.UNKNOWN_QUERY, query_domain))
        elif kept.setdefault(query_domain.domain, query_domain) is not query_domain:
            tallies.append(_drop_domain(Reason.REPEATED, query_domain))
    return list(kept.values()) if query_is_known else []


def _judgments(blocks: Iterable[tuple[int, bytes]]) -> Iterator[Judgment]:
    """Parses the blocks of lines of `read_lines_of_query`."""
    for first_line, content in blocks:
        yield from parse_judgments(BytesIO(content), first_line)


def _compare(judgments: list[Judgment], candidates: list[Judgment]) -> Iterator[Tally]:
    """Counts judgments that are not candidates, and candidates that have another grade in the judgments."""
    judged = {judgment.doc_id: judgment.grade for judgment in judgments}
    proposed = {candidate.doc_id for candidate in candidates}
    for judgment in judgments:
        if judgment.doc_id not in proposed:
            yield _drop("judgments", Reason.NOT_A_CANDIDATE, judgment)
    for candidate in candidates:
        if candidate.grade != judged.get(candidate.doc_id, NOT_RELEVANT):
            yield tally("candidates", GRADE_DISAGREEMENT)


def _drop(role: str, reason: Reason, judgment: Judgment) -> Tally:
    return tally_drop(role, reason, judgment.line, judgment.excerpt[:EXCERPT_CHARACTERS])


def _drop_domain(reason: Reason, record: QueryDomain) -> Tally:
    return tally_drop(_DOMAINS, reason, record.line, f"{record.query_id} | {record.domain}"[:EXCERPT_CHARACTERS])


def limit_queries(element: tuple[str, RankingList], last_line: int) -> Iterator[Any]:
    """Keeps the lists of the queries up to a line."""
    if element[1].line <= last_line:
        yield element
    else:
        for item in element[1].tallies(Reason.BEYOND_LIMIT.name):
            yield beam.pvalue.TaggedOutput(TALLIES, item)

"""The Beam job: WikiCLIR files to listwise examples.

Lists are made of ids first: judgments meet query ids, NR documents are drawn, and only then are the documents that
some list needs read once more, for their text. So no text passes more than one join, and unneeded texts pass none.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam
import tensorflow as tf
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from components.wikiclir_example_gen.report import (
    GRADE_DISAGREEMENT,
    READ,
    USED,
    Tally,
    make_report,
    merge_tallies,
    tally,
    tally_drop,
    write_report,
)
from components.wikiclir_example_gen.sampling import list_place, sample_negatives, split_of
from schemas import features as f
from schemas.features import SPLITS
from schemas.relevance import NOT_RELEVANT
from schemas.wikiclir import (
    EXCERPT_CHARACTERS,
    Drop,
    Judgment,
    Reason,
    Text,
    parse_candidates,
    parse_judgments,
    parse_texts,
)

_TALLIES = "tallies"


@dataclass(frozen=True)
class IngestSettings:
    """What decides the lists, besides the files' content.

    Attributes:
      paths: the file of each role: queries, documents, judgments, and perhaps candidates.
      negatives, seed, max_queries: see `DataSettings`.
      top_grade: the MR grade.
    """

    paths: Mapping[str, str]
    negatives: int
    seed: int
    max_queries: int | None
    top_grade: int


class RankingList(NamedTuple):
    """The list of one query, still without texts."""

    split: str
    line: int
    grades: dict[str, int]
    """doc_id to grade."""
    used: dict[str, int]
    """Role of a file to the number of its records that this list uses."""


def ingest(pipeline: beam.Pipeline, settings: IngestSettings, split_paths: Mapping[str, str], report_path: str) -> None:
    """Adds the whole job to a pipeline.

    Args:
      pipeline: to add to.
      settings: see there.
      split_paths: file-path prefix of the examples of each split.
      report_path: where the JSON report goes.
    """
    queries = pipeline | "ReadQueries" >> _Read(settings, "queries")
    judgments = pipeline | "ReadJudgments" >> _Read(settings, "judgments")
    tallies = [queries[_TALLIES], judgments[_TALLIES]]
    doc_ids = (
        pipeline
        | "NameDocumentsFile" >> beam.Create([settings.paths["documents"]])
        | "ReadDocumentIds" >> beam.ParDo(_ReadDocumentIds()).with_outputs(_TALLIES, main="ids")
    )
    tallies.append(doc_ids[_TALLIES])
    query_id_to = {
        "query": queries["records"] | "KeepQueryLine" >> beam.MapTuple(lambda query_id, query: (query_id, query.line)),
        "judgments": judgments["records"],
    }
    if "candidates" in settings.paths:
        candidates = pipeline | "ReadCandidates" >> _Read(settings, "candidates")
        tallies.append(candidates[_TALLIES])
        query_id_to["candidates"] = candidates["records"]
    lists = (
        query_id_to
        | "JoinJudgments" >> beam.CoGroupByKey()
        | "MakeLists"
        >> beam.ParDo(_MakeList(settings), beam.pvalue.AsSingleton(doc_ids["ids"])).with_outputs(_TALLIES, main="lists")
    )
    tallies.append(lists[_TALLIES])
    query_id_to_list = lists["lists"]
    if settings.max_queries is not None:
        last_line = (
            query_id_to_list
            | "KeepListLine" >> beam.MapTuple(lambda query_id, ranking_list: ranking_list.line)
            | "FirstLines" >> beam.combiners.Top.Smallest(settings.max_queries)
            | "LastLine" >> beam.Map(lambda lines: max(lines, default=0))
        )
        kept = query_id_to_list | "LimitQueries" >> beam.ParDo(
            _LimitQueries(), beam.pvalue.AsSingleton(last_line)
        ).with_outputs(_TALLIES, main="lists")
        tallies.append(kept[_TALLIES])
        query_id_to_list = kept["lists"]
    needed = query_id_to_list | "FindNeededDocuments" >> beam.CombineGlobally(_NeededDocuments())
    documents = (
        pipeline
        | "NameDocumentsFileAgain" >> beam.Create([settings.paths["documents"]])
        | "ReadNeededDocuments"
        >> beam.ParDo(_ReadNeededDocuments(), beam.pvalue.AsSingleton(needed)).with_outputs(_TALLIES, main="records")
    )
    tallies.append(documents[_TALLIES])
    examples = (
        {"query": queries["records"], "list": query_id_to_list, "documents": documents["records"]}
        | "JoinTexts" >> beam.CoGroupByKey()
        | "MakeExamples" >> beam.ParDo(_MakeExample()).with_outputs(_TALLIES, *SPLITS)
    )
    tallies.append(examples[_TALLIES])
    for split in SPLITS:
        examples[split] | f"Write/{split}" >> beam.io.WriteToTFRecord(
            split_paths[split], file_name_suffix=".gz", compression_type=CompressionTypes.GZIP
        )
    _ = (
        tallies
        | "FlattenTallies" >> beam.Flatten()
        | "SumTallies" >> beam.CombinePerKey(merge_tallies)
        | "CollectTallies" >> beam.combiners.ToList()
        | "WriteReport" >> beam.Map(_write_report, dict(settings.paths), report_path)
    )


def open_file(path: str) -> BinaryIO:
    """Opens a local or remote file as stored, without decompression (the parsers do that)."""
    stream: BinaryIO = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return stream


class _Read(beam.PTransform):
    """One file's records keyed by query id, and its tallies."""

    def __init__(self, settings: IngestSettings, role: str) -> None:
        super().__init__()
        self._settings = settings
        self._role = role

    def expand(self, pipeline: beam.Pipeline) -> Any:
        reader = _ReadRecords(self._role, self._settings.top_grade)
        path = pipeline | "NameFile" >> beam.Create([self._settings.paths[self._role]])
        return path | "Parse" >> beam.ParDo(reader).with_outputs(_TALLIES, main="records")


class _ReadRecords(beam.DoFn):
    """path -> (query_id, record)."""

    def __init__(self, role: str, top_grade: int) -> None:
        self._role = role
        self._top_grade = top_grade

    def process(self, path: str) -> Iterator[Any]:
        parsed: Iterable[Text | Judgment | Drop]
        read = 0
        with open_file(path) as stream:
            if self._role == "queries":
                parsed = parse_texts(stream, path)
            elif self._role == "judgments":
                parsed = parse_judgments(stream, path, self._top_grade)
            else:
                parsed = parse_candidates(stream, path, self._top_grade)
            for item in parsed:
                read += 1
                if isinstance(item, Drop):
                    yield beam.pvalue.TaggedOutput(_TALLIES, tally_drop(self._role, item))
                else:
                    yield item[0], item
        yield beam.pvalue.TaggedOutput(_TALLIES, tally(self._role, READ, read))


class _ReadDocumentIds(beam.DoFn):
    """path -> all document ids, in the file's order, as one element."""

    def process(self, path: str) -> Iterator[Any]:
        doc_ids, drops = [], 0
        with open_file(path) as stream:
            for item in parse_texts(stream, path):
                if isinstance(item, Drop):
                    drops += 1
                    yield beam.pvalue.TaggedOutput(_TALLIES, tally_drop("documents", item))
                else:
                    doc_ids.append(item.id)
        yield beam.pvalue.TaggedOutput(_TALLIES, tally("documents", READ, len(doc_ids) + drops))
        yield doc_ids


class _MakeList(beam.DoFn):
    """(query_id, its judgments and candidates) -> (query_id, RankingList)."""

    def __init__(self, settings: IngestSettings) -> None:
        self._settings = settings
        self._known: frozenset[str] | None = None

    def process(self, element: tuple[str, dict[str, Any]], doc_ids: list[str]) -> Iterator[Any]:
        query_id, groups = element
        if self._known is None:
            self._known = frozenset(doc_ids)
        tallies: list[Tally] = []
        lines = list(groups["query"])
        judgments = self._keep("judgments", groups["judgments"], bool(lines), tallies)
        if "candidates" in self._settings.paths:
            candidates = self._keep("candidates", groups["candidates"], bool(lines), tallies)
            splits = {candidate.split for candidate in candidates}
            split = candidates[0].split if candidates else ""
            role, members = "candidates", candidates
        else:
            splits = {split_of(query_id)}
            (split,) = splits
            role, members = "judgments", judgments
        grades = {member.doc_id: member.grade for member in members}
        reason = None
        if lines:
            if not members:
                reason = Reason.NO_JUDGMENT
            elif self._settings.top_grade not in grades.values():
                reason = Reason.NO_MOST_RELEVANT
            elif len(splits) > 1:
                reason = Reason.TWO_SPLITS
        if reason:
            tallies.append(tally_drop("queries", Drop(reason, "", lines[0], query_id)))
            tallies += [_drop(role, Reason.QUERY_DROPPED, member) for member in members]
            if role == "candidates":
                tallies += [_drop("judgments", Reason.QUERY_DROPPED, judgment) for judgment in judgments]
        elif lines:
            used = {role: len(members)}
            if role == "candidates":
                used["judgments"] = sum(judgment.doc_id in grades for judgment in judgments)
                tallies += _compare(judgments, candidates)
            else:
                negatives = sample_negatives(
                    query_id, self._settings.seed, self._settings.negatives, doc_ids, grades.keys()
                )
                grades.update(dict.fromkeys(negatives, NOT_RELEVANT))
            yield query_id, RankingList(split, lines[0], grades, used)
        for item in tallies:
            yield beam.pvalue.TaggedOutput(_TALLIES, item)

    def _keep(
        self, role: str, judgments: Iterable[Judgment], query_is_known: bool, tallies: list[Tally]
    ) -> list[Judgment]:
        """Judgments of known queries and documents, each pair once: the first in the file stays."""
        kept: dict[str, Judgment] = {}
        for judgment in sorted(judgments, key=lambda judgment: judgment.line):
            if not query_is_known:
                tallies.append(_drop(role, Reason.UNKNOWN_QUERY, judgment))
            elif judgment.doc_id not in (self._known or ()):
                tallies.append(_drop(role, Reason.UNKNOWN_DOCUMENT, judgment))
            elif judgment.doc_id in kept:
                tallies.append(_drop(role, Reason.DUPLICATE_PAIR, judgment))
            else:
                kept[judgment.doc_id] = judgment
        return list(kept.values())


def _compare(judgments: list[Judgment], candidates: list[Judgment]) -> Iterator[Tally]:
    """Counts judgments that are candidates, those that are not, and grades on which the two files disagree."""
    judged = {judgment.doc_id: judgment.grade for judgment in judgments}
    proposed = {candidate.doc_id for candidate in candidates}
    for judgment in judgments:
        if judgment.doc_id not in proposed:
            yield _drop("judgments", Reason.NOT_A_CANDIDATE, judgment)
    for candidate in candidates:
        if candidate.grade != judged.get(candidate.doc_id, NOT_RELEVANT):
            yield tally("candidates", GRADE_DISAGREEMENT)


def _drop(role: str, reason: Reason, judgment: Judgment) -> Tally:
    excerpt = f"{judgment.query_id} | {judgment.doc_id} | {judgment.grade}"
    return tally_drop(role, Drop(reason, "", judgment.line, excerpt[:EXCERPT_CHARACTERS]))


class _LimitQueries(beam.DoFn):
    """Keeps the lists whose query stands no later than a line."""

    def process(self, element: tuple[str, RankingList], last_line: int) -> Iterator[Any]:
        if element[1].line <= last_line:
            yield element
        else:
            for role, count in {"queries": 1, **element[1].used}.items():
                yield beam.pvalue.TaggedOutput(_TALLIES, tally(role, Reason.BEYOND_LIMIT.name, count))


class _NeededDocuments(beam.CombineFn):
    """(query_id, RankingList)s -> doc_id to the queries whose lists hold it."""

    def create_accumulator(self) -> dict[str, list[str]]:
        return {}

    def add_input(self, accumulator: dict[str, list[str]], element: tuple[str, RankingList]) -> dict[str, list[str]]:
        query_id, ranking_list = element
        for doc_id in ranking_list.grades:
            accumulator.setdefault(doc_id, []).append(query_id)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[dict[str, list[str]]]) -> dict[str, list[str]]:
        first, *others = accumulators
        for other in others:
            for doc_id, query_ids in other.items():
                first.setdefault(doc_id, []).extend(query_ids)
        return first

    def extract_output(self, accumulator: dict[str, list[str]]) -> dict[str, list[str]]:
        return accumulator


class _ReadNeededDocuments(beam.DoFn):
    """path -> (query_id, document) for every list that needs the document."""

    def process(self, path: str, needed: dict[str, list[str]]) -> Iterator[Any]:
        used = unused = 0
        with open_file(path) as stream:
            for item in parse_texts(stream, path):
                if isinstance(item, Drop):
                    continue
                if item.id not in needed:
                    unused += 1
                    continue
                used += 1
                for query_id in needed[item.id]:
                    yield query_id, (item.id, item.title, item.text)
        yield beam.pvalue.TaggedOutput(_TALLIES, tally("documents", USED, used))
        if unused:
            yield beam.pvalue.TaggedOutput(_TALLIES, tally("documents", Reason.NOT_IN_A_LIST.name, unused))


class _MakeExample(beam.DoFn):
    """(query_id, its text, list and documents) -> a serialized listwise example, tagged with its split."""

    def process(self, element: tuple[str, dict[str, Any]]) -> Iterator[Any]:
        query_id, groups = element
        for ranking_list in groups["list"]:
            (query,) = groups["query"]
            documents = sorted(groups["documents"], key=lambda document: list_place(query_id, document[0]))
            example = make_example(query, documents, [ranking_list.grades[document[0]] for document in documents])
            yield beam.pvalue.TaggedOutput(ranking_list.split, example.SerializeToString(deterministic=True))
            for role, count in {"queries": 1, **ranking_list.used}.items():
                yield beam.pvalue.TaggedOutput(_TALLIES, tally(role, USED, count))
            yield beam.pvalue.TaggedOutput(_TALLIES, tally("lists", ranking_list.split))
            yield beam.pvalue.TaggedOutput(_TALLIES, tally("pairs", ranking_list.split, len(documents)))


def make_example(query: Text, documents: Iterable[tuple[str, str, str]], grades: Iterable[int]) -> tf.train.Example:
    """One listwise example (see `schemas.features`).

    Args:
      query: the query.
      documents: (doc_id, title, text) of each document.
      grades: its relevance.
    """
    doc_ids, doc_titles, doc_texts = zip(*documents, strict=True)
    texts = {
        f.QUERY_ID: [query.id],
        f.QUERY_TITLE: [query.title],
        f.QUERY_TEXT: [query.text],
        f.DOC_ID: doc_ids,
        f.DOC_TITLE: doc_titles,
        f.DOC_TEXT: doc_texts,
    }
    feature = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode() for value in values]))
        for name, values in texts.items()
    }
    feature[f.RELEVANCE] = tf.train.Feature(int64_list=tf.train.Int64List(value=grades))
    return tf.train.Example(features=tf.train.Features(feature=feature))


def _write_report(tallies: list[Tally], paths: dict[str, str], report_path: str) -> None:
    with FileSystems.create(report_path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
        stream.write(write_report(make_report(tallies, paths)).encode())

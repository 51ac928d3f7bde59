"""The Beam job: WikiCLIR files to listwise examples.

Lists are made of ids first: judgments meet query ids, NR documents are drawn, and only then are the documents that
some list needs read once more, for their text. So no text passes more than one join, and unneeded texts pass none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from components.wikiclir_example_gen.examples import MakeExample
from components.wikiclir_example_gen.lists import LimitQueries, MakeList, NeededDocuments
from components.wikiclir_example_gen.reading import ReadDocumentIds, ReadNeededDocuments, ReadRecords
from components.wikiclir_example_gen.report import TALLIES, Tally, make_report, merge_tallies, write_report
from schemas.features import SPLITS


@dataclass(frozen=True)
class IngestSettings:
    """What decides the lists, besides the files' content.

    Attributes:
      paths: the file of each role: queries, documents, and judgments or candidates or both.
      negatives, seed, max_queries: see `DataSettings`.
      top_grade: the MR grade.
    """

    paths: Mapping[str, str]
    negatives: int
    seed: int
    max_queries: int | None
    top_grade: int


def ingest(pipeline: beam.Pipeline, settings: IngestSettings, split_paths: Mapping[str, str], report_path: str) -> None:
    """Adds the whole job to a pipeline.

    Args:
      pipeline: to add to.
      settings: see there.
      split_paths: file-path prefix of the examples of each split.
      report_path: where the JSON report goes.
    """
    queries = pipeline | "ReadQueries" >> _ReadFile(settings, "queries")
    tallies = [queries[TALLIES]]
    doc_ids = (
        pipeline
        | "NameDocumentsFile" >> beam.Create([settings.paths["documents"]])
        | "ReadDocumentIds" >> beam.ParDo(ReadDocumentIds()).with_outputs(TALLIES, main="ids")
    )
    tallies.append(doc_ids[TALLIES])
    query_id_to = {
        "query": queries["records"] | "KeepQueryLine" >> beam.MapTuple(lambda query_id, query: (query_id, query.line))
    }
    for role in ("judgments", "candidates"):
        if role in settings.paths:
            read = pipeline | f"Read{role.capitalize()}" >> _ReadFile(settings, role)
            tallies.append(read[TALLIES])
            query_id_to[role] = read["records"]
    lists = (
        query_id_to
        | "JoinJudgments" >> beam.CoGroupByKey()
        | "MakeLists"
        >> beam.ParDo(
            MakeList(settings.negatives, settings.seed, settings.top_grade), beam.pvalue.AsSingleton(doc_ids["ids"])
        ).with_outputs(TALLIES, main="lists")
    )
    tallies.append(lists[TALLIES])
    query_id_to_list = lists["lists"]
    if settings.max_queries is not None:
        last_line = (
            query_id_to_list
            | "KeepListLine" >> beam.MapTuple(lambda query_id, ranking_list: ranking_list.line)
            | "FirstLines" >> beam.combiners.Top.Smallest(settings.max_queries)
            | "LastLine" >> beam.Map(lambda lines: max(lines, default=0))
        )
        kept = query_id_to_list | "LimitQueries" >> beam.ParDo(
            LimitQueries(), beam.pvalue.AsSingleton(last_line)
        ).with_outputs(TALLIES, main="lists")
        tallies.append(kept[TALLIES])
        query_id_to_list = kept["lists"]
    needed = query_id_to_list | "FindNeededDocuments" >> beam.CombineGlobally(NeededDocuments())
    documents = (
        pipeline
        | "NameDocumentsFileAgain" >> beam.Create([settings.paths["documents"]])
        | "ReadNeededDocuments"
        >> beam.ParDo(ReadNeededDocuments(), beam.pvalue.AsSingleton(needed)).with_outputs(TALLIES, main="records")
    )
    tallies.append(documents[TALLIES])
    examples = (
        {"query": queries["records"], "list": query_id_to_list, "documents": documents["records"]}
        | "JoinTexts" >> beam.CoGroupByKey()
        | "MakeExamples" >> beam.ParDo(MakeExample()).with_outputs(TALLIES, *SPLITS)
    )
    tallies.append(examples[TALLIES])
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


class _ReadFile(beam.PTransform):
    """One file's records keyed by query id, and its tallies."""

    def __init__(self, settings: IngestSettings, role: str) -> None:
        super().__init__()
        self._settings = settings
        self._role = role

    def expand(self, pipeline: beam.Pipeline) -> Any:
        reader = ReadRecords(self._role, self._settings.top_grade)
        path = pipeline | "NameFile" >> beam.Create([self._settings.paths[self._role]])
        return path | "Parse" >> beam.ParDo(reader).with_outputs(TALLIES, main="records")


def _write_report(tallies: list[Tally], paths: dict[str, str], report_path: str) -> None:
    with FileSystems.create(report_path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
        stream.write(write_report(make_report(tallies, paths)).encode())

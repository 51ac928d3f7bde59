"""The Beam job: a collection to listwise examples.

It makes the lists of ids first: it joins judgments with query ids and draws NR documents; only then does it read the
texts of the documents that some list needs. So a text passes one join at most, and an unneeded text passes none.
"""

from collections.abc import Mapping
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

import components.beam_runner  # noqa: F401 - pipelines are made here
from components.wikiclir_example_gen.dividing import DivideLists, GroupDocuments
from components.wikiclir_example_gen.document_ids import read_copies
from components.wikiclir_example_gen.examples import WriteExamples, make_examples
from components.wikiclir_example_gen.lists import IngestSettings, MakeList, limit_queries
from components.wikiclir_example_gen.reading import (
    NeededDocuments,
    ReadNeededDocuments,
    read_lines_of_query,
    read_queries,
)
from components.wikiclir_example_gen.report import TALLIES, Tally, make_report, merge_tallies
from schemas.collection import Role
from schemas.splits import SPLITS


def ingest(
    pipeline: beam.Pipeline,
    settings: IngestSettings,
    folder: str,
    roles: Mapping[str, Role],
    split_paths: Mapping[str, str],
    report_path: str,
    passages: tuple[str, Role] | None = None,
) -> None:
    """Adds the whole job to a pipeline.

    Args:
      pipeline: the pipeline to add to.
      settings: see `IngestSettings`.
      folder: the collection's folder.
      roles: the collection's roles: queries, documents, judgments or candidates or both, and perhaps domains.
      split_paths: split to the file-path prefix of its examples.
      report_path: the path of the JSON report.
      passages: the folder and the role of the documents' passages, whose texts the examples hold; None for whole
        documents.
    """
    read_query = beam.FlatMap(read_queries, folder, settings)
    query_id_to_query = pipeline | "ReadQueries" >> _ReadShards(roles["queries"], read_query)
    query_id_to = {
        "query": query_id_to_query | "KeepQueryLine" >> beam.MapTuple(lambda query_id, query: (query_id, query.line))
    }
    for role in ("judgments", "candidates", "domains"):
        if role in roles:
            read = beam.FlatMap(read_lines_of_query, folder)
            query_id_to[role] = pipeline | f"Read{role.capitalize()}" >> _ReadShards(roles[role], read)
    make = MakeList(settings, folder, roles["documents"])
    lists = (
        query_id_to
        | "JoinJudgments" >> beam.CoGroupByKey()
        | "MakeLists" >> beam.ParDo(make).with_outputs(TALLIES, main="lists")
    )
    query_id_to_list, tallies = lists["lists"], [lists[TALLIES]]
    if settings.max_queries is not None:
        last_line = (
            query_id_to_list
            | "KeepListLine" >> beam.MapTuple(lambda query_id, ranking_list: ranking_list.line)
            | "FirstLines" >> beam.combiners.Top.Smallest(settings.max_queries)
            | "LastLine" >> beam.Map(lambda lines: max(lines, default=0))
        )
        limit = beam.FlatMap(limit_queries, beam.pvalue.AsSingleton(last_line))
        kept = query_id_to_list | "LimitQueries" >> limit.with_outputs(TALLIES, main="lists")
        query_id_to_list, tallies = kept["lists"], [*tallies, kept[TALLIES]]
    if settings.split == "documents" or settings.cold_share:
        units = query_id_to_list | "GroupDocuments" >> beam.CombineGlobally(GroupDocuments())
        divide = beam.ParDo(DivideLists(settings), beam.pvalue.AsSingleton(units))
        divided = query_id_to_list | "DivideLists" >> divide.with_outputs(TALLIES, main="lists")
        query_id_to_list, tallies = divided["lists"], [*tallies, divided[TALLIES]]
    needed = query_id_to_list | "FindNeededDocuments" >> beam.CombineGlobally(NeededDocuments())
    texts_folder, texts = passages or (folder, roles["documents"])
    read = beam.ParDo(ReadNeededDocuments(texts_folder), beam.pvalue.AsSingleton(needed))
    documents = pipeline | "ReadNeededDocuments" >> _ReadShards(texts, read.with_outputs(TALLIES, main="records"))
    examples = (
        {"query": query_id_to_query, "list": query_id_to_list, "documents": documents["records"]}
        | "JoinTexts" >> beam.CoGroupByKey()
        | "MakeExamples" >> beam.FlatMap(make_examples, settings.in_languages).with_outputs(TALLIES, *SPLITS)
    )
    for split in SPLITS:
        examples[split] | f"Write/{split}" >> WriteExamples(split_paths[split], settings.shards)
    _ = (
        [*tallies, documents[TALLIES], examples[TALLIES]]
        | "FlattenTallies" >> beam.Flatten()
        | "SumTallies" >> beam.CombinePerKey(merge_tallies)
        | "CollectTallies" >> beam.combiners.ToList()
        | "WriteReport" >> beam.Map(_write_report, dict(roles), settings.query_words, folder, report_path)
    )


class _ReadShards(beam.PTransform):
    """Shares the shards of a role among the workers, and reads each with a step."""

    def __init__(self, role: Role, read: beam.PTransform) -> None:
        super().__init__()
        self._role, self._read = role, read

    def expand(self, pipeline: beam.Pipeline) -> Any:
        shards = pipeline | "NameShards" >> beam.Create(self._role.shards) | "ShareShards" >> beam.Reshuffle()
        return shards | "Parse" >> self._read


def _write_report(
    tallies: list[Tally], roles: dict[str, Role], query_words: int | None, folder: str, report_path: str
) -> None:
    copies = sum(len(doc_ids) - 1 for doc_ids in read_copies(folder))
    with FileSystems.create(report_path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
        stream.write(make_report(tallies, roles, query_words, copies).to_json().encode())

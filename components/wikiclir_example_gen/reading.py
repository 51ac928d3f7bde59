"""Beam steps that read files. A file is one element: its lines have numbers, and gzip cannot be split."""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from components.wikiclir_example_gen.report import READ, TALLIES, USED, tally, tally_drop
from schemas.wikiclir import Drop, Judgment, Reason, Text, parse_candidates, parse_judgments, parse_texts


def open_file(path: str) -> BinaryIO:
    """Opens a local or remote file as stored, without decompression (the parsers do that)."""
    stream: BinaryIO = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return stream


class ReadRecords(beam.DoFn):
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
                    yield beam.pvalue.TaggedOutput(TALLIES, tally_drop(self._role, item))
                else:
                    yield item[0], item
        yield beam.pvalue.TaggedOutput(TALLIES, tally(self._role, READ, read))


class ReadDocumentIds(beam.DoFn):
    """path -> all document ids, in the file's order, as one element."""

    def process(self, path: str) -> Iterator[Any]:
        doc_ids, drops = [], 0
        with open_file(path) as stream:
            for item in parse_texts(stream, path):
                if isinstance(item, Drop):
                    drops += 1
                    yield beam.pvalue.TaggedOutput(TALLIES, tally_drop("documents", item))
                else:
                    doc_ids.append(item.id)
        yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", READ, len(doc_ids) + drops))
        yield doc_ids


class ReadNeededDocuments(beam.DoFn):
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
        yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", USED, used))
        if unused:
            yield beam.pvalue.TaggedOutput(TALLIES, tally("documents", Reason.NOT_IN_A_LIST.name, unused))

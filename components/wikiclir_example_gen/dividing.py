"""Divides the documents of the lists among the splits, and into seen and cold ones."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam

from components.wikiclir_example_gen.lists import IngestSettings, RankingList
from components.wikiclir_example_gen.report import TALLIES, Tally, tally
from components.wikiclir_example_gen.sampling import is_cold
from schemas.json_files import parse_json
from schemas.splits import split_of
from schemas.wikiclir import Reason

GROUP_DIVISOR = 10
"""A group with more than 1 / GROUP_DIVISOR of the documents is not kept whole."""


class DocumentGroups:
    """Groups of documents: no query has relevant documents in two groups. The order of the queries does not matter.

    Example:
      >>> groups = DocumentGroups()
      >>> for relevant in (["d1", "d2"], ["d3"], ["d2", "d4"]):
      ...     groups.join(relevant)
      >>> [groups.first(doc_id) for doc_id in ("d1", "d2", "d3", "d4")]
      ['d1', 'd1', 'd3', 'd1']
    """

    def __init__(self) -> None:
        self._earlier: dict[str, str] = {}  # a document to an earlier one of its group, or the first to itself

    def first(self, doc_id: str) -> str:
        """Returns the first document of a document's group, in the order of ids."""
        while (earlier := self._earlier.setdefault(doc_id, doc_id)) != doc_id:
            self._earlier[doc_id] = self._earlier[earlier]
            doc_id = earlier
        return doc_id

    def join(self, doc_ids: Iterable[str]) -> None:
        """Puts documents into one group, together with their former groups."""
        first, *later = sorted({self.first(doc_id) for doc_id in doc_ids})
        self._earlier.update(dict.fromkeys(later, first))

    def merge(self, groups: "DocumentGroups") -> None:
        """Adds other groups, which may share documents with these."""
        for pair in groups._earlier.items():
            self.join(pair)

    def units(self) -> dict[str, str]:
        """Returns the unit of each document: the first of its group, or its own id if the group is too large.

        A group is too large if it has more than a tenth of the documents that are relevant to any query: the pages of
        an encyclopedia may all be linked, and then no split would get its share.

        Example:
          >>> groups = DocumentGroups()
          >>> for number in range(18):
          ...     groups.join([f"a{number}"])
          >>> groups.join(["b1", "b2"])  # two of 20
          >>> groups.units()["b2"]
          'b1'
          >>> groups.join(["b1", "b3"])  # three of 21
          >>> groups.units()["b2"]
          'b2'
        """
        first = {doc_id: self.first(doc_id) for doc_id in self._earlier}
        sizes = Counter(first.values())
        return {
            doc_id: group if GROUP_DIVISOR * sizes[group] <= len(first) else doc_id for doc_id, group in first.items()
        }


class GroupDocuments(beam.CombineFn):
    """(query_id, RankingList)s -> JSON object: relevant document to its unit (see `DocumentGroups.units`)."""

    def create_accumulator(self) -> DocumentGroups:
        return DocumentGroups()

    def add_input(self, accumulator: DocumentGroups, element: tuple[str, RankingList]) -> DocumentGroups:
        accumulator.join(element[1].relevant())
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[DocumentGroups]) -> DocumentGroups:
        first, *further = accumulators
        for groups in further:
            first.merge(groups)
        return first

    def extract_output(self, accumulator: DocumentGroups) -> str:
        return json.dumps(accumulator.units())


class DivideLists(beam.DoFn):
    """(query_id, RankingList) -> the list in the split of its documents, without documents of other splits.

    A list goes to the split of its first MR document's unit. It loses relevant documents whose units are in other
    splits and, in train and eval, those of cold units; if an MR document is cold, the whole list is left out. A list
    loses single documents only if a group was too large to be a unit.

    Args:
      settings: see `IngestSettings`; unless it splits documents, a list keeps its split.
    """

    def __init__(self, settings: IngestSettings) -> None:
        self._settings = settings
        self._by_documents = settings.split == "documents"
        self._units: dict[str, str] | None = None

    def process(self, element: tuple[str, RankingList], units: str) -> Iterator[Any]:
        if self._units is None:
            self._units = parse_json(units)
        query_id, ranking_list = element
        units_of_list = {doc_id: self._units[doc_id] for doc_id in ranking_list.relevant()}
        most_relevant = [doc_id for doc_id in units_of_list if ranking_list.grades[doc_id] == self._settings.top_grade]
        if self._by_documents:
            split = split_of(units_of_list[most_relevant[0]])
            ranking_list = ranking_list._replace(split=split)
            ranking_list = ranking_list.with_first_negatives(self._settings.negatives_in(split))
        reasons = {
            doc_id: reason
            for doc_id, unit in units_of_list.items()
            if (reason := self._reason_to_leave_out(unit, ranking_list.split))
        }
        if any(reasons.get(doc_id) == Reason.COLD for doc_id in most_relevant):
            tallies = ranking_list.tallies(Reason.COLD.name)
        else:
            yield query_id, ranking_list.without(reasons)
            tallies = _drops(ranking_list, reasons)
        for item in tallies:
            yield beam.pvalue.TaggedOutput(TALLIES, item)

    def _reason_to_leave_out(self, unit: str, split: str) -> Reason | None:
        if self._by_documents and split_of(unit) != split:
            return Reason.OTHER_SPLIT
        if split != "test" and is_cold(unit, self._settings.seed, self._settings.cold_share):
            return Reason.COLD
        return None


def _drops(ranking_list: RankingList, reasons: Mapping[str, Reason]) -> Iterator[Tally]:
    """Counts the records of a list's documents that are left out."""
    for role, doc_ids in ranking_list.used.items():
        for doc_id in doc_ids:
            if doc_id in reasons:
                yield tally(role, reasons[doc_id].name)

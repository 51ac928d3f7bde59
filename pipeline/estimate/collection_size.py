"""The size of a collection, on which the duration of a run depends."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, Final, TypeVar

from models.texts.word_counts import distinct_words
from pipeline.config import RunConfig
from pipeline.even_sample import EvenSample
from pipeline.input_files import files_of
from schemas.cut_texts import CutTexts
from schemas.domains import domains_to_test, domains_to_train
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.record_files import parse_role
from schemas.relevance import NOT_RELEVANT
from schemas.splits import SPLITS, split_of
from schemas.wikiclir import Judgment, QueryDomain, Text
from schemas.word_rules import WordRules

Record = TypeVar("Record")

_HEAPS: Final = 40
"""A text of n words has about 40 times the square root of n distinct words (Heaps's law)."""


@dataclass(frozen=True)
class CollectionSize:
    """The size of a collection.

    Attributes:
      documents: their number.
      cut_queries, cut_documents: what the limit on a text cuts of an even sample.
      document_bytes: size of their file, unpacked.
      document_words, query_words: mean number of words of a text, after the cut of `data.max_document_tokens`
        and, of a query, of `data.query_words`.
      lists, pairs: split to its numbers of query lists and of query-document pairs.
      trained_pairs: number of the train split's pairs that training keeps (`training.negatives_from`).
      candidates: number of lines of `data.candidates`.
      vocabulary: number of words of a language that the model knows, by Heaps's law.
    """

    documents: int
    cut_queries: CutTexts
    cut_documents: CutTexts
    document_bytes: int
    document_words: float
    query_words: float
    lists: Mapping[str, int]
    pairs: Mapping[str, int]
    trained_pairs: int
    candidates: int
    vocabulary: int


@dataclass
class _List:
    split: str
    has_most_relevant: bool = False
    relevant: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Texts:
    number: int
    size: int
    words: float
    cut: CutTexts


def size_of_collection(config: RunConfig) -> CollectionSize:
    """Counts the content of a run's files: judgments or candidates line by line, words in a sample of the texts.

    Of the lines that a run would drop, judgments of unknown documents count. The splits are those of
    `data.split: queries`; `documents` gives similar shares.

    Args:
      config: of a run; its input files must be on this machine.

    Raises:
      DataError: the collection is made of dumps, lies elsewhere, cannot be read to its end, or has a split without a
        query.
    """
    paths = config.data.inputs()
    if config.data.wikipedia:
        raise DataError(
            "data must name files for an estimate: what dumps hold is known when they are read. `clir wikipedia` "
            "estimates that, and makes files and a configuration of them."
        )
    rules = config.data.word_rules
    limit = min(config.data.max_document_tokens, config.data.query_words or config.data.max_document_tokens)
    queries = _texts(paths["queries"], rules.model_copy(update={"max_tokens": limit}))
    documents = _texts(paths["documents"], rules)
    lists = _lists(config)
    by_split = {split: [one for one in lists if one.split == split] for split in SPLITS}
    if empty := [split for split, some in by_split.items() if not some]:
        raise DataError(f"every split must have a query with a document of the top grade; got none in {empty[0]}.")
    candidates = sum(len(one.relevant) + len(one.others) for one in lists) if config.data.candidates else 0
    pairs = {split: sum(_listed(one, config, documents.number) for one in some) for split, some in by_split.items()}
    return CollectionSize(
        documents=documents.number,
        cut_queries=queries.cut,
        cut_documents=documents.cut,
        document_bytes=documents.size,
        document_words=documents.words,
        query_words=queries.words,
        lists={split: len(some) for split, some in by_split.items()},
        pairs=pairs,
        trained_pairs=_trained_pairs(config, by_split["train"], pairs["train"], documents.number),
        candidates=candidates,
        vocabulary=min(config.model.vocabulary_size, round(_HEAPS * math.sqrt(documents.number * documents.words))),
    )


def _lists(config: RunConfig) -> list[_List]:
    """The judged queries that a run would use, each with its listed documents."""
    role = "candidates" if config.data.candidates else "judgments"
    lists: dict[str, _List] = {}

    def records(name: str) -> Iterator[Text | Judgment | QueryDomain]:
        def parse(stream: BinaryIO, file: str) -> Iterator[Text | Judgment | QueryDomain | Drop]:
            return parse_role(name, stream, file, config.data.top_grade, None)

        return _records(config.data.inputs()[name], parse)

    judgments = (one for one in records(role) if isinstance(one, Judgment))
    for query_id, doc_id, grade, split, _ in judgments:
        of_query = lists.get(query_id)
        if of_query is None:
            of_query = lists[query_id] = _List(split or split_of(query_id))
        of_query.has_most_relevant |= grade == config.data.top_grade
        (of_query.relevant if grade > NOT_RELEVANT else of_query.others).add(doc_id)
    # In the order of the file: a run takes the first ones.
    ids = dict.fromkeys(text.id for text in _read_texts(config.data.inputs()["queries"]))
    used = (query_id for query_id in ids if query_id in lists)
    limited = islice((one for one in used if lists[one].has_most_relevant), config.data.max_queries)
    if not config.data.held_out:
        return [lists[query_id] for query_id in limited]
    domain_of = {one.query_id: one.domain.encode() for one in records("domains") if isinstance(one, QueryDomain)}
    trained, tested = domains_to_train(config.data.held_out), domains_to_test(config.data.held_out)
    return [
        lists[query_id]
        for query_id in limited
        if (tested if lists[query_id].split == "test" else trained).keeps(domain_of.get(query_id, b""))
    ]


def _listed(one: _List, config: RunConfig, documents: int) -> int:
    """The number of documents in a query's list."""
    data = config.data
    sampled = (data.test_negatives if one.split == "test" else None) or data.negatives
    others = len(one.others) + (0 if data.candidates else sampled)
    return min(len(one.relevant) + min(others, data.used_negatives or others), documents)


def _trained_pairs(config: RunConfig, train: list[_List], pairs: int, documents: int) -> int:
    if config.training.negatives_from == "all":
        return pairs
    relevant = set[str]().union(*(one.relevant for one in train))
    own = sum(len(one.relevant) for one in train)
    if config.data.candidates:
        kept = sum(len(one.others & relevant) for one in train) / max(sum(len(one.others) for one in train), 1)
    else:
        kept = len(relevant) / documents
    return own + round(kept * (pairs - own))


def _texts(path: str, rules: WordRules) -> _Texts:
    """The number of a file's texts, its bytes, and the mean of the words of an even sample."""
    size = 0

    def texts() -> Iterator[bytes]:
        nonlocal size
        for record in _read_texts(path):
            size += len(record.tsv().encode()) + 1
            yield record.text.encode()

    sample = EvenSample(texts())
    found = distinct_words(sample.items, rules)
    return _Texts(sample.number, size, float(found.lengths.mean()), found.cut)


def first_texts(path: str, most: int) -> list[str]:
    """The first texts of a file.

    Args:
      path: a collection's queries or documents.
      most: the largest number of texts.
    """
    return [record.text for record in islice(_read_texts(path), most)]


def _read_texts(path: str) -> Iterator[Text]:
    """The queries or documents of a path's files; repeated ids stay."""

    def parse(stream: BinaryIO, file: str) -> Iterator[Text | Judgment | QueryDomain | Drop]:
        return parse_role("documents", stream, file, 0, None)

    return (record for record in _records(path, parse) if isinstance(record, Text))


def _records(path: str, parse: Callable[[BinaryIO, str], Iterable[Record | Drop]]) -> Iterator[Record]:
    """The records of a path's files; raises a DataError where a file is elsewhere, or its rest cannot be read."""
    for file in files_of(path):
        if not os.path.exists(file):
            raise DataError(f"{file} must lie on this machine for an estimate.")
        with open(file, "rb") as stream:
            for item in parse(stream, file):
                if not isinstance(item, Drop):
                    yield item
                elif item.reason.is_fatal:
                    raise DataError(f"{file}:{item.line}: {item.reason.text}: {item.excerpt}")

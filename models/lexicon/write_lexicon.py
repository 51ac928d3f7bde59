"""Learns a lexicon from train lists and further pairs of texts. Never imports TFX."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import BinaryIO, Final, Literal, NamedTuple, cast

import tensorflow as tf

from models.graphs import graph_function
from models.lexicon.learn_lexicon import Pair, learn_lexicon
from models.lexicon.lexicon import Kind
from models.lists.ranking_lists import TEXT_SPEC, language_spec
from schemas import features as f
from schemas import file_system
from schemas.byte_streams import HashingReader, check_content
from schemas.domains import EVERY_DOMAIN, DomainFilter
from schemas.drops import REPORT_FILE, Drop, DropCounter, ReadReport
from schemas.errors import DataError
from schemas.lexicon_pairs import parse_pairs
from schemas.lexicon_report import LexiconReport
from schemas.word_rules import WordRules

_LISTS: Final = 512
"""Number of lists read at a time."""
_MIN_WEIGHT: Final = 1e-100
"""The smallest weight of a pair: if a product of weights underflowed to 0, a term's sum of weights could be 0."""


def write_lexicon(
    kind: Kind,
    languages: tuple[str, str],
    rules: WordRules,
    train_pairs: Sequence[Pair],
    pairs: "FurtherPairs | None",
    collection: Iterable[bytes | str],
    folder: str,
) -> None:
    """Learns a lexicon, and writes its files and its report.

    Args:
      kind, languages, rules, collection: see `learn_lexicon`.
      train_pairs: see `mr_pairs`.
      pairs: further pairs to learn from, if any.
      folder: the folder to write to.

    Raises:
      DataError: too many of the further pairs are bad.
    """
    lexicon = learn_lexicon(kind, languages, rules, chain(train_pairs, pairs or ()), collection)
    report = LexiconReport(
        kind=lexicon.record.kind,
        train_pairs=len(train_pairs),
        pairs=pairs.report().as_dict() if pairs else None,
        **{f"{source.name}_weight": source.weight for source in (pairs.sources if pairs else ())},
        terms=len(lexicon.terms),
        translations=lexicon.translations.nnz,
        translated=int((lexicon.translations.getnnz(axis=1) > 0).sum()),
        documents=lexicon.record.documents,
    )
    for name, content in (*lexicon.files(), (REPORT_FILE, report.to_json())):
        with file_system.open_file(f"{folder}/{name}", "w") as file:
            file.write(content)


def mr_pairs(
    files: Iterable[str],
    top_grade: int,
    domains: DomainFilter = EVERY_DOMAIN,
    languages: tuple[str, str] = ("", ""),
) -> list[Pair]:
    """Reads every query with each of its MR documents, as texts, sorted by query id.

    Args:
      files: gzipped TFRecords of listwise examples; only the texts of the pairs are held in memory.
      top_grade: the MR grade.
      domains: the domains of the queries.
      languages: codes of the languages of queries and documents; where a side has several, the pairs of each two
        languages are a table of their own.
    """
    names = (f.QUERY_ID, f.QUERY_DOMAIN, f.QUERY_TEXT, f.DOC_TEXT, f.RELEVANCE)
    spec = {name: TEXT_SPEC[name] for name in names} | language_spec(languages)

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(examples: tf.Tensor) -> tuple[tf.Tensor, ...]:
        lists = tf.io.parse_example(examples, spec)
        is_most_relevant = lists[f.RELEVANCE] == top_grade
        documents = tf.ragged.boolean_mask(lists[f.DOC_TEXT], is_most_relevant)
        tables = tf.fill(tf.shape(documents.flat_values), "")
        if f.DOC_LANG in spec:
            tables = tf.ragged.boolean_mask(lists[f.DOC_LANG], is_most_relevant).flat_values
        if f.QUERY_LANG in spec:
            tables = tf.strings.join([tf.gather(lists[f.QUERY_LANG], documents.value_rowids()), "-", tables])
        tables = documents.with_flat_values(tables)
        return lists[f.QUERY_DOMAIN], lists[f.QUERY_ID], lists[f.QUERY_TEXT], documents, tables

    pairs_of_query: dict[bytes, list[Pair]] = {}
    for *query_columns, documents, tables in tf.data.TFRecordDataset(sorted(files), "GZIP").batch(_LISTS).map(parse):
        columns = (column.numpy().tolist() for column in query_columns)
        for domain, query_id, query, *pairs in zip(*columns, documents.to_list(), tables.to_list(), strict=True):
            if domains.keeps(domain):
                pairs_of_query[query_id] = [
                    (query, document, 1.0, table.decode()) if table else (query, document)
                    for document, table in zip(*pairs, strict=True)
                ]
    return [pair for _, pairs in sorted(pairs_of_query.items()) for pair in pairs]


class PairSource(NamedTuple):
    """Files of pairs with a common weight."""

    name: Literal["pairs", "title_pairs", "translations"]
    paths: Sequence[str]
    """The files, read as one, each in its own layout (see `schemas.lexicon_pairs`)."""
    weight: float = 1.0
    """Weight of a pair, times its own weight."""
    digest: str | None = None
    """The expected `input_digest` of a user's files."""


class FurtherPairs:
    """The pairs in files, for a single iteration; `report` describes the lines read.

    Args:
      sources: the files, in the order of reading.
      max_bad_share: the largest share of bad lines.
      by_file: whether the pairs of each file are a table of their own, as where documents are in several languages.
    """

    def __init__(self, sources: Sequence[PairSource], max_bad_share: float, by_file: bool = False) -> None:
        self.sources = sources
        self._max_bad_share, self._by_file = max_bad_share, by_file
        self._read = self._used = 0
        self._left_out = DropCounter()

    def __iter__(self) -> Iterator[Pair]:
        for source in self.sources:
            digests = []
            for path in source.paths:
                with file_system.open_file(path, "rb") as stored:
                    stream = HashingReader(stored)
                    for item in parse_pairs(cast(BinaryIO, stream), path):
                        self._read += 1
                        if isinstance(item, Drop):
                            self._left_out.add(item)
                        else:
                            self._used += 1
                            pair = item._replace(weight=max(item.weight * source.weight, _MIN_WEIGHT))
                            yield (*pair, path) if self._by_file else pair
                    digests.append(stream.hexdigest())
            check_content(f"channels.lexicon.{source.name}", source.paths, digests, source.digest)
        if faults := self.report().faults(self._max_bad_share, "pairs"):
            raise DataError("\n".join(faults))

    def report(self) -> ReadReport:
        """The account of the lines so far."""
        paths = " and ".join(path for source in self.sources for path in source.paths)
        return ReadReport(paths, self._read, self._used, self._left_out.drops())

"""Reads the texts of listwise examples as numbers of their words."""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from components.transform.settings import TransformSettings
from models.graphs import graph_function
from models.lists.mapped_rows import MappedRows, RowsFile
from models.lists.ranking_lists import TEXT_SPEC
from models.texts.stems import stems_of_distinct
from models.texts.word_counts import batches, distinct_words
from schemas import features as f
from schemas.cut_texts import CutReport, CutTexts
from schemas.domains import domains_to_train
from schemas.word_rules import WordRules

log = logging.getLogger("clir.data")


class NumberedTexts:
    """Distinct texts, each tokenised once, however many lists it is in.

    The numbers of their words are in a file: French Wikipedia's take half a gigabyte. All texts must be added before
    the numbers are read.

    Args:
      rules: what words are, and how many of a text count.

    Attributes:
      cut: the numbers of texts and words, and of those beyond the limit.
    """

    def __init__(self, rules: WordRules) -> None:
        self._rules = rules
        self.cut = CutTexts()
        self._rows: dict[bytes, int] = {}
        """A text's digest to its row."""
        self._number: dict[bytes, int] = {}
        self._file = RowsFile()

    @property
    def words(self) -> list[bytes]:
        """The distinct words of all texts, by their numbers."""
        return list(self._number)

    def rows(self, texts: Sequence[bytes]) -> npt.NDArray[np.int32]:
        """Adds the new texts, and returns the row of each text: int32 [texts]."""
        digests = [hashlib.blake2b(text, digest_size=16).digest() for text in texts]
        new = []
        for digest, text in zip(digests, texts, strict=True):
            if digest not in self._rows:
                self._rows[digest] = len(self._rows)
                new.append(text)
        distinct = distinct_words(new, self._rules)
        self.cut = CutTexts.sum([self.cut, distinct.cut])
        numbers = np.array([self._number.setdefault(word, len(self._number)) for word in distinct.words], np.int32)
        self._file.add(numbers[distinct.indices], np.diff(distinct.row_splits))
        return np.array([self._rows[digest] for digest in digests], np.int32)

    @cached_property
    def _numbers(self) -> MappedRows:
        return self._file.mapped()

    def counts(self, texts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Counts each word in texts, which may repeat: rows int32 [texts] -> int64 [words]."""
        times = np.bincount(texts, minlength=len(self._rows))
        counts = np.zeros(len(self._number), np.int64)
        for numbers, lengths in self._numbers.blocks():
            block_times, times = np.split(times, [len(lengths)])
            # Sums of whole numbers below 2^53 are exact in float64, in which NumPy counts.
            counts += np.bincount(numbers, np.repeat(block_times, lengths), len(counts)).astype(np.int64)
        return counts

    def ids(self, word_ids: npt.NDArray[np.int32]) -> MappedRows:
        """Returns the texts' ids, also in a file, from the id of each word, int32 [words]; leaves out ids below 0."""
        file = RowsFile()
        for numbers, lengths in self._numbers.blocks():
            ids = word_ids[numbers]
            is_known = ids >= 0
            known_before = np.concatenate([[0], np.cumsum(is_known)])
            file.add(ids[is_known], np.diff(known_before[np.concatenate([[0], np.cumsum(lengths)])]))
        return file.mapped()


LISTS_OF_A_BATCH: Final = 256
"""Number of lists read at a time: 80 MB of words of French Wikipedia."""
_WORDS: Final = 1 << 16
"""Number of words stemmed at a time."""
_VOCABULARY_OF: Final = {f.QUERY_TEXT: f.QUERY_VOCABULARY, f.DOC_TEXT: f.DOCUMENT_VOCABULARY}

Rows: TypeAlias = npt.NDArray[np.int32]
"""The rows of a file's texts among the distinct ones, list by list."""


class NumberedLists(NamedTuple):
    """Lists as numbered texts.

    Attributes:
      texts: feature of the queries or of the documents to their texts.
      rows: file to feature to the rows of the texts in its lists.
      counted: like `rows`, without the lists of held-out domains, whose words do not count.
      terms: vocabulary to the feature of its texts, and to the term of each of their words: the word itself, or its
        stem, empty for a word without a stem.
      cut: how much the limit on words cuts from the distinct texts.
    """

    texts: Mapping[str, NumberedTexts]
    rows: Mapping[str, Mapping[str, Rows]]
    counted: Mapping[str, Mapping[str, Rows]]
    terms: Mapping[str, tuple[str, list[bytes]]]
    cut: CutReport


def number_lists(files: Iterable[str], settings: TransformSettings) -> NumberedLists:
    """Reads gzipped TFRecords of listwise examples, numbers their texts, and logs what share of them is cut."""
    texts = {name: NumberedTexts(settings.rules) for name in _VOCABULARY_OF}
    domains = domains_to_train(settings.held_out)

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(examples: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, dict[str, tf.Tensor]]:
        parsed = tf.io.parse_example(examples, {name: TEXT_SPEC[name] for name in (f.QUERY_DOMAIN, *texts)})
        flat = {f.QUERY_TEXT: parsed[f.QUERY_TEXT], f.DOC_TEXT: parsed[f.DOC_TEXT].values}
        return parsed[f.QUERY_DOMAIN], parsed[f.DOC_TEXT].row_lengths(), flat

    def read(file: str) -> tuple[dict[str, Rows], dict[str, Rows]]:
        parts: dict[str, list[Rows]] = {name: [np.zeros(0, np.int32)] for name in texts}
        kept: dict[str, list[npt.NDArray[np.bool_]]] = {name: [np.zeros(0, bool)] for name in texts}
        for names, sizes, batch in tf.data.TFRecordDataset(file, "GZIP").batch(LISTS_OF_A_BATCH).map(parse):
            count = np.array([domains.keeps(name) for name in names.numpy().tolist()])
            kept[f.QUERY_TEXT].append(count)
            kept[f.DOC_TEXT].append(np.repeat(count, sizes))
            for name, column in batch.items():
                parts[name].append(texts[name].rows(column.numpy().tolist()))
        rows = {name: np.concatenate(name_parts) for name, name_parts in parts.items()}
        return rows, {name: name_rows[np.concatenate(kept[name])] for name, name_rows in rows.items()}

    read_files = {file: read(file) for file in files}
    query_cut, document_cut = (texts[name].cut for name in (f.QUERY_TEXT, f.DOC_TEXT))
    report = CutReport(limit=settings.rules.max_tokens, queries=query_cut, documents=document_cut)
    for noun, cut in report.sides.items():
        if cut.cut_texts:
            log.log(logging.WARNING if cut.is_much else logging.INFO, cut.sentence(noun, report.limit))
    terms = {}
    for name, vocabulary in _VOCABULARY_OF.items():
        words = texts[name].words
        terms[vocabulary] = name, words
        stem_vocabulary = f.STEMS_OF_VOCABULARY[vocabulary]
        if language := settings.stem_languages.get(stem_vocabulary):
            stems = (stems_of_distinct(tf.constant(batch), language) for batch in batches(words, _WORDS))
            terms[stem_vocabulary] = name, [stem for batch in stems for stem in batch.numpy().tolist()]
    rows, counted = ({file: both[which] for file, both in read_files.items()} for which in (0, 1))
    return NumberedLists(texts, rows, counted, terms, report)

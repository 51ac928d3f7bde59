"""Pre-trained word vectors of a language, for the words of our tokenisation."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO, Final, cast

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.settings import WordTableSource
from models.texts.tokens import tokenize
from models.texts.word_counts import batches
from schemas import file_system
from schemas.byte_streams import HashingReader, check_content
from schemas.drops import Drop, DropCounter, ReadReport
from schemas.errors import DataError
from schemas.wikiclir import excerpt_of
from schemas.word_rules import WordRules
from schemas.word_vectors import VectorReason, WordVector, parse_word_vectors

_BATCH: Final = 4096


@dataclass(frozen=True)
class WordTable:
    """The normalised words of a table, the most frequent first, and their vectors.

    Attributes:
      words: distinct words, each a single token.
      vectors: float32 [words, width].
      report: the account of the entries.
    """

    words: list[str]
    vectors: npt.NDArray[np.float32]
    report: ReadReport


@lru_cache(maxsize=2)
def read_word_table(source: WordTableSource) -> WordTable:
    """Reads the first `most_words` usable words of a table, once per process.

    A word is left out if our tokenisation splits or drops it. Among words that become equal, the first, most frequent
    one is kept.

    Raises:
      DataError: see `parse_word_vectors`; or too many entries are bad, no word is usable, or the file has changed.
    """
    with file_system.open_file(source.path, "rb") as stored:
        stream = HashingReader(stored)
        table = _read(source, parse_word_vectors(cast(BinaryIO, stream), source.path, source.width))
        check_content("embeddings", [source.path], [stream.hexdigest()], source.sha256 or None)
    return table


def _read(source: WordTableSource, entries: Iterator[WordVector | Drop]) -> WordTable:
    rows: dict[str, int] = {}
    vectors = []
    left_out = DropCounter()
    read = 0
    for entry, tokens in _tokenized(entries, WordRules(segmented=source.segmented)):
        read += 1
        if isinstance(entry, WordVector):
            reason = _drop_reason(tokens, rows)
            if reason is None:
                rows[tokens[0]] = len(rows)
                vectors.append(entry.vector)
                if len(rows) == source.most_words:
                    break
                continue
            entry = Drop(reason, source.path, entry.line, excerpt_of(entry.word))
        left_out.add(entry)
    report = ReadReport(source.path, read, len(rows), left_out.drops())
    _check(report, source.max_bad_share)
    return WordTable(list(rows), np.array(vectors), report)


def _tokenized(entries: Iterator[WordVector | Drop], rules: WordRules) -> Iterator[tuple[WordVector | Drop, list[str]]]:
    """Yields each entry with the tokens of its word; a drop has none."""
    for batch in batches(entries, _BATCH):
        with tf.init_scope():  # Transform calls this while it traces a graph
            texts = [entry.word if isinstance(entry, WordVector) else "" for entry in batch]
            tokens = tokenize(tf.constant(texts), rules).to_list()
        yield from zip(batch, ([token.decode() for token in row] for row in tokens), strict=True)


def _drop_reason(tokens: list[str], rows: dict[str, int]) -> VectorReason | None:
    """The reason why a word with these tokens is left out, or None."""
    if len(tokens) != 1:
        return VectorReason.SEVERAL_TOKENS if tokens else VectorReason.NO_TOKEN
    return VectorReason.DUPLICATE if tokens[0] in rows else None


def _check(report: ReadReport, max_bad_share: float) -> None:
    """Refuses a table with too many bad entries, or without a usable word."""
    faults = report.faults(max_bad_share, "entries")
    if not report.used:
        faults = [f"{report.path}: {report.bad:,} of {report.read:,} entries are bad, and no word can be used:"]
        faults += [line for drops in report.drops for line in drops.lines()]
    if faults:
        raise DataError("\n".join(faults))

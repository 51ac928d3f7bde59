"""Counts the words of many texts by numbers of distinct words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import tensorflow as tf
from scipy import sparse

from models.lists.mapped_rows import joined_ranges
from models.texts.tokens import ALL_WORDS, tokenize, word_parts
from schemas.collection import RawText
from schemas.cut_texts import CutTexts
from schemas.word_characters import PARTS
from schemas.word_rules import WordRules

_LENGTH: Final = 1 << 24
"""The total length of a batch of texts, which takes about 150 MB to count. Larger batches tokenise fewer words
twice."""
_CHARACTERS: Final = 1 << 29
"""Number of characters that take at most 2 GiB, so that offsets fit into 32 bits, which is a tenth faster."""

_Item = TypeVar("_Item")


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yields items in lists of a size; the last may be shorter.

    Example:
      >>> list(batches("abc", 2))
      [['a', 'b'], ['c']]
    """
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def text_batches(texts: Iterable[RawText]) -> Iterator[list[RawText]]:
    """Yields texts in lists, each of which ends with the text that reaches the length of a batch."""
    batch: list[RawText] = []
    length = 0
    for text in texts:
        batch.append(text)
        length += len(text)
        if length >= _LENGTH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


class DistinctWords(NamedTuple):
    """The words of texts as numbers of distinct words.

    Attributes:
      words: the distinct words in the order of their first occurrence, UTF-8: [distinct].
      indices: the words of all texts, as indices into `words`: int32 [words].
      row_splits: the first word of each text, and the end of the last: int64 [texts + 1].
      whole_lengths: the number of words in each text, with those beyond a limit: int64 [texts].
    """

    words: list[bytes]
    indices: npt.NDArray[np.int32]
    row_splits: npt.NDArray[np.int64]
    whole_lengths: npt.NDArray[np.int64]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of words in each text, up to a limit: int64 [texts]."""
        return np.diff(self.row_splits)

    @property
    def cut(self) -> CutTexts:
        """The numbers of texts and words, and of those beyond a limit."""
        words, cut = int(self.whole_lengths.sum()), self.whole_lengths - self.lengths
        return CutTexts(texts=len(cut), cut_texts=int((cut > 0).sum()), words=words, cut_words=int(cut.sum()))

    def counts(self, columns: npt.NDArray[np.int32], width: int) -> sparse.csr_matrix:
        """Counts words in each text.

        Args:
          columns: the column in which each distinct word is counted, -1 for none: int32 [distinct].
          width: the number of columns.

        Returns:
          int32 [texts, width], the entries of each row sorted by column.

        Example:
          >>> distinct_words(["Un loup est un loup"]).counts(np.array([-1, 0, 1], np.int32), 2).toarray().tolist()
          [[2, 1]]
        """
        column = columns[self.indices]
        is_counted = column >= 0
        rows = _splits(is_counted)[self.row_splits]
        counts = sparse.csr_matrix(
            (np.ones(rows[-1], np.int32), column[is_counted], rows), shape=(len(self.row_splits) - 1, width)
        )
        counts.sum_duplicates()
        return counts


def distinct_words(texts: Sequence[bytes | str], rules: WordRules = ALL_WORDS) -> DistinctWords:
    """The words of texts, see `models.texts.tokens.tokenize`.

    Tokenises each distinct piece between spaces once, because its words do not depend on its neighbours.

    Example:
      >>> distinct = distinct_words(["Un loup est un loup"])
      >>> distinct.words, distinct.indices.tolist(), distinct.row_splits.tolist()
      ([b'un', b'loup', b'est'], [0, 1, 2, 0, 1], [0, 5])
    """
    binary = pa.binary() if sum(map(len, texts)) <= _CHARACTERS else pa.large_binary()
    pieces = pc.split_pattern(pa.array(texts, binary), pattern=b" ")
    distinct_pieces = pieces.flatten().dictionary_encode()
    every_piece = tf.constant(distinct_pieces.dictionary.to_numpy(zero_copy_only=False), tf.string)
    words = tokenize(every_piece, WordRules(segmented=rules.segmented))
    distinct, index = tf.unique(words.flat_values)
    indices, row_splits = _words_of_texts(
        distinct_pieces.indices.to_numpy(),
        pieces.offsets.to_numpy().astype(np.int64),
        index.numpy(),
        words.row_splits.numpy(),
    )
    starts, lengths = row_splits[:-1], np.diff(row_splits)
    whole_lengths = lengths
    if rules.max_tokens < whole_lengths.max(initial=0):
        lengths = _within_limit(word_parts(distinct, rules).numpy()[indices], row_splits, rules.max_tokens)
    if (lengths < whole_lengths).any():
        # The order of first occurrences changes for words that first occur beyond the limit.
        left, index = tf.unique(indices[joined_ranges(starts, lengths)])
        distinct, indices, row_splits = tf.gather(distinct, left), index.numpy(), _splits(lengths)
    return DistinctWords(distinct.numpy().tolist(), indices, row_splits, whole_lengths)


def _within_limit(
    parts: npt.NDArray[np.int64], row_splits: npt.NDArray[np.int64], max_tokens: int
) -> npt.NDArray[np.int64]:
    """The number of each text's words that begin within a limit, see `models.texts.tokens.word_parts`: int64 [texts].

    Args:
      parts: the parts that each word counts: int64 [words].
      row_splits: the first word of each text, and the end of the last: int64 [texts + 1].
      max_tokens: the limit, in words.
    """
    before = np.cumsum(parts) - parts
    first = np.append(before, 0)[row_splits[:-1]]
    is_within = before - np.repeat(first, np.diff(row_splits)) < PARTS * max_tokens
    return np.diff(_splits(is_within)[row_splits])


def _words_of_texts(
    pieces: npt.NDArray[np.int32],
    text_splits: npt.NDArray[np.int64],
    words: npt.NDArray[np.int32],
    piece_splits: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The words of texts from the words of their pieces.

    Args:
      pieces: the pieces of all texts: int32 [pieces].
      text_splits: the first piece of each text, and the end of the last: int64 [texts + 1].
      words: the words of all distinct pieces: int32 [words].
      piece_splits: the first word of each distinct piece, and the end of the last: int64 [distinct pieces + 1].

    Returns:
      `DistinctWords.indices` and `DistinctWords.row_splits`.
    """
    sizes = np.diff(piece_splits).astype(np.int32)
    first = np.append(words, np.int32(-1))[piece_splits[:-1]]
    if (sizes == 1).all():
        return first[pieces], text_splits
    # Nearly all pieces are a single word, which is copied; only pieces of several words need the slower ranges.
    lengths = sizes[pieces]
    ends = np.cumsum(lengths, dtype=np.int64)
    joined = np.repeat(first[pieces], lengths)
    longer = np.flatnonzero(lengths > 1)
    joined[joined_ranges(ends[longer] - lengths[longer], lengths[longer])] = words[
        joined_ranges(piece_splits[pieces[longer]], lengths[longer])
    ]
    return joined, np.concatenate([[0], ends])[text_splits]


def _splits(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The start of each row, and the end of the last: [rows] -> int64 [rows + 1]."""
    return np.concatenate([[0], np.cumsum(lengths)])

"""Counts the words of many texts: each distinct word is a number."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import tensorflow as tf

from models.texts.tokens import tokenize
from schemas.collection import RawText as Text

_Item = TypeVar("_Item")


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Items in lists of one size; the last may be shorter.

    Example:
      >>> list(batches("abc", 2))
      [['a', 'b'], ['c']]
    """
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def joined_ranges(starts: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The numbers of ranges, one range after the other.

    Example:
      >>> joined_ranges(np.array([7, 2]), np.array([2, 3])).tolist()
      [7, 8, 2, 3, 4]
    """
    before = np.cumsum(lengths) - lengths
    numbers: npt.NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
    return numbers


_LENGTH: Final = 1 << 24
"""Of the texts of a batch: some 150 MB with all that is made of them. The larger it is, the fewer words come anew."""


def text_batches(texts: Iterable[Text]) -> Iterator[list[Text]]:
    """Texts in lists, each of which ends with the text that fills it."""
    batch: list[Text] = []
    length = 0
    for text in texts:
        batch.append(text)
        length += len(text)
        if length >= _LENGTH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


_CHARACTERS: Final = 1 << 29
"""Of texts that surely take no more than 2 GiB: numbers of 32 bits, a tenth faster, tell where their pieces begin."""


class DistinctWords(NamedTuple):
    """The words of some texts: most stand in them more than once, and numbers are cheaper than strings.

    Attributes:
      words: each once, in the order in which they come first: UTF-8, [distinct].
      places: of each text's words among those: int32 [words].
      row_splits: where each text's places begin, and the end of the last: int64 [texts + 1].
    """

    words: list[bytes]
    places: npt.NDArray[np.int32]
    row_splits: npt.NDArray[np.int64]

    @property
    def texts(self) -> npt.NDArray[np.int64]:
        """The text of each of `places`: int64 [words]."""
        return np.repeat(np.arange(len(self.row_splits) - 1), np.diff(self.row_splits))


def distinct_words(texts: Sequence[bytes | str], max_tokens: int | None = None) -> DistinctWords:
    """The words of texts, see `models.texts.tokens.tokenize`.

    A space parts words whatever stands beside it, and what lies between two has the same words in every text: each
    distinct piece between spaces is tokenised once.

    Example:
      >>> found = distinct_words(["Un loup est un loup"])
      >>> found.words, found.places.tolist(), found.row_splits.tolist()
      ([b'un', b'loup', b'est'], [0, 1, 2, 0, 1], [0, 5])
    """
    binary = pa.binary() if sum(map(len, texts)) <= _CHARACTERS else pa.large_binary()
    pieces = pc.split_pattern(pa.array(texts, binary), pattern=b" ")
    distinct_pieces = pieces.flatten().dictionary_encode()
    words = tokenize(tf.constant(distinct_pieces.dictionary.to_numpy(zero_copy_only=False), tf.string))
    distinct, place = tf.unique(words.flat_values)
    places, row_splits = _places(
        distinct_pieces.indices.to_numpy(),
        pieces.offsets.to_numpy().astype(np.int64),
        place.numpy(),
        words.row_splits.numpy(),
    )
    starts, lengths = row_splits[:-1], np.diff(row_splits)
    if max_tokens is not None and (lengths > max_tokens).any():
        lengths = np.minimum(lengths, max_tokens)
        # What comes first now was perhaps behind a word that is cut off.
        left, place = tf.unique(places[joined_ranges(starts, lengths)])
        distinct, places, row_splits = tf.gather(distinct, left), place.numpy(), _sums(lengths)
    return DistinctWords(distinct.numpy().tolist(), places, row_splits)


def _places(
    piece: npt.NDArray[np.int32],
    text_splits: npt.NDArray[np.int64],
    place: npt.NDArray[np.int32],
    word_splits: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """`DistinctWords.places` and `row_splits`.

    Args:
      piece: the pieces of all texts.
      text_splits: where those of each text begin, and the end of the last.
      place: of the words of all distinct pieces.
      word_splits: where those of each distinct piece begin, and the end of the last.
    """
    sizes = np.diff(word_splits).astype(np.int32)
    first = np.append(place, np.int32(-1))[word_splits[:-1]]
    if (sizes == 1).all():
        return first[piece], text_splits
    # Nearly all are one word, and to copy a number is cheaper than to make a range of one.
    lengths = sizes[piece]
    ends = np.cumsum(lengths, dtype=np.int64)
    places = np.repeat(first[piece], lengths)
    more = np.flatnonzero(lengths > 1)
    places[joined_ranges(ends[more] - lengths[more], lengths[more])] = place[
        joined_ranges(word_splits[piece[more]], lengths[more])
    ]
    return places, np.concatenate([[0], ends])[text_splits]


def _sums(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where rows of such lengths begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(lengths)])


class WordCounts(NamedTuple):
    """The words that were found in some texts, an entry for each text and word."""

    texts: npt.NDArray[np.int64]
    """The places of the texts, int64 [entries]."""
    words: npt.NDArray[np.int64]
    """The places of the words, int64 [entries]."""
    counts: npt.NDArray[np.int64]
    """How often the text holds the word, int64 [entries]."""
    lengths: npt.NDArray[np.int64]
    """Tokens of each text, those that are not counted among them: int64 [texts]."""


class WordCounter:
    """Counts words as the model's tokens are made.

    Args:
      words: distinct.
      max_tokens: the model's limit on a text; None for none.

    Attributes:
      place: of each of the words.

    Example:
      >>> counted = WordCounter([b"loup", b"meute"])([b"Un loup est un loup"])
      >>> counted.words.tolist(), counted.counts.tolist(), counted.lengths.tolist()
      ([0], [2], [5])
    """

    def __init__(self, words: Sequence[bytes], max_tokens: int | None = None) -> None:
        self.place = {word: place for place, word in enumerate(words)}
        self._max_tokens = max_tokens

    def __call__(self, texts: Sequence[bytes | str]) -> WordCounts:
        """The words of some texts, by text."""
        found = distinct_words(texts, self._max_tokens)
        place_of_word = np.array([self.place.get(word, -1) for word in found.words], np.int64)
        places, size = place_of_word[found.places], max(len(self.place), 1)
        known = places >= 0
        keys, counts = np.unique(found.texts[known] * size + places[known], return_counts=True)
        return WordCounts(keys // size, keys % size, counts, np.diff(found.row_splits))

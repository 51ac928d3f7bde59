"""The words of texts as numbers, for what counts the words of many."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import tensorflow as tf

from models.joined_ranges import joined_ranges
from models.tokens import tokenize

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
    """The words of texts, see `models.tokens.tokenize`.

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

"""Splits texts whose words are already separated by white space, in every script."""

from typing import Final

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import kept_values
from models.texts.marks import ordered_marks, without_inner_marks
from schemas.word_characters import DOTTED, NONCHARACTERS

_BORDER: Final = rf"[\p{{Z}}\p{{Cc}}\x{{200B}}{NONCHARACTERS}]"
"""White space, the zero-width space, controls and noncharacters, some of which normalisation would drop."""
_BEFORE: Final = r"^[\p{P}\p{M}]+"
"""Punctuation and marks before a word."""
_BEHIND: Final = r"\p{P}+$"
_WORD: Final = r".*[\p{L}\p{N}].*"


def segmented_words(texts: tf.Tensor) -> tf.RaggedTensor:
    """The normalised words of texts, string [batch] -> [batch, (words)]; see `models.texts.tokens.tokenize`."""
    pieces = tf.strings.split(tf.strings.regex_replace(texts, _BORDER, " "))
    words = pieces.with_flat_values(_word_of(pieces.flat_values))
    return kept_values(words, words.flat_values != "")


def _word_of(pieces: tf.Tensor) -> tf.Tensor:
    """The word of each piece between two borders, or "" without letters and digits: string [pieces]."""
    words = tf_text.normalize_utf8(without_inner_marks(pieces), "NFKC")
    # Normalisation splits some characters, such as U+FDFA, by spaces, which are not borders in the text.
    words = tf_text.case_fold_utf8(tf.strings.regex_replace(words, _BORDER, ""))
    for dropped in (_BEFORE, _BEHIND):
        words = tf.strings.regex_replace(words, dropped, "")
    words = ordered_marks(tf.strings.regex_replace(words, DOTTED, r"\1"))
    return tf.where(tf.strings.regex_full_match(words, _WORD), words, "")


def segmented_words_with_offsets(text: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """The normalised words of a text, string [], and their offsets in its UTF-8, without punctuation around them.

    Returns:
      the words, the first byte of each, and the byte after its last: string, int64, int64 [words].
    """
    starts = tf.strings.unicode_decode_with_offsets(text, "UTF-8")[1]  # int64 [characters]
    ends = tf.concat([starts, [tf.cast(tf.strings.length(text), tf.int64)]], axis=0)[1:]
    characters = tf.strings.substr(text, starts, ends - starts)
    is_border = tf.strings.regex_full_match(characters, _BORDER)
    is_first = ~is_border & tf.concat([[True], is_border], axis=0)[:-1]
    inside = tf.where(~is_border)[:, 0]
    piece = tf.gather(tf.cumsum(tf.cast(is_first, tf.int32)) - 1, inside)  # int32 [characters of pieces]
    number = tf.reduce_sum(tf.cast(is_first, tf.int32))
    pieces = tf.strings.unsorted_segment_join(tf.gather(characters, inside), piece, number)
    words = _word_of(pieces)
    start = tf.math.unsorted_segment_min(tf.gather(starts, inside), piece, number)
    end = tf.math.unsorted_segment_max(tf.gather(ends, inside), piece, number)
    is_word = tf.where(words != "")[:, 0]
    columns = (words, start + _length(pieces, _BEFORE), end - _length(pieces, _BEHIND))
    return tuple(tf.gather(column, is_word) for column in columns)


def _length(pieces: tf.Tensor, pattern: str) -> tf.Tensor:
    """The number of bytes that a pattern matches in each piece: int64 [pieces]."""
    left = tf.strings.regex_replace(pieces, pattern, "")
    return tf.cast(tf.strings.length(pieces) - tf.strings.length(left), tf.int64)

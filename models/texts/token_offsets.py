"""The words of a text, and the offsets of each in it."""

from typing import Final, NamedTuple

import tensorflow as tf

from models.graphs import graph_function
from models.texts.segmented import segmented_words_with_offsets
from models.texts.tokens import ALL_WORDS, in_pairs, whole_words
from schemas.word_characters import IGNORED, WITHIN_WORDS
from schemas.word_rules import WordRules

_JOINS: Final = (
    r"[\p{M}"
    # Vowels and final consonants of Hangul, which join a syllable, with the compatible and half-width letters that NFKC
    # replaces by them; the half-width voicing marks of Katakana; the vowels of Thai and Lao that begin with a mark.
    r"\x{1160}-\x{11FF}\x{3133}\x{3135}\x{3136}\x{313A}-\x{313F}\x{314F}-\x{3164}\x{3167}-\x{316D}\x{316F}\x{3170}"
    r"\x{3182}\x{3183}\x{3187}-\x{318E}\x{FFA0}\x{FFA3}\x{FFA5}\x{FFA6}\x{FFAA}-\x{FFAF}\x{FFC2}-\x{FFDC}"
    r"\x{FF9E}\x{FF9F}\x{E33}\x{EB3}" + IGNORED + WITHIN_WORDS + "]"
)
"""Characters that may become one with the character before them."""
_JOINS_CLUSTER: Final = r"[\x{E32}\x{EB2}]"
"""Vowels of Thai and Lao; a mark behind one belongs before it (see `ordered_marks`)."""
_DOUBLED: Final = r"[\x{E40}\x{EC0}]"
"""Vowels of Thai and Lao that, written twice, become another vowel."""
_COENG: Final = "\u17d2"
"""The sign of Khmer that makes a mark of the next letter."""


class TokenOffsets(NamedTuple):
    """The words of a text and their offsets."""

    tokens: tf.Tensor
    """The words from `tokenize`, string [tokens]."""
    start: tf.Tensor
    """The first byte of each word in the text's UTF-8, int64 [tokens]; -1 for a word without offsets."""
    end: tf.Tensor
    """The byte after each word, int64 [tokens]; -1 for a word without offsets."""


def tokenize_with_offsets(text: tf.Tensor, rules: WordRules = ALL_WORDS) -> TokenOffsets:
    """Splits a text into normalised words, and finds the offsets of each in the original text.

    Normalisation keeps no offsets, so each character is normalised by itself. The joined words equal the joined
    remains of the characters, so counting the bytes of both gives the characters of each word. Characters that become
    one, such as a letter and its accent, are normalised together and share their offsets.

    Words are in order, do not overlap, and begin and end between characters. A word that begins inside the remains of a
    character, behind another word, has no offsets: NFKC replaces ½ by 1, a fraction slash and 2, and the 2 has none.
    No word would have offsets if the remains of the characters were not the words; no such text is known. Pairs of
    characters overlap: a pair's offsets are those of its first character, unless no pair follows.

    Args:
      text: string [], UTF-8.
      rules: whether the text is segmented; their limit on the words does not count.

    Example:
      >>> words = tokenize_with_offsets(tf.constant("L'Été 1½!"))
      >>> [word.decode() for word in words.tokens.numpy()], words.start.numpy().tolist(), words.end.numpy().tolist()
      (['l', 'été', '1', '1', '2'], [0, 2, 8, 9, -1], [1, 7, 9, 11, -1])
    """
    located: TokenOffsets = _tokens_with_offsets(text, rules.segmented)
    return located


@graph_function
def _tokens_with_offsets(text: tf.Tensor, segmented: bool) -> TokenOffsets:
    if segmented:
        return TokenOffsets(*segmented_words_with_offsets(text))
    words, is_spaced = whole_words(text[tf.newaxis])
    pairs = in_pairs(words)
    tokens, own = pairs.tokens.values, pairs.own  # string [tokens], both
    starts = tf.strings.unicode_decode_with_offsets(text, "UTF-8")[1]  # int64 [characters]
    ends = tf.concat([starts, [tf.cast(tf.strings.length(text), tf.int64)]], axis=0)[1:]
    characters, index = tf.unique(tf.strings.substr(text, starts, ends - starts))  # string [distinct], [characters]

    def match(pattern: str) -> tf.Tensor:
        return tf.gather(tf.strings.regex_full_match(characters, pattern), index)  # bool [characters]

    # Clusters of characters that may unite; then, in scripts without spaces, clusters of such clusters.
    texts = tf.gather(characters, index)  # string [characters]
    before = tf.concat([[""], texts], 0)[:-1]
    joins = match(_JOINS)
    joins_cluster = joins | match(_JOINS_CLUSTER) | (before == _COENG) | ((texts == before) & match(_DOUBLED))
    parts = _in_clusters(texts, _Parts(tf.gather(_remains(characters), index), starts, ends), joins)
    remains, starts, ends = tf.cond(is_spaced, lambda: parts, lambda: _in_clusters(texts, parts, joins_cluster))

    # The characters whose remains hold the first and the last byte of each word.
    size, token_size = tf.strings.length(remains), tf.strings.length(own)
    remains_up_to, tokens_up_to = tf.cumsum(size), tf.cumsum(token_size)
    before_token = tokens_up_to - token_size
    first, last = tf.searchsorted(remains_up_to, before_token, "right"), tf.searchsorted(remains_up_to, tokens_up_to)
    is_equal = tf.strings.reduce_join(remains) == tf.strings.reduce_join(own)
    first, last = tf.where(is_equal, first, 0), tf.where(is_equal, last, 0)  # int32 [tokens]
    is_located = is_equal & (tf.gather(remains_up_to - size, first) == before_token)
    none = tf.constant(-1, tf.int64)
    start, end = tf.gather(starts, first), tf.gather(ends, last)
    return TokenOffsets(tokens, tf.where(is_located, start, none), tf.where(is_located, end, none))


class _Parts(NamedTuple):
    """The normalised characters of a text."""

    remains: tf.Tensor
    """Each character's part of the words, string [characters]; of characters that become one, the first has all."""
    start: tf.Tensor
    """The first byte of each in the text, int64 [characters]."""
    end: tf.Tensor
    """The byte after the last one of each, int64 [characters]."""


def _in_clusters(texts: tf.Tensor, parts: _Parts, joins: tf.Tensor) -> _Parts:
    """The parts of characters, some of which become one with the character before them.

    Args:
      texts: the characters, string [characters].
      parts: the parts of each character by itself.
      joins: whether each may become one with the character before it, bool [characters].
    """
    is_first = ~joins | (tf.range(tf.size(texts)) == 0)
    cluster = tf.cumsum(tf.cast(is_first, tf.int32)) - 1  # int32 [characters]
    clusters = tf.reduce_sum(tf.cast(is_first, tf.int32))
    whole = _remains(tf.strings.unsorted_segment_join(texts, cluster, clusters))
    # The characters of a cluster that do not unite keep their own offsets.
    is_joined = tf.gather(whole != tf.strings.unsorted_segment_join(parts.remains, cluster, clusters), cluster)
    return _Parts(
        tf.where(is_joined, tf.where(is_first, tf.gather(whole, cluster), ""), parts.remains),
        tf.where(is_joined, tf.gather(tf.math.segment_min(parts.start, cluster), cluster), parts.start),
        tf.where(is_joined, tf.gather(tf.math.segment_max(parts.end, cluster), cluster), parts.end),
    )


@graph_function
def _remains(texts: tf.Tensor) -> tf.Tensor:
    """The words of each text, joined without spaces: string [texts]."""
    return tf.strings.reduce_join(whole_words(texts)[0].to_tensor(""), axis=1)

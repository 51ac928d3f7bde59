"""How a text becomes words: the same graph in Transform, in the exported model and in the lexical baseline."""

from typing import Final, NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function

# Scripts written without spaces: each character, with the marks that belong to it, is a word (U+30FC prolongs a kana).
# A run of digits is a word of its own, too.
_WORD = r"(\p{N}+|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}][\p{M}\x{30FC}]*)"
# Punctuation, symbols, controls and white space part words and are none themselves. Spaces need no replacing by spaces:
# as one range (of \p{Z}, all but U+0020) this is twice as fast as with \p{Z}.
_SEPARATORS = r"[\p{P}\p{S}\p{C}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}]+"


@graph_function
def tokenize(texts: tf.Tensor, max_tokens: int | None = None) -> tf.RaggedTensor:
    """Splits texts into normalised words.

    NFKC, case folding, punctuation dropped, split at white space and between letters and digits; scripts written
    without spaces are split by character.

    Args:
      texts: string [batch], UTF-8.
      max_tokens: keep only so many words of each text; None keeps all.

    Returns:
      string RaggedTensor [batch, (tokens)].

    Example:
      >>> [word.decode() for word in tokenize(tf.constant(["L'Été 2020: 北京"]))[0].numpy()]
      ['l', 'été', '2020', '北', '京']
    """
    # Folding may leave a text that is not NFKC any more.
    texts = tf_text.normalize_utf8(tf_text.case_fold_utf8(tf_text.normalize_utf8(texts, "NFKC")), "NFKC")
    texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, _SEPARATORS, " "), _WORD, r" \1 ")
    # Not tf-text's UnicodeScriptTokenizer, which would do the same after these two: its graph is 35 times as large.
    words = tf.strings.split(texts)
    return words if max_tokens is None else words[:, :max_tokens]


_JOINS: Final = (
    r"[\p{M}"
    # Vowels and final consonants of Hangul, which a syllable takes in, and the compatible and half-width letters that
    # NFKC takes for them; the half-width voicing marks of Katakana.
    r"\x{1160}-\x{11FF}\x{3133}\x{3135}\x{3136}\x{313A}-\x{313F}\x{314F}-\x{3164}\x{3167}-\x{316D}\x{316F}\x{3170}"
    r"\x{3182}\x{3183}\x{3187}-\x{318E}\x{FFA0}\x{FFA3}\x{FFA5}\x{FFA6}\x{FFAA}-\x{FFAF}\x{FFC2}-\x{FFDC}"
    r"\x{FF9E}\x{FF9F}"
    # What case folding drops, so that what comes after it meets what came before.
    r"\x{AD}\x{61C}\x{115F}\x{180E}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{FEFF}\x{FFF0}-\x{FFF8}"
    r"\x{1BCA0}-\x{1BCA3}\x{1D173}-\x{1D17A}\x{E0000}-\x{E0FFF}]"
)
"""Characters that may become one with what stands before them."""


class TokenOffsets(NamedTuple):
    """The words of a text, and where each stands."""

    tokens: tf.Tensor
    """string [tokens]: those of `models.texts.tokens.tokenize`."""
    start: tf.Tensor
    """int64 [tokens]: the word's first byte in the text's UTF-8; -1 where it has no place of its own."""
    end: tf.Tensor
    """int64 [tokens]: the byte after its last one; -1 likewise."""


@graph_function
def tokenize_with_offsets(text: tf.Tensor) -> TokenOffsets:
    """Splits a text into normalised words, and tells where in the text, as it was given, each of them stands.

    Normalisation leaves no offsets behind, so each character is normalised by itself. The words, one after the other,
    are what is left of the characters, one after the other: the bytes of both, counted up to each, tell whose is whose.
    Characters that become one, such as a letter and its accent, are normalised together and have one place.

    Places grow, do not overlap, and begin and end between characters. A word that begins within what a character, or
    several together, stand for, behind another word, has none: NFKC takes ½ for 1, a fraction slash and 2, and the 2
    has no place. No word has one if what is left of the characters is not the words; no text is known where that is so.

    Args:
      text: string [], UTF-8.

    Returns:
      See `TokenOffsets`.

    Example:
      >>> found = tokenize_with_offsets(tf.constant("L'Été 1½!"))
      >>> [word.decode() for word in found.tokens.numpy()], found.start.numpy().tolist(), found.end.numpy().tolist()
      (['l', 'été', '11', '2'], [0, 2, 8, -1], [1, 7, 11, -1])
    """
    tokens = tokenize(text[tf.newaxis]).values
    starts = tf.strings.unicode_decode_with_offsets(text, "UTF-8")[1]
    ends = tf.concat([starts, [tf.cast(tf.strings.length(text), tf.int64)]], axis=0)[1:]
    characters, place = tf.unique(tf.strings.substr(text, starts, ends - starts))
    # Clusters of what may become one.
    is_first = ~tf.gather(tf.strings.regex_full_match(characters, _JOINS), place) | (starts == 0)
    cluster = tf.cumsum(tf.cast(is_first, tf.int32)) - 1
    clusters = tf.reduce_sum(tf.cast(is_first, tf.int32))
    left = tf.gather(_left_of(characters), place)
    left_of_cluster = _left_of(_joined(tf.gather(characters, place), cluster, clusters))
    # Where they do not, each character keeps a place of its own.
    is_one = tf.gather(left_of_cluster != _joined(left, cluster, clusters), cluster)
    left = tf.where(is_one, tf.where(is_first, tf.gather(left_of_cluster, cluster), ""), left)
    starts = tf.where(is_one, tf.gather(tf.math.segment_min(starts, cluster), cluster), starts)
    ends = tf.where(is_one, tf.gather(tf.math.segment_max(ends, cluster), cluster), ends)

    size, token_size = tf.strings.length(left), tf.strings.length(tokens)
    left_up_to, tokens_up_to = tf.cumsum(size), tf.cumsum(token_size)
    before_token = tokens_up_to - token_size
    first, last = tf.searchsorted(left_up_to, before_token, "right"), tf.searchsorted(left_up_to, tokens_up_to)
    is_told = tf.strings.reduce_join(left) == tf.strings.reduce_join(tokens)
    first, last = (tf.where(is_told, one, 0) for one in (first, last))
    has_place = is_told & (tf.gather(left_up_to - size, first) == before_token)
    none = tf.constant(-1, tf.int64)
    return TokenOffsets(
        tokens, *(tf.where(has_place, one, none) for one in (tf.gather(starts, first), tf.gather(ends, last)))
    )


@graph_function
def _left_of(texts: tf.Tensor) -> tf.Tensor:
    """The words of each text, one after the other without spaces: string [texts]."""
    return tf.strings.reduce_join(tokenize(texts).to_tensor(""), axis=1)


def _joined(parts: tf.Tensor, whole: tf.Tensor, wholes: tf.Tensor) -> tf.Tensor:
    """What parts make, string [wholes]; parts of one follow one another."""
    return tf.strings.unsorted_segment_join(parts, whole, wholes)

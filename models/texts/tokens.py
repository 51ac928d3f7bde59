"""From a text to its words: one graph for Transform, the exported model and the lexical baseline."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function, kept_values
from models.texts.marks import MARKED, ordered_marks, without_inner_marks
from models.texts.segmented import segmented_words, segmented_words_with_offsets
from schemas.word_characters import (
    APOSTROPHE_LETTERS,
    DOTTED,
    HAN,
    IGNORED,
    KANA,
    NONCHARACTERS,
    NUMBERS_IN_SIGNS,
    PARTS,
    PARTS_OF_HAN,
    PARTS_OF_KANA,
    PARTS_OF_SYLLABIC,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    SYLLABIC,
    WITHIN_WORDS,
)
from schemas.word_rules import ALL, WordRules

ALL_WORDS: Final = WordRules()
"""The usual words, however many a text has."""


def _characters(scripts: Sequence[str]) -> str:
    """A pattern of one character with the marks that belong to it (U+30FC prolongs a kana)."""
    # Digits are words of their own, and a mark begins none: [^\P{x}\p{M}] is x without \p{M}, which RE2 cannot say
    # otherwise.
    letters = "|".join(rf"[^\P{{{script}}}\p{{M}}\p{{N}}]" for script in scripts)
    return rf"(?:{letters})[\p{{M}}\x{{30FC}}]*"


_PAIRED: Final = _characters((*KANA, *SYLLABIC))
# A run of digits is a word, and so is a character of Han. Runs of the other scripts without spaces come apart later.
_WORD: Final = rf"\p{{N}}+|{_characters(HAN)}|(?:{_characters(KANA)})+|(?:{_characters(SYLLABIC)})+"
_SPACED: Final = "[^" + "".join(rf"\p{{{script}}}" for script in (*HAN, *KANA, *SYLLABIC)) + "]*"
"""Texts without a character of these scripts."""
_END: Final = "\x1f"
"""Ends a character of a run. No word holds a control character."""
# Punctuation, symbols, controls, noncharacters (no \p{C} for RE2) and white space separate words and belong to none.
# The space itself is left out, since it is replaced by a space: a range without it (\p{Z} but U+0020) is twice as fast
# as \p{Z}.
_SEPARATOR: Final = (
    r"\p{P}\p{S}\p{C}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
    + APOSTROPHE_LETTERS
    + NONCHARACTERS
)
_SEPARATORS: Final = rf"(?:[{_SEPARATOR}]|(?:^| )\p{{M}})[ {_SEPARATOR}\p{{M}}]*"
"""Separators, and marks behind them or behind a space: no word begins with a mark."""

_PARTED: Final = rf"\x{{200B}}|([{SUPERSCRIPTS}]+|[{SUBSCRIPTS}]+|[{NUMBERS_IN_SIGNS}])"
"""Characters that part words before normalisation only: NFKC makes 102 of 10², and folding drops U+200B."""
_USUAL: Final = (
    rf"[^\x{{130}}\x{{200B}}\x{{307}}\x{{345}}\x{{37A}}\x{{1F80}}-\x{{1FFC}}"
    rf"{SUPERSCRIPTS}{SUBSCRIPTS}{NUMBERS_IN_SIGNS}{MARKED}]*"
)
"""Texts without these characters, which are nearly all texts."""

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
_DOUBLED: Final = r"[\x{E40}\x{EC0}]"
_COENG: Final = "\u17d2"
"""Characters behind which marks may stand that belong ahead of them (`ordered_marks`); that are one with a second; and
that make a mark of the letter behind them."""


def tokenize(texts: tf.Tensor, rules: WordRules = ALL_WORDS) -> tf.RaggedTensor:
    """Splits texts into normalised words.

    NFKC, case folding (İ becomes i), punctuation dropped. Words are split at white space, zero-width spaces,
    noncharacters and every form of the apostrophe, and between letters and digits; scripts written without spaces are
    split by character. A superscript or a fraction is a number of its own. Marks without a letter are dropped, and so
    are Armenian marks within words, and the characters that Unicode calls ignorable, such as soft hyphens and joiners.
    Spellings that no reader tells apart are one (see `models.texts.marks`).

    Scripts without spaces: a character of Han is a word. Of kana, Thai, Lao, Khmer and Burmese each two characters that
    stand together are a word, so that words overlap; a single one is a word.

    Segmented texts: NFKC and case folding. Words are split at white space, zero-width spaces and noncharacters
    alone. Punctuation at the ends of a word is dropped, and so is a word without a letter or a digit.

    Args:
      texts: string [batch], UTF-8.
      rules: whether texts are segmented, and the most words of a text that are kept, from its beginning. A character of
        Han and a pair of kana count for half a word, a pair of the other scripts without spaces for a third
        (`word_parts`); words of segmented texts are whole.

    Returns:
      string RaggedTensor [batch, (tokens)].

    Example:
      >>> [word.decode() for word in tokenize(tf.constant(["L'Été 2020: 北京 ひらがな"]))[0].numpy()]
      ['l', 'été', '2020', '北', '京', 'ひら', 'らが', 'がな']
    """
    return _tokens(texts, rules.max_tokens, rules.segmented)


@graph_function
def _tokens(texts: tf.Tensor, max_tokens: int, segmented: bool) -> tf.RaggedTensor:
    # TensorFlow traces a function once for equal numbers, but again for each object.
    if segmented:
        return segmented_words(texts)[:, :max_tokens]
    words, is_spaced = _whole_words(texts)
    if max_tokens == ALL:
        return _if_not(is_spaced, words, lambda: _in_pairs(words).tokens)
    rules = WordRules(max_tokens=max_tokens)
    return _if_not(is_spaced, words[:, :max_tokens], lambda: _first_words(_in_pairs(words).tokens, rules))


def word_parts(words: tf.Tensor, rules: WordRules) -> tf.Tensor:
    """How many sixths of a word each word from `tokenize` counts where a limit is counted: string [words] -> int64."""
    parts = tf.fill(tf.shape(words), tf.constant(PARTS, tf.int64))
    if rules.segmented:
        return parts
    for scripts, script_parts in ((HAN, PARTS_OF_HAN), (KANA, PARTS_OF_KANA), (SYLLABIC, PARTS_OF_SYLLABIC)):
        is_of_script = tf.strings.regex_full_match(words, f"{_characters(scripts)}.*")
        parts = tf.where(is_of_script, tf.constant(script_parts, tf.int64), parts)
    return parts


def within_limit(words: tf.RaggedTensor, rules: WordRules) -> tf.Tensor:
    """Whether each word begins within the limit on the words of its text.

    Args:
      words: string [batch, (words)], from `tokenize`.
      rules: with a limit.

    Returns:
      bool [flat words].
    """
    parts = word_parts(words.flat_values, rules)
    before = tf.cumsum(parts, exclusive=True)
    # A row without words has no first one.
    first = tf.gather(tf.concat([before, [0]], 0), words.row_splits[:-1])
    return before - tf.repeat(first, words.row_lengths()) < PARTS * rules.max_tokens


def _first_words(words: tf.RaggedTensor, rules: WordRules) -> tf.RaggedTensor:
    return kept_values(words, within_limit(words, rules))


def _whole_words(texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """The words of texts, with whole runs of scripts that are paired; and whether no text has a script without spaces.

    Args:
      texts: string [batch].

    Returns:
      string RaggedTensor [batch, (words)], and bool [].
    """
    # The few texts that need it pass the rules that cost an operation each. Folding also normalises (NFKC).
    unusual = tf.where(~tf.strings.regex_full_match(texts, _USUAL))
    texts = tf.tensor_scatter_nd_update(texts, unusual, _usual(tf.gather_nd(texts, unusual)))
    texts = tf_text.case_fold_utf8(texts)
    # Words before separators, which also take the marks behind digits.
    texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, _WORD, r" \0 "), _SEPARATORS, " ")
    # Not tf-text's UnicodeScriptTokenizer: its graph is 30 times as large as that of these lines.
    words = tf.strings.split(texts)
    is_spaced = tf.reduce_all(tf.strings.regex_full_match(texts, _SPACED))
    flat = words.flat_values
    return words.with_flat_values(tf.cond(is_spaced, lambda: flat, lambda: ordered_marks(flat))), is_spaced


class _Tokens(NamedTuple):
    """The words of texts, those of paired scripts in pairs."""

    tokens: tf.RaggedTensor
    """string [batch, (tokens)]."""
    own: tf.Tensor
    """The own part of each token: the first character of a pair whose second begins another pair, else the whole token;
    string [tokens]."""


def _in_pairs(words: tf.RaggedTensor) -> _Tokens:
    """Takes runs of paired scripts apart into overlapping pairs of characters.

    Args:
      words: string [batch, (words)], from `_whole_words`.
    """
    flat = words.flat_values
    is_run = tf.strings.regex_full_match(flat, f"{_PAIRED}.*")
    run = tf.where(is_run)[:, 0]  # int64 [runs]
    characters = _characters_of(tf.gather(flat, run))  # string [runs, (characters)]
    character, length = characters.flat_values, characters.row_lengths()
    following = tf.concat([character[1:], [""]], 0)[: tf.size(character)]
    position = tf.range(tf.size(character, tf.int64)) - tf.repeat(characters.row_splits[:-1], length)
    behind = tf.repeat(length, length) - 1 - position  # int64 [characters]: number of characters behind each
    pairs = tf.where(behind > 0, tf.strings.join([character, following]), character)
    own = tf.where(behind == 1, pairs, character)
    is_token = (behind > 0) | (position == 0)
    kept = tf.where(is_token)[:, 0]

    lengths = tf.tensor_scatter_nd_update(
        tf.ones(tf.shape(flat), tf.int64), run[:, tf.newaxis], tf.maximum(length - 1, 1)
    )  # int64 [words]: the number of tokens of each
    start = tf.cumsum(lengths, exclusive=True)
    token_rows = tf.gather(tf.repeat(tf.gather(start, run), length) + position, kept)
    whole_words = tf.where(~is_run)[:, 0]
    rows = [tf.cast(part, tf.int32) for part in (tf.gather(start, whole_words), token_rows)]

    def merged(run_tokens: tf.Tensor) -> tf.Tensor:
        return tf.dynamic_stitch(rows, [tf.gather(flat, whole_words), tf.gather(run_tokens, kept)])

    splits = tf.gather(tf.concat([start, [tf.reduce_sum(lengths)]], 0), words.row_splits)
    return _Tokens(tf.RaggedTensor.from_row_splits(merged(pairs), splits, validate=False), merged(own))


def _characters_of(runs: tf.Tensor) -> tf.RaggedTensor:
    """The characters of runs of paired scripts, with their marks: string [runs] -> [runs, (characters)]."""
    return tf.strings.split(tf.strings.regex_replace(runs, _PAIRED, rf"\0{_END}"), _END)[:, :-1]


@graph_function
def paired_characters(words: tf.Tensor) -> tf.RaggedTensor:
    """The two characters of each word that is a pair (see `tokenize`), with their marks; of other words none.

    Args:
      words: string [words], from `tokenize`, or their stems.

    Returns:
      string [words, (0 or 2)].

    Example:
      >>> [[part.decode() for part in two] for two in paired_characters(tf.constant(["ひら", "loup", "か"])).to_list()]
      [['ひ', 'ら'], [], []]
    """
    is_pair = tf.strings.regex_full_match(words, f"{_PAIRED}{_PAIRED}")
    return _characters_of(tf.where(is_pair, words, ""))


def _if_not(condition: tf.Tensor, words: tf.RaggedTensor, otherwise: Callable[[], tf.RaggedTensor]) -> tf.RaggedTensor:
    """Words; where the condition does not hold, the others."""

    def parts(ragged: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor]:
        return ragged.flat_values, ragged.row_splits

    values, splits = tf.cond(condition, lambda: parts(words), lambda: parts(otherwise()))
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def _usual(texts: tf.Tensor) -> tf.Tensor:
    """Texts with spaces around numbers in signs and for U+200B, without the dots of İ and marks within words."""
    texts = without_inner_marks(texts)
    # U+0345 is a mark, and folded a letter: its order among marks must be known before.
    texts = tf_text.normalize_utf8(tf.strings.regex_replace(texts, _PARTED, r" \1 "), "NFKC")
    return tf.strings.regex_replace(tf_text.case_fold_utf8(texts), DOTTED, r"\1")


class TokenOffsets(NamedTuple):
    """The words of a text and their offsets."""

    tokens: tf.Tensor
    """The words from `tokenize`, string [tokens]."""
    start: tf.Tensor
    """The first byte of each word in the text's UTF-8, int64 [tokens]; -1 for a word without offsets of its own."""
    end: tf.Tensor
    """The byte after the last one of each word, int64 [tokens]; -1 likewise."""


def tokenize_with_offsets(text: tf.Tensor, rules: WordRules = ALL_WORDS) -> TokenOffsets:
    """Splits a text into normalised words, and finds the offsets of each in the original text.

    Normalisation keeps no offsets, so each character is normalised by itself. The joined words equal the joined
    remains of the characters, so counting the bytes of both gives the characters of each word. Characters that become
    one, such as a letter and its accent, are normalised together and share their offsets.

    Words are in order, do not overlap, and begin and end between characters. A word that begins inside the remains of a
    character, behind another word, has no offsets: NFKC replaces ½ by 1, a fraction slash and 2, and the 2 has none.
    If the remains of the characters were not the words, no word would have offsets; no such text is known. A pair of
    characters shares its second one with the next pair, to which these offsets belong.

    Args:
      text: string [], UTF-8.
      rules: whether the text is segmented; all its words are found, however many count.

    Returns:
      See `TokenOffsets`.

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
    words, is_spaced = _whole_words(text[tf.newaxis])
    pairs = _in_pairs(words)
    tokens, own = pairs.tokens.values, pairs.own  # string [tokens], both
    starts = tf.strings.unicode_decode_with_offsets(text, "UTF-8")[1]  # int64 [characters]
    ends = tf.concat([starts, [tf.cast(tf.strings.length(text), tf.int64)]], axis=0)[1:]
    characters, index = tf.unique(tf.strings.substr(text, starts, ends - starts))  # string [distinct], [characters]

    # Clusters of characters that may become one; then, in scripts without spaces, clusters of such clusters.
    joins = tf.gather(tf.strings.regex_full_match(characters, _JOINS), index)
    joins_cluster = tf.gather(tf.strings.regex_full_match(characters, _JOINS_CLUSTER), index)
    texts = tf.gather(characters, index)  # string [characters]
    before = tf.concat([[""], texts], 0)[:-1]
    joins_cluster |= (before == _COENG) | (
        (texts == before) & tf.gather(tf.strings.regex_full_match(characters, _DOUBLED), index)
    )
    parts = _Parts(tf.gather(_remains(characters), index), starts, ends)
    parts = _in_clusters(texts, parts, joins)
    parts = _Parts(*tf.cond(is_spaced, lambda: parts, lambda: _in_clusters(texts, parts, joins | joins_cluster)))
    remains, starts, ends = parts

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
    """The normalised characters of a text, each with its first and last byte there."""

    remains: tf.Tensor
    """Its part of the words; "" for all but the first of those that become one: string [characters]."""
    start: tf.Tensor
    end: tf.Tensor


def _in_clusters(texts: tf.Tensor, parts: _Parts, joins: tf.Tensor) -> _Parts:
    """The parts of characters, of which some become one with the character before them.

    Args:
      texts: each character: string [characters].
      parts: what is left of each by itself.
      joins: whether it may become one with the character before it: bool [characters].
    """
    is_first = ~joins | (tf.range(tf.size(texts)) == 0)
    cluster = tf.cumsum(tf.cast(is_first, tf.int32)) - 1  # int32 [characters]
    clusters = tf.reduce_sum(tf.cast(is_first, tf.int32))
    whole = _remains(tf.strings.unsorted_segment_join(texts, cluster, clusters))
    # The characters of a cluster that do not become one keep their own offsets.
    is_joined = tf.gather(whole != tf.strings.unsorted_segment_join(parts.remains, cluster, clusters), cluster)
    return _Parts(
        tf.where(is_joined, tf.where(is_first, tf.gather(whole, cluster), ""), parts.remains),
        tf.where(is_joined, tf.gather(tf.math.segment_min(parts.start, cluster), cluster), parts.start),
        tf.where(is_joined, tf.gather(tf.math.segment_max(parts.end, cluster), cluster), parts.end),
    )


@graph_function
def _remains(texts: tf.Tensor) -> tf.Tensor:
    """The words of each text, joined without spaces: string [texts]."""
    return tf.strings.reduce_join(_whole_words(texts)[0].to_tensor(""), axis=1)

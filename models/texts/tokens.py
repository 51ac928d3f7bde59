"""Splits texts into words, in a graph that Transform, the exported model and the lexical baseline share."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function, kept_values
from models.texts.marks import MARKED, ordered_marks, without_inner_marks
from models.texts.segmented import segmented_words
from schemas.word_characters import (
    APOSTROPHE_LETTERS,
    DOTTED,
    HAN,
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
)
from schemas.word_rules import ALL, WordRules

ALL_WORDS: Final = WordRules()
"""The usual words, without a limit."""


def _characters(scripts: Sequence[str]) -> str:
    """A pattern of a character with its marks (U+30FC prolongs a kana)."""
    # Neither a mark nor a digit: [^\P{x}\p{M}] is RE2's only way to write x without \p{M}.
    letters = "|".join(rf"[^\P{{{script}}}\p{{M}}\p{{N}}]" for script in scripts)
    return rf"(?:{letters})[\p{{M}}\x{{30FC}}]*"


_PAIRED: Final = _characters((*KANA, *SYLLABIC))
# A run of digits and a character of Han are words. Runs of the other scripts without spaces are split later.
_WORD: Final = rf"\p{{N}}+|{_characters(HAN)}|(?:{_characters(KANA)})+|(?:{_characters(SYLLABIC)})+"
_SPACED: Final = "[^" + "".join(rf"\p{{{script}}}" for script in (*HAN, *KANA, *SYLLABIC)) + "]*"
"""Texts without a character of these scripts."""
_END: Final = "\x1f"
"""The end of a character in a run: a control character, which words never have."""
# Punctuation, symbols, controls, noncharacters (not \p{C} in RE2) and white space, except U+0020, which need not be
# replaced by a space: without it the pattern is twice as fast.
_SEPARATOR: Final = (
    r"\p{P}\p{S}\p{C}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
    + APOSTROPHE_LETTERS
    + NONCHARACTERS
)
_SEPARATORS: Final = rf"(?:[{_SEPARATOR}]|(?:^| )\p{{M}})[ {_SEPARATOR}\p{{M}}]*"
"""Separators, and marks after them or after a space, because words do not begin with marks."""

_PARTED: Final = rf"\x{{200B}}|([{SUPERSCRIPTS}]+|[{SUBSCRIPTS}]+|[{NUMBERS_IN_SIGNS}])"
"""Characters that must separate words before normalisation: NFKC turns 10² into 102, and folding drops U+200B."""
_USUAL: Final = (
    rf"[^\x{{130}}\x{{200B}}\x{{307}}\x{{345}}\x{{37A}}\x{{1F80}}-\x{{1FFC}}"
    rf"{SUPERSCRIPTS}{SUBSCRIPTS}{NUMBERS_IN_SIGNS}{MARKED}]*"
)
"""Texts without these characters, which are nearly all texts."""


def tokenize(texts: tf.Tensor, rules: WordRules = ALL_WORDS) -> tf.RaggedTensor:
    """Splits texts into normalised words.

    NFKC, case folding (İ becomes i), punctuation dropped. Words are split at white space, zero-width spaces,
    noncharacters and every form of the apostrophe, and between letters and digits; scripts written without spaces are
    split by character. A superscript or a fraction is a number of its own. Three kinds of characters are dropped: marks
    without a letter, Armenian marks within words, and what Unicode calls ignorable, such as soft hyphens and joiners.
    Spellings that no reader tells apart are made equal (see `models.texts.marks`).

    Scripts without spaces: a character of Han is a word. In kana, Thai, Lao, Khmer and Burmese any two neighbouring
    characters are a word, so that words overlap; a character that stands alone is a word, too.

    Segmented texts: NFKC and case folding. Words are split at white space, zero-width spaces and noncharacters
    alone. Punctuation at the ends of a word is dropped, and so is a word without a letter or a digit.

    Args:
      texts: string [batch], UTF-8.
      rules: whether texts are segmented, and the largest number of words that are kept, from a text's beginning. A
        character of Han and a pair of kana count for half a word, a pair of the other scripts without spaces for a
        third (`word_parts`); words of segmented texts are whole.

    Returns:
      string RaggedTensor [batch, (tokens)].

    Example:
      >>> [word.decode() for word in tokenize(tf.constant(["L'Été 2020: 北京 ひらがな"]))[0].numpy()]
      ['l', 'été', '2020', '北', '京', 'ひら', 'らが', 'がな']
    """
    return _tokens(texts, rules.max_tokens, rules.segmented)


@graph_function
def _tokens(texts: tf.Tensor, max_tokens: int, segmented: bool) -> tf.RaggedTensor:
    # Takes numbers, because TensorFlow would trace it again for each `WordRules` object.
    if segmented:
        return segmented_words(texts)[:, :max_tokens]
    words, is_spaced = whole_words(texts)
    if max_tokens == ALL:
        return _if_not(is_spaced, words, lambda: in_pairs(words).tokens)
    rules = WordRules(max_tokens=max_tokens)

    def first_words() -> tf.RaggedTensor:
        tokens = in_pairs(words).tokens
        return kept_values(tokens, within_limit(tokens, rules))

    return _if_not(is_spaced, words[:, :max_tokens], first_words)


def word_parts(words: tf.Tensor, rules: WordRules) -> tf.Tensor:
    """The sixths that each word from `tokenize` counts toward a limit on words: string [words] -> int64 [words]."""
    parts = tf.fill(tf.shape(words), tf.constant(PARTS, tf.int64))
    if rules.segmented:
        return parts
    for scripts, script_parts in ((HAN, PARTS_OF_HAN), (KANA, PARTS_OF_KANA), (SYLLABIC, PARTS_OF_SYLLABIC)):
        is_of_script = tf.strings.regex_full_match(words, f"{_characters(scripts)}.*")
        parts = tf.where(is_of_script, tf.constant(script_parts, tf.int64), parts)
    return parts


def within_limit(words: tf.RaggedTensor, rules: WordRules) -> tf.Tensor:
    """Whether each word, string [batch, (words)] from `tokenize`, begins within its text's limit: bool [flat words]."""
    parts = word_parts(words.flat_values, rules)
    before = tf.cumsum(parts, exclusive=True)
    # An empty last row has no first word.
    first = tf.gather(tf.concat([before, [0]], 0), words.row_splits[:-1])
    return before - tf.repeat(first, words.row_lengths()) < PARTS * rules.max_tokens


def whole_words(texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """The words of texts, string [batch], before runs of paired scripts are taken apart.

    Returns:
      string RaggedTensor [batch, (words)]; and whether no text has a script without spaces, bool [].
    """
    # Only the few unusual texts pass through rules that cost an operation each. Folding also normalises (NFKC).
    unusual = tf.where(~tf.strings.regex_full_match(texts, _USUAL))
    texts = tf.tensor_scatter_nd_update(texts, unusual, _usual(tf.gather_nd(texts, unusual)))
    texts = tf_text.case_fold_utf8(texts)
    # Words come before separators, which also match the marks after digits.
    texts = tf.strings.regex_replace(tf.strings.regex_replace(texts, _WORD, r" \0 "), _SEPARATORS, " ")
    # Not tf-text's UnicodeScriptTokenizer: its graph is 30 times as large as that of these lines.
    words = tf.strings.split(texts)
    is_spaced = tf.reduce_all(tf.strings.regex_full_match(texts, _SPACED))
    flat = words.flat_values
    return words.with_flat_values(tf.cond(is_spaced, lambda: flat, lambda: ordered_marks(flat))), is_spaced


class Tokens(NamedTuple):
    """The words of texts, those of paired scripts in pairs."""

    tokens: tf.RaggedTensor
    """string [batch, (tokens)]."""
    own: tf.Tensor
    """string [tokens]: each token; of a pair whose second character begins another pair, only the first character."""


def in_pairs(words: tf.RaggedTensor) -> Tokens:
    """Splits runs of paired scripts into overlapping pairs of characters.

    Args:
      words: string [batch, (words)], from `whole_words`.
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
    return Tokens(tf.RaggedTensor.from_row_splits(merged(pairs), splits, validate=False), merged(own))


def _characters_of(runs: tf.Tensor) -> tf.RaggedTensor:
    """The characters of runs of paired scripts, with their marks: string [runs] -> [runs, (characters)]."""
    return tf.strings.split(tf.strings.regex_replace(runs, _PAIRED, rf"\0{_END}"), _END)[:, :-1]


@graph_function
def paired_characters(words: tf.Tensor) -> tf.RaggedTensor:
    """The two characters, with their marks, of each word that is a pair (see `tokenize`); of other words none.

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
    """Returns words if a condition holds, else the others."""

    def parts(ragged: tf.RaggedTensor) -> tuple[tf.Tensor, tf.Tensor]:
        return ragged.flat_values, ragged.row_splits

    values, splits = tf.cond(condition, lambda: parts(words), lambda: parts(otherwise()))
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def _usual(texts: tf.Tensor) -> tf.Tensor:
    """Separates numbers in signs, replaces U+200B by a space, and drops the dots of İ and marks within words."""
    texts = without_inner_marks(texts)
    # U+0345 is a mark that folding turns into a letter: marks must be sorted before.
    texts = tf_text.normalize_utf8(tf.strings.regex_replace(texts, _PARTED, r" \1 "), "NFKC")
    return tf.strings.regex_replace(tf_text.case_fold_utf8(texts), DOTTED, r"\1")

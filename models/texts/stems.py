"""From words to stems: the common part of the forms of a word, and of equal words in two languages."""

from collections.abc import Callable
from functools import partial
from typing import Final

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function, kept_values
from models.texts.spellings import BY_LANGUAGE, BY_SCRIPT, LATIN

_MARKS: Final = r"[\x{300}-\x{36F}]+"
"""The accents of Latin, Greek and Cyrillic letters. \\p{M} would also hold the vowels of Hindi, Tamil and Thai."""
_POINTS: Final = r"[\x{591}-\x{5BD}\x{5BF}\x{5C1}\x{5C2}\x{5C4}\x{5C5}\x{5C7}\x{640}\x{64B}-\x{652}\x{670}]+"
"""Hebrew points, Arabic harakat and tatweel, which most texts omit."""

_WHOLE: Final = r"\p{N}\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""The first characters of words that stay whole: numbers, and scripts without spaces (see `models.texts.tokens`)."""
_CUTS: Final = (r"(\p{Hangul}{2})[^ ]+", rf"([^ \p{{M}}{_WHOLE}][^ {_WHOLE}]{{4}})[^ ]+")
_CUT_SIGNS: Final = r"\p{P}+( |$)"
"""Punctuation that a cut has left at the end; only words of segmented texts hold any."""
_PLURAL: Final = r"(\p{Latin}{3})s+( |$)"
"""The last s of a short word, in all languages, so that equal names keep equal stems."""
_LONG: Final = ".{6,}"
"""The words that are respelled: short ones are seldom of the same origin, and would meet others."""
_DOUBLED: Final = ("bdghjlmnp", "rsvwxz")
"""Consonants of which two count as one, up to nine for one replacement; the others have rules of their own."""
_SPELLINGS: Final = {
    r"(?:(?:qu|[ckq])h*)+": "c",
    r"(?:p+h+|f)+": "f",
    r"t[th]+": "t",
    r"[iy]+": "i",
    **{
        "|".join(f"({letter}){letter}+" for letter in letters): "".join(
            rf"\{1 + number}" for number in range(len(letters))
        )
        for letters in _DOUBLED
    },
}
"""Spellings in which the languages of Europe write a word of the same origin: system, sistema; different, diferente."""
_ARABIC_PREFIXES: Final = r"(^| )(?:[وف]?[بك]?ال|و?لل)+(\p{Arabic}{3})"
"""The article, with the conjunctions and prepositions before it."""
_ARABIC_ENDINGS: Final = r"(\p{Arabic}{3})(?:ات|ون|ين|ها|ان|ه|ي)+( |$)"
"""Plurals, the feminine and possessives. Source of both: light10 (Larkey, Ballesteros and Connell 2007)."""

_MARKED_LANGUAGES: Final = ("vi",)
"""Languages whose accents distinguish unrelated words."""
_ARABIC_LANGUAGE: Final = "ar"


def stems(words: tf.RaggedTensor, language: str) -> tf.RaggedTensor:
    """The stem of each word: its first characters, without the marks in which writers and languages differ.

    A word is decomposed (NFKD); accents, Hebrew points, Arabic harakat and tatweel are dropped; Cyrillic, Greek and
    Devanagari letters, and Latin letters with a mark inside, are written in plain Latin, so that names are equal; all
    digits are written 0 to 9, and what writers of other scripts spell in several ways is spelled in one (see
    `models.texts.spellings`). Latin words of six letters or more lose differences of spelling (k, q, ck, ch and kh are
    c, ph is f, th is t, y is i, and of a double consonant one is left). The rest is composed again (NFC) and cut after
    five characters, or two syllables of Hangul. A last s falls off, and so do the article and the endings of an Arabic
    word, as long as three letters stay. Numbers and the words of scripts without spaces stay whole, and Vietnamese
    keeps its accents and spellings.

    Args:
      words: string [batch, (words)], from `models.texts.tokens.tokenize`.
      language: ISO 639-1 code.

    Returns:
      string [batch, (stems)], in the order of the words; a word of marks alone has no stem.

    Example:
      >>> words = tf.ragged.constant([["naïveté", "1984", "чехов", "한국어", "œuvre"]])
      >>> [stem.decode() for stem in stems(words, "fr")[0].numpy()]
      ['naive', '1984', 'cecov', '한국', 'oeuvr']
    """
    distinct, index = tf.unique(words.flat_values)
    word_stems = words.with_flat_values(tf.gather(stems_of_distinct(distinct, language), index))
    return kept_values(word_stems, word_stems.flat_values != "")


@graph_function
def stems_of_distinct(words: tf.Tensor, language: str) -> tf.Tensor:
    """The stem of each word, string [words]; a word of marks alone has an empty one. See `stems`."""
    # All words in one text: an operation for each word would cost more than its work.
    text = tf_text.normalize_utf8(tf.strings.reduce_join(words, separator=" "), "NFKD")
    for dropped in (_POINTS,) if language in _MARKED_LANGUAGES else (_MARKS, _POINTS):
        text = tf.strings.regex_replace(text, dropped, "")
    text = _replaced(text, {**BY_LANGUAGE.get(language, {}), **LATIN})
    # Most texts have no character of any table, and skip an operation for each.
    text = _if_any(text, "".join(BY_SCRIPT), _with_tables)
    text = tf.strings.regex_replace(text, _PLURAL, r"\1\2")
    if language not in _MARKED_LANGUAGES:
        text = _respelled(text)
    text = tf_text.normalize_utf8(text, "NFC")
    arabic = (_ARABIC_PREFIXES, _ARABIC_ENDINGS) if language == _ARABIC_LANGUAGE else ()
    for affix in arabic:
        text = tf.strings.regex_replace(text, affix, r"\1\2")
    for cut in _CUTS:
        text = tf.strings.regex_replace(text, cut, r"\1")
    text = tf.strings.regex_replace(text, _CUT_SIGNS, r"\1")
    # A cut may leave an ending that the word did not have; a stem shall be its own stem.
    for ending in (_PLURAL, *arabic[1:]):
        text = tf.strings.regex_replace(text, ending, r"\1\2")
    # Splitting at a separator keeps empty stems; no words at all still give one stem, which is cut off.
    return tf.strings.split(text[tf.newaxis], sep=" ")[0][: tf.size(words)]


def _respelled(text: tf.Tensor) -> tf.Tensor:
    """A text with its long words spelled as several languages do; each space parts two words."""

    def words_of(joined: tf.Tensor) -> tf.Tensor:
        return tf.strings.split(joined[tf.newaxis], sep=" ")[0]

    words = words_of(text)
    is_long = tf.strings.regex_full_match(words, _LONG)
    long = tf.strings.reduce_join(tf.where(is_long, words, ""), separator=" ")
    return tf.strings.reduce_join(tf.where(is_long, words_of(_replaced(long, _SPELLINGS)), words), separator=" ")


def _with_tables(text: tf.Tensor) -> tf.Tensor:
    for characters, letters in BY_SCRIPT.items():
        text = _if_any(text, characters, partial(_replaced, letters=letters))
    return text


def _if_any(text: tf.Tensor, characters: str, change: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
    """A text, changed if it holds one of the characters."""
    return tf.cond(tf.strings.regex_full_match(text, f"[^{characters}]*"), lambda: text, lambda: change(text))


def _replaced(text: tf.Tensor, letters: dict[str, str]) -> tf.Tensor:
    for letter, plain in letters.items():
        text = tf.strings.regex_replace(text, letter, plain)
    return text

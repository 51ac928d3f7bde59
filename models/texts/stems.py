"""From words to stems: the common part of the forms of a word, and of equal words in two languages."""

from typing import Final

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function, kept_values

_MARKS: Final = r"[\x{300}-\x{36F}]+"
"""The accents of Latin, Greek and Cyrillic letters. \\p{M} would also hold the vowels of Hindi, Tamil and Thai."""
_POINTS: Final = r"[\x{591}-\x{5BD}\x{5BF}\x{5C1}\x{5C2}\x{5C4}\x{5C5}\x{5C7}\x{64B}-\x{652}\x{670}]+"
"""Hebrew points and Arabic harakat, which most texts omit."""

_LATIN: Final = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"}
"""Latin letters that normalisation does not decompose."""
_CYRILLIC: Final = {
    # NFKD and the dropped accents have made и, е, і, у, г and к of й, ё, ї, ў, ѓ and ќ.
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ж": "zh", "з": "z", "и": "i", "к": "k", "л": "l",
    "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts",
    "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya",
    "і": "i", "є": "e", "ґ": "g", "ђ": "d", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz", "ѕ": "dz",
}  # fmt: skip
_NO_CYRILLIC: Final = f"[^{''.join(_CYRILLIC)}]*"
_WHOLE: Final = r"\p{N}\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""The first characters of words that stay whole: numbers, and scripts without spaces (see `models.texts.tokens`)."""
_CUTS: Final = (r"(\p{Hangul}{2})[^ ]+", rf"([^ \p{{M}}{_WHOLE}][^ {_WHOLE}]{{4}})[^ ]+")

_MARKED_LANGUAGES: Final = ("vi",)
"""Languages whose accents distinguish unrelated words."""


def stems(words: tf.RaggedTensor, language: str) -> tf.RaggedTensor:
    """The stem of each word: its first characters, without the marks in which writers and languages differ.

    A word is decomposed (NFKD); accents, Hebrew points and Arabic harakat are dropped; Cyrillic letters, and Latin
    letters with a mark inside, are written in plain Latin; the rest is composed again (NFC) and cut after five
    characters, or two syllables of Hangul. Numbers and the words of scripts without spaces stay whole, and Vietnamese
    keeps its accents.

    Args:
      words: string [batch, (words)], from `models.texts.tokens.tokenize`.
      language: ISO 639-1 code.

    Returns:
      string [batch, (stems)], in the order of the words; a word of marks alone has no stem.

    Example:
      >>> words = tf.ragged.constant([["naïveté", "1984", "чехов", "한국어", "œuvre"]])
      >>> [stem.decode() for stem in stems(words, "fr")[0].numpy()]
      ['naive', '1984', 'chekh', '한국', 'oeuvr']
    """
    distinct, place = tf.unique(words.flat_values)
    found = words.with_flat_values(tf.gather(stems_of_distinct(distinct, language), place))
    return kept_values(found, found.flat_values != "")


@graph_function
def stems_of_distinct(words: tf.Tensor, language: str) -> tf.Tensor:
    """The stem of each word, string [words]; a word of marks alone has an empty one. See `stems`."""
    # All words in one text: an operation for each word would cost more than its work.
    text = tf_text.normalize_utf8(tf.strings.reduce_join(words, separator=" "), "NFKD")
    for dropped in (_POINTS,) if language in _MARKED_LANGUAGES else (_MARKS, _POINTS):
        text = tf.strings.regex_replace(text, dropped, "")
    text = _replaced(text, _LATIN)
    # Most texts have no Cyrillic letter, and skip an operation for each.
    text = tf.cond(tf.strings.regex_full_match(text, _NO_CYRILLIC), lambda: text, lambda: _replaced(text, _CYRILLIC))
    text = tf_text.normalize_utf8(text, "NFC")
    for cut in _CUTS:
        text = tf.strings.regex_replace(text, cut, r"\1")
    # Splitting at a separator keeps empty stems in their places; no words at all still give one, which is cut off.
    return tf.strings.split(text[tf.newaxis], sep=" ")[0][: tf.size(words)]


def _replaced(text: tf.Tensor, letters: dict[str, str]) -> tf.Tensor:
    for letter, plain in letters.items():
        text = tf.strings.regex_replace(text, letter, plain)
    return text

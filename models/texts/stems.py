"""Stems of words: the common part of a word's forms, and of related words in several languages."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function, kept_values
from models.texts.spellings import BY_LANGUAGE, BY_SCRIPT, LATIN
from schemas.languages import codes_of

_MARKS: Final = r"[\x{300}-\x{36F}]+"
"""The accents of Latin, Greek and Cyrillic letters. \\p{M} would include the vowels of Hindi, Tamil and Thai."""
_POINTS: Final = r"[\x{591}-\x{5BD}\x{5BF}\x{5C1}\x{5C2}\x{5C4}\x{5C5}\x{5C7}\x{640}\x{64B}-\x{652}\x{670}]+"
"""Hebrew points, Arabic harakat and tatweel, which most texts omit."""

_WHOLE: Final = r"\p{N}\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""The first characters of words that stay whole: numbers, and scripts without spaces (see `models.texts.tokens`)."""
_CUTS: Final = (r"(\p{Hangul}{2})[^ ]+", rf"([^ \p{{M}}{_WHOLE}][^ {_WHOLE}]{{4}})[^ ]+")
_CUT_SIGNS: Final = r"\p{P}+( |$)"
"""Punctuation at the end of a cut word; only words of segmented texts have punctuation."""
_PLURAL: Final = r"(\p{Latin}{3})s+( |$)"
"""The last s of a short word, in all languages, so that equal names keep equal stems."""
_LONG: Final = r"[^\x{300}-\x{36F}]{6,}"
"""The words that are respelled. Short words are seldom of the same origin, and might collide with others. Words that
have kept accents are Vietnamese."""
_DOUBLED: Final = ("bdghjlmnp", "rsvwxz")
"""Consonants whose doubling is dropped, at most nine per replacement; the others have their own rules."""
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
"""Spellings that differ between European languages in words of the same origin: system, sistema; different,
diferente."""
_ARABIC_PREFIXES: Final = r"(^| )(?:[وف]?[بك]?ال|و?لل)+(\p{Arabic}{3})"
"""The article, with the conjunctions and prepositions before it."""
_ARABIC_ENDINGS: Final = r"(\p{Arabic}{3})(?:ات|ون|ين|ها|ان|ه|ي)+( |$)"
"""Plurals, the feminine and possessives. Source of both: light10 (Larkey, Ballesteros and Connell 2007)."""

_VIETNAMESE: Final = "vi"
"""The language whose accents distinguish unrelated words."""
_VIETNAMESE_WORD: Final = r".*(?:[\x{309}\x{31B}\x{323}đ]|[\x{302}\x{306}][\x{300}\x{301}\x{303}]).*"
"""A word with a letter of Vietnamese alone: a hook, a horn, a dot below, đ, or two accents on a vowel."""
_ARABIC: Final = "ar"


def stems(words: tf.RaggedTensor, language: str) -> tf.RaggedTensor:
    """The stem of each word: its first characters, without marks that differ between writers and languages.

    A word is decomposed (NFKD), and loses accents, Hebrew points, Arabic harakat and tatweel. Cyrillic, Greek and
    Devanagari letters, and Latin letters with a mark inside, become plain Latin, so that names are equal; all digits
    become 0 to 9, and variant spellings of other scripts are unified (see `models.texts.spellings`). Latin words of six
    or more letters lose differences of spelling (k, q, ck, ch and kh become c, ph f, th t, y i, and double consonants
    single). The result is composed (NFC) and cut after five characters, or two syllables of Hangul. A last s is
    removed, as are the article and the endings of an Arabic word, if three letters stay. Numbers and the words of
    scripts without spaces stay whole, and Vietnamese keeps its accents and spellings. Texts in several languages follow
    the rules of all of them, and Vietnamese is known by its letters, so that the language of a text need not be known.

    Args:
      words: string [batch, (words)], from `models.texts.tokens.tokenize`.
      language: ISO 639-1 code, or several joined ones (see `schemas.languages`).

    Returns:
      string [batch, (stems)], in the order of the words; a word of only marks has no stem.

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
    """The stem of each word, string [words]; empty for a word of only marks. See `stems`."""
    codes = codes_of(language)
    # All words are joined to a text, because an operation on each word has a large overhead.
    text = tf_text.normalize_utf8(tf.strings.reduce_join(words, separator=" "), "NFKD")
    text = _without_accents(text, codes)
    text = tf.strings.regex_replace(text, _POINTS, "")
    for code in codes:
        text = _replaced(text, BY_LANGUAGE.get(code, {}))
    text = _replaced(text, LATIN)
    # Most texts have no character of any table, and skip an operation for each.
    text = _if_any(text, "".join(BY_SCRIPT), _with_tables)
    text = tf.strings.regex_replace(text, _PLURAL, r"\1\2")
    if codes != (_VIETNAMESE,):
        text = _respelled(text)
    text = tf_text.normalize_utf8(text, "NFC")
    arabic = (_ARABIC_PREFIXES, _ARABIC_ENDINGS) if _ARABIC in codes else ()
    for affix in arabic:
        text = tf.strings.regex_replace(text, affix, r"\1\2")
    for cut in _CUTS:
        text = tf.strings.regex_replace(text, cut, r"\1")
    text = tf.strings.regex_replace(text, _CUT_SIGNS, r"\1")
    # A cut may create an ending; the stem of a stem must be itself.
    for ending in (_PLURAL, *arabic[1:]):
        text = tf.strings.regex_replace(text, ending, r"\1\2")
    # Splitting at a separator keeps empty stems; without words it gives a stem, which is cut off.
    return _split(text)[: tf.size(words)]


def _split(text: tf.Tensor) -> tf.Tensor:
    """The words between spaces, string [words]."""
    return tf.strings.split(text[tf.newaxis], sep=" ")[0]


def _without_accents(text: tf.Tensor, codes: Sequence[str]) -> tf.Tensor:
    """Drops the accents of a decomposed text; Vietnamese words keep them."""
    if codes == (_VIETNAMESE,):
        return text
    plain = tf.strings.regex_replace(text, _MARKS, "")
    if _VIETNAMESE not in codes:
        return plain
    words = _split(text)
    is_marked = tf.strings.regex_full_match(words, _VIETNAMESE_WORD)
    return tf.strings.reduce_join(tf.where(is_marked, words, _split(plain)), separator=" ")


def _respelled(text: tf.Tensor) -> tf.Tensor:
    """Unifies the spelling of a text's long words without accents; spaces separate words."""
    words = _split(text)
    is_long = tf.strings.regex_full_match(words, _LONG)
    long = tf.strings.reduce_join(tf.where(is_long, words, ""), separator=" ")
    return tf.strings.reduce_join(tf.where(is_long, _split(_replaced(long, _SPELLINGS)), words), separator=" ")


def _with_tables(text: tf.Tensor) -> tf.Tensor:
    for characters, letters in BY_SCRIPT.items():
        text = _if_any(text, characters, partial(_replaced, letters=letters))
    return text


def _if_any(text: tf.Tensor, characters: str, change: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
    """Changes a text if it has any of the characters."""
    return tf.cond(tf.strings.regex_full_match(text, f"[^{characters}]*"), lambda: text, lambda: change(text))


def _replaced(text: tf.Tensor, letters: dict[str, str]) -> tf.Tensor:
    for letter, plain in letters.items():
        text = tf.strings.regex_replace(text, letter, plain)
    return text

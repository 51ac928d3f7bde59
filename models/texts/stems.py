"""From words to stems: the common part of the forms of a word, and of equal words in two languages."""

from collections.abc import Callable
from functools import partial
from typing import Final

import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function, kept_values

_MARKS: Final = r"[\x{300}-\x{36F}]+"
"""The accents of Latin, Greek and Cyrillic letters. \\p{M} would also hold the vowels of Hindi, Tamil and Thai."""
_POINTS: Final = r"[\x{591}-\x{5BD}\x{5BF}\x{5C1}\x{5C2}\x{5C4}\x{5C5}\x{5C7}\x{640}\x{64B}-\x{652}\x{670}]+"
"""Hebrew points, Arabic harakat and tatweel, which most texts omit."""

_LATIN: Final = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"}
"""Latin letters that normalisation does not decompose."""
_CYRILLIC: Final = {
    # NFKD and the dropped accents have made и, е, і, у, г and к of й, ё, ї, ў, ѓ and ќ.
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ж": "zh", "з": "z", "и": "i", "к": "k", "л": "l",
    "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts",
    "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya",
    "і": "i", "є": "e", "ґ": "g", "ђ": "d", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz", "ѕ": "dz",
}  # fmt: skip
_GREEK: Final = {
    "ου": "ou", "μπ": "b", "ντ": "nt", "γκ": "g", "γγ": "ng", "αυ": "au", "ευ": "eu", "τσ": "ts", "τζ": "j",
    "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i", "κ": "k", "λ": "l",
    "μ": "m", "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "τ": "t", "υ": "y", "φ": "f", "χ": "ch",
    "ψ": "ps", "ω": "o",
}  # fmt: skip
_NAGARI: Final = {
    "क": "k", "ख": "kh", "ग": "g", "घ": "gh", "ङ": "n", "च": "ch", "छ": "chh", "ज": "j", "झ": "jh", "ञ": "n", "ट": "t",
    "ठ": "th", "ड": "d", "ढ": "dh", "ण": "n", "त": "t", "थ": "th", "द": "d", "ध": "dh", "न": "n", "प": "p", "फ": "ph",
    "ब": "b", "भ": "bh", "म": "m", "य": "y", "र": "r", "ल": "l", "व": "v", "श": "sh", "ष": "sh", "स": "s", "ह": "h",
    "ळ": "l",
}  # fmt: skip
_OPEN: Final = "\x01"
"""Stands behind a consonant of Devanagari until its vowel is known; no word holds a control character."""
_DEVANAGARI: Final = {
    **{letter: f"{plain}{_OPEN}" for letter, plain in _NAGARI.items()},
    # The dot below, which NFKD has parted from its letter.
    f"ph{_OPEN}\u093c": f"f{_OPEN}", f"j{_OPEN}\u093c": f"z{_OPEN}", f"d{_OPEN}\u093c": f"r{_OPEN}", "\u093c": "",
    f"{_OPEN}[\u094d\u0951-\u0954]": "",  # without a vowel
    f"{_OPEN}ा": "a", f"{_OPEN}[िी]": "i", f"{_OPEN}[ुू]": "u", f"{_OPEN}ृ": "ri", f"{_OPEN}[ेॅॆ]": "e",
    f"{_OPEN}ै": "ai", f"{_OPEN}[ोॉॊ]": "o", f"{_OPEN}ौ": "au",
    f"{_OPEN}( |$)": r"\1",  # Hindi does not speak the a at the end of a word
    _OPEN: "a",
    "[अआ]": "a", "[इई]": "i", "[उऊ]": "u", "ऋ": "ri", "[एऍ]": "e", "ऐ": "ai", "[ओऑ]": "o", "औ": "au",
    "[ंँ]": "n", "ः": "h",
}  # fmt: skip
_ARABIC: Final = {
    # NFKD has parted hamza and madda (U+0653 to U+0655) from their letters; those on waw and yeh come back with NFC.
    r"[\x{627}\x{671}][\x{653}-\x{655}]*": "\u0627",  # alef, wasla
    r"[\x{629}\x{6C1}\x{6C3}]": "\u0647",  # teh marbuta, heh goal, teh marbuta goal
    r"[\x{647}\x{6D5}][\x{653}-\x{655}]+": "\u0647",  # heh with the hamza of the Persian ezafe
    r"[\x{649}\x{6CC}\x{6D2}]": "\u064a",  # alef maksura, Farsi yeh, yeh barree
    r"\x{6A9}": "\u0643",  # keheh
}
"""Letters that Arabic, Persian and Urdu write differently. Source: Lucene's ArabicNormalizer and PersianNormalizer."""
_ZEROS: Final = """
    660 6F0 7C0 966 9E6 A66 AE6 B66 BE6 C66 CE6 D66 DE6 E50 ED0 F20 1040 1090 17E0 1810 1946 19D0 1A80 1A90 1B50 1BB0
    1C40 1C50 A620 A8D0 A900 A9D0 A9F0 AA50 ABF0 104A0 10D30 10D40 11066 110F0 11136 111D0 112F0 11450 114D0 11650 116C0
    116D0 116DA 11730 118E0 11950 11BF0 11C50 11D50 11DA0 11F50 16A60 16AC0 16B50 1CCF0 1E140 1E2F0 1E4F0 1E5F1 1E950
    1FBF0
"""
"""The zeros of scripts with digits of their own; 1 to 9 follow each. Source: category Nd of Unicode 16."""
_DIGITS: Final = {
    "[" + "".join(chr(int(zero, 16) + digit) for zero in _ZEROS.split()) + "]": str(digit) for digit in range(10)
}
_TABLES: Final = {
    "".join(_CYRILLIC): _CYRILLIC,
    r"\p{Greek}": _GREEK,
    r"\p{Devanagari}": _DEVANAGARI,
    r"\p{Arabic}": _ARABIC,
    "".join(digits.strip("[]") for digits in _DIGITS): _DIGITS,
}
"""Characters to the table that replaces some of them."""
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
            rf"\{1 + place}" for place in range(len(letters))
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
    Devanagari letters, and Latin letters with a mark inside, are written in plain Latin, so that names are equal;
    Latin words of six letters or more lose differences of spelling (k, q, ck, ch and kh are c, ph is f, th is t, y is
    i, and of a double consonant one is left), and Arabic letters those between writers and languages; all digits are
    written 0 to 9; the rest is composed again (NFC) and cut after five characters, or two syllables of Hangul. A last s
    falls off, and so do the article and the endings of an Arabic word, as long as three letters stay. Numbers and the
    words of scripts without spaces stay whole, and Vietnamese keeps its accents and spellings.

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
    # Most texts have no character of any table, and skip an operation for each.
    text = _if_any(text, "".join(_TABLES), _with_tables)
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
    # Splitting at a separator keeps empty stems in their places; no words at all still give one, which is cut off.
    return tf.strings.split(text[tf.newaxis], sep=" ")[0][: tf.size(words)]


def _respelled(text: tf.Tensor) -> tf.Tensor:
    """A text with its long words spelled as several languages do; each space parts two words."""

    def words_of(one: tf.Tensor) -> tf.Tensor:
        return tf.strings.split(one[tf.newaxis], sep=" ")[0]

    words = words_of(text)
    is_long = tf.strings.regex_full_match(words, _LONG)
    long = tf.strings.reduce_join(tf.where(is_long, words, ""), separator=" ")
    return tf.strings.reduce_join(tf.where(is_long, words_of(_replaced(long, _SPELLINGS)), words), separator=" ")


def _with_tables(text: tf.Tensor) -> tf.Tensor:
    for characters, letters in _TABLES.items():
        text = _if_any(text, characters, partial(_replaced, letters=letters))
    return text


def _if_any(text: tf.Tensor, characters: str, change: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
    """A text, changed if it holds one of the characters."""
    return tf.cond(tf.strings.regex_full_match(text, f"[^{characters}]*"), lambda: text, lambda: change(text))


def _replaced(text: tf.Tensor, letters: dict[str, str]) -> tf.Tensor:
    for letter, plain in letters.items():
        text = tf.strings.regex_replace(text, letter, plain)
    return text

"""Unifies marks that readers cannot distinguish and Unicode's normalisation leaves different."""

from typing import Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text as tf_text

from models.graphs import graph_function
from schemas.word_characters import WITHIN_WORDS

_JOINER: Final = "\u200d"
MARKED: Final = WITHIN_WORDS + _JOINER
"""The characters of texts that `without_inner_marks` may change."""

_VIRAMA: Final = r"\x{D4D}"
_OLD_LETTERS: Final = {
    f"ണ{_VIRAMA}": "ൺ", f"ന{_VIRAMA}": "ൻ", f"ര{_VIRAMA}": "ർ", f"ല{_VIRAMA}": "ൽ", f"ള{_VIRAMA}": "ൾ",
    f"ക{_VIRAMA}": "ൿ",  # Malayalam's chillus
    r"ত\x{9CD}": "ৎ",  # Bengali's khanda ta
}  # fmt: skip
"""From consonants without a vowel, which texts before Unicode 5.1 and 4.1 write with a joiner, to their letters.
Source: the Unicode Standard, sections 12.9 (Malayalam) and 12.2 (Bengali)."""


def without_inner_marks(texts: tf.Tensor) -> tf.Tensor:
    """Drops marks over words, and replaces old spellings of letters: string [texts] -> string [texts].

    Must come before case folding, which drops the joiner.
    """
    rows = tf.where(~tf.strings.regex_full_match(texts, f"[^{MARKED}]*"))
    return tf.tensor_scatter_nd_update(texts, rows, _without_inner_marks(tf.gather_nd(texts, rows)))


def _without_inner_marks(texts: tf.Tensor) -> tf.Tensor:
    texts = tf.strings.regex_replace(texts, f"[{WITHIN_WORDS}]", "")
    for spelling, letter in _OLD_LETTERS.items():
        texts = tf.strings.regex_replace(texts, spelling + _JOINER, letter)
    return texts


_ORDERS: Final = (
    # Thai and Lao: dots and vowels below, vowels above, tones, the sign of silence, nikhahit, and aa, which NFKC has
    # separated from nikhahit in am. Source: the Unicode Standard, section 16.1, and the combining classes of tones.
    "ฺ ุู ัิีึื็ ่้๊๋ ์๎ ํ า",
    "຺ຼ ຸູ ັິີຶືົ ່້໊໋ ໌ ໍ າ",
    # Khmer: robat, subscripts, subscript ro, shifters, vowels, signs. Source: Khmer Encoding Structure (UTN 61).
    "៌ \u17d2 \0 ៉៊ ាិីឹឺុូួើឿៀេែៃោៅ ំះៈ ់៍៎៏័៑៓៝",
    # Burmese, Mon, Karen and Shan: medials ya, ra, wa and ha; vowels before, above, below and behind; anusvara; the dot
    # below, which NFC puts ahead of asat; asat; tones. Source: UTN 11.
    "ျၞၟ ြ ွႂ ှၠ ေႄ ိီဲဳဴဵႅႆ ုူ ါာၢၣၤႃ ံ ့ ် းႇႈႉႊႋႌႍႏ",
)
"""The marks of a character of each script in `SYLLABIC`, in order, with spaces between marks of different ranks."""
_RANKS: Final = {mark: rank for order in _ORDERS for rank, marks in enumerate(order.split(), 1) for mark in marks}
_FIRST, _LAST = 0xE00, 0x17FF
"""The code points between which all of these marks lie."""
_COENG, _CONSONANTS, _RO = "\u17d2", "\u1780-\u17b3", "\u179a"
"""Khmer's sign that makes the next consonant a subscript; the consonants; and that whose subscript comes last."""
_SUBSCRIPT, _SUBSCRIPT_RO = _RANKS[_COENG], _RANKS["\0"]

_ALIKE: Final = {
    "เเ": "แ", "ເເ": "ແ",  # two e for ae: Unicode's confusables (UTS 39)
    "\u17d2ដ": "\u17d2ត",  # da and ta are one subscript: ICANN's label generation rules for Khmer
    "េី": "ើ", "េា": "ោ",  # a vowel in two parts: UTN 61
}  # fmt: skip
"""From characters to others that look the same."""


def _class(marks: str) -> str:
    return f"[{''.join(sorted(marks))}]"


def _out_of_order() -> str:
    """Returns a pattern that all texts with marks out of order match, and few others."""
    patterns = [*_ALIKE, f"{_COENG}{_RO}{_COENG}", f"{_COENG}[{_CONSONANTS}]៌"]
    for order in _ORDERS:
        ranks = order.replace("\0 ", "").split()
        patterns += [_class(later) + _class("".join(ranks[:rank])) for rank, later in enumerate(ranks) if rank]
    return f".*(?:{'|'.join(patterns)}).*"


_OUT_OF_ORDER: Final = _out_of_order()


@graph_function
def ordered_marks(words: tf.Tensor) -> tf.Tensor:
    """Sorts the marks of Thai, Lao, Khmer and Burmese characters, of normalised words: string [words] -> string
    [words].

    Most of these marks have the canonical combining class 0, so that normalisation keeps their typed order, which fonts
    do not show. Also replaces characters in `_ALIKE`.
    """
    rows = tf.where(tf.strings.regex_full_match(words, _OUT_OF_ORDER))
    return tf.tensor_scatter_nd_update(words, rows, _ordered(tf.gather_nd(words, rows)))


def _rank_table() -> npt.NDArray[np.int8]:
    """The rank of each code point from the first to the last, 0 for letters: int8 [code points]."""
    return np.array([_RANKS.get(chr(code), 0) for code in range(_FIRST, _LAST + 1)], np.int8)


def _next(values: tf.Tensor, last: int | bool) -> tf.Tensor:
    """Shifts values by one position, and appends `last`: [values] -> [values]."""
    return tf.concat([values[1:], tf.constant([last], values.dtype)], 0)[: tf.size(values)]


def _ordered(words: tf.Tensor) -> tf.Tensor:
    decoded = tf.strings.unicode_decode(words, "UTF-8")  # int32 [words, (characters)]
    codes = decoded.flat_values
    number = tf.size(codes, tf.int64)
    is_first = tf.scatter_nd(decoded.row_splits[:-1, tf.newaxis], tf.ones_like(decoded.row_splits[:-1]), [number]) > 0
    is_known = (codes >= _FIRST) & (codes <= _LAST)
    rank = tf.where(
        is_known, tf.gather(_rank_table(), tf.clip_by_value(codes - _FIRST, 0, _LAST - _FIRST)), tf.constant(0, tf.int8)
    )

    # A subscript is two characters of the same rank.
    is_consonant = (codes >= ord(_CONSONANTS[0])) & (codes <= ord(_CONSONANTS[-1])) & ~is_first
    behind = tf.concat([[0], codes], 0)[:-1] == ord(_COENG)
    is_subscript = is_consonant & behind
    ranks = tf.constant([_SUBSCRIPT, _SUBSCRIPT_RO], tf.int8)
    rank = tf.where(is_subscript, tf.gather(ranks, tf.cast(codes == ord(_RO), tf.int32)), rank)
    rank = tf.where(codes == ord(_COENG), tf.where(_next(is_subscript, False), _next(rank, 0), 0), rank)

    letter = tf.cumsum(tf.cast(is_first | (rank == 0), tf.int64))
    rank = tf.where(is_first, tf.constant(0, tf.int64), tf.cast(rank, tf.int64))
    order = tf.argsort((letter * len(_RANKS) + rank) * number + tf.range(number))
    words = tf.strings.unicode_encode(decoded.with_flat_values(tf.gather(codes, order)), "UTF-8")
    for spelling, character in _ALIKE.items():
        words = tf.strings.regex_replace(words, spelling, character)
    # A letter may have marks of several scripts.
    return tf_text.normalize_utf8(words, "NFC")

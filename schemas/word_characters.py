"""Characters that decide where a word ends, or that words never have; each set is the content of a regular expression's
class."""

from typing import Final

APOSTROPHE_LETTERS: Final = (
    "\u02b9\u02ba\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\u02ca\u02cb\u02ee\u0559\u07f4\u07f5\ua78b\ua78c"
)
"""Characters that Unicode counts as letters, where others write an apostrophe: об\u02bcєкт, Hawai\u02bbi, Qur\u02bean.
Source: the Unicode Standard, section 7.8, Modifier Letters; the apostrophes of N'Ko; the saltillo."""

APOSTROPHES: Final = "'`\u00b4\u2018\u2019\u201b\u2032\u2035\uff07\uff40\u055a" + APOSTROPHE_LETTERS
"""These letters, and the apostrophes that are punctuation or symbols."""

WITHIN_WORDS: Final = "\u055b\u055c\u055e"
"""The Armenian marks of stress, exclamation and question, which stand over a vowel within a word. Source: Unicode
Standard Annex 29, where they are letters (ALetter)."""

SUPERSCRIPTS: Final = "\xb2\xb3\xb9\u2070\u2074-\u2079"
SUBSCRIPTS: Final = "\u2080-\u2089"
NUMBERS_IN_SIGNS: Final = (
    "\xbc-\xbe\u2150-\u215f\u2189\u2460-\u2473\u2488-\u249b\u24ea\u3251-\u325f"
    "\u32b1-\u32cb\u3358-\u3370\u33e0-\u33fe\U0001f100-\U0001f10a"
)
"""Fractions, numbers in circles and the like: all other characters for which NFKC writes digits first."""

# Scripts that are written without spaces between words.
HAN: Final = ("Han",)
"""Each character is a word."""
KANA: Final = ("Hiragana", "Katakana")
"""Overlapping pairs of characters are words: measured on Japanese, they rank better than characters."""
SYLLABIC: Final = ("Thai", "Lao", "Khmer", "Myanmar")
"""Overlapping pairs of characters with their marks are words: on Thai they rank far better than characters."""

PARTS: Final = 6
"""A limit on the words of a text is counted in sixths, since a character or a pair is less than a word."""
PARTS_OF_HAN: Final = 3
PARTS_OF_KANA: Final = 3
PARTS_OF_SYLLABIC: Final = 2
"""Parts of a character or pair in each script; translations of a text then reach a limit at about the same point."""
DOTTED: Final = r"([ij\x{12F}\x{249}\x{268}\x{29D}\x{3F3}\x{456}\x{458}\x{1D96}\x{1E2D}\x{1ECB}])\x{307}+"
"""A dot above a letter with a dot of its own (Soft_Dotted, in Unicode's PropList.txt): İ is folded to i with a dot."""

IGNORED: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200c-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that case folding drops, so that their neighbours meet: soft hyphens, joiners, marks of direction, byte
order marks, selectors of variants. Source: Default_Ignorable_Code_Point, in Unicode's DerivedCoreProperties.txt,
without U+200B, which separates words, and U+180F, which older versions of ICU do not drop."""
NONCHARACTERS: Final = "\ufdd0-\ufdef" + "".join(
    chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF)
)
"""Code points that are never characters. Search engines refuse documents with a term that has one."""
UNSEEN: Final = f"{IGNORED}\u180f\u200b\ufff9-\ufffb{NONCHARACTERS}"
"""`IGNORED`, these two, the marks of annotations, and noncharacters: a text looks the same without them. Controls are
\\p{Cc}."""
TATWEEL: Final = "\u0640\u07fa\u180a"
"""Characters that only stretch the line between two letters (Joining_Type Join_Causing in Unicode's ArabicShaping.txt,
without characters that carry a hamza or a dot)."""
HARAKAT: Final = "\u064b-\u0652\u0670"
"""The short vowels of Arabic, which most texts omit."""

"""Spellings of words in each script: tables of regular expressions (RE2) and their replacements.

Texts are decomposed (NFKD) and without accents; spaces separate words.
"""

from typing import Final

LATIN: Final = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"}
"""Common Latin letters that normalisation does not decompose."""
_RARE_LATIN: Final = {
    "[ðɖɗ]": "d", "þ": "th", "ħ": "h", "[ŋɲ]": "n", "ɓ": "b", "ƙ": "k", "ɛ": "e", "ŧ": "t", "ƴ": "y", "ƒ": "f",
    "ʋ": "v", "[ɨɩ]": "i", "ʉ": "u", "[ɡɠ]": "g", "ĸ": "q",
    "ɔ": "o", "[əǝ]": "e",  # not in CLDR's table; Azerbaijani without its ə has e
}  # fmt: skip
"""Letters of Icelandic, Sami, Maltese, Hausa, Fula, Ewe, Akan, Lingala and Azerbaijani. Vietnamese texts have ð for đ,
too. Source: CLDR's transform Latin-ASCII."""
_CYRILLIC: Final = {
    # NFKD and the removal of accents have turned й, ё, ї, ў, ѓ and ќ into и, е, і, у, г and к.
    # The c of loan words, and at the end of a word, where an s would look like a plural.
    "ц([еиіє ]|$)": r"c\1",
    "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ж": "zh", "з": "z", "и": "i", "к": "k", "л": "l",
    "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts",
    "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya",
    "і": "i", "є": "e", "ґ": "g", "ђ": "d", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz", "ѕ": "dz",
    "[әӕ]": "a", "[ғҕӷ]": "g", "[җӂ]": "zh", "ҙ": "z", "[қҡҝҟӄ]": "k", "[ңҥӊӈ]": "n", "[өӧ]": "o", "ҫ": "s",
    "[үұ]": "u", "[һҳ]": "h", "[ҷҹӌ]": "ch", "ӏ": "",
}  # fmt: skip
"""Source: ISO 9 without its marks for the letters of Kazakh, Kyrgyz, Tatar, Bashkir, Mongolian, Tajik, Uzbek, Sakha and
the languages of the Caucasus; English names for the others."""
_GAJ: Final = {"ж": "z", "х": "h", "ц": "c", "ч": "c", "ш": "s"}
"""Serbian letters in Gaj's Latin alphabet without marks, where they differ from the table above."""
_GREEK: Final = {
    "ου": "ou", "μπ": "b", "ντ": "nt", "γκ": "g", "γγ": "ng", "αυ": "au", "ευ": "eu", "τσ": "ts", "τζ": "j",
    "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i", "κ": "k", "λ": "l",
    "μ": "m", "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "τ": "t", "υ": "y", "φ": "f", "χ": "ch",
    "ψ": "ps", "ω": "o",
}  # fmt: skip
_NAGARI: Final = {
    "क": "k", "ख": "kh", "ग": "g", "घ": "gh", "ङ": "n", "च": "ch", "छ": "chh", "ज": "j", "झ": "jh", "ञ": "n", "ट": "t",
    "ठ": "th", "ड": "d", "ढ": "dh", "ण": "n", "त": "t", "थ": "th", "द": "d", "ध": "dh", "न": "n", "प": "p", "फ": "f",
    "ब": "b", "भ": "bh", "म": "m", "य": "y", "र": "r", "ल": "l", "व": "v", "श": "sh", "ष": "sh", "स": "s", "ह": "h",
    "ळ": "l",
}  # fmt: skip
_OPEN: Final = "\x01"
"""A control character, which words never have, after a consonant of Devanagari until its vowel is known."""
_DEVANAGARI: Final = {
    **{letter: f"{plain}{_OPEN}" for letter, plain in _NAGARI.items()},
    # The dot below, which NFKD has separated from its letter, and which writers omit except in ṛ.
    f"d{_OPEN}\u093c": f"r{_OPEN}", "\u093c": "",
    f"{_OPEN}[\u094d\u0951-\u0954]": "",  # without a vowel
    f"{_OPEN}ा": "a", f"{_OPEN}[िी]": "i", f"{_OPEN}[ुू]": "u", f"{_OPEN}ृ": "ri", f"{_OPEN}[ेॅॆ]": "e",
    f"{_OPEN}ै": "ai", f"{_OPEN}[ोॉॊ]": "o", f"{_OPEN}ौ": "au",
    f"{_OPEN}( |$)": r"\1",  # in Hindi an a at the end of a word is silent
    _OPEN: "a",
    "[अआ]": "a", "[इई]": "i", "[उऊ]": "u", "ऋ": "ri", "[एऍ]": "e", "ऐ": "ai", "[ओऑ]": "o", "औ": "au",
    "[ंँ]([pbfm])": r"m\1", "[ंँ]": "n", "ः": "h",
}  # fmt: skip
"""Source: CLDR's transforms Devanagari-InterIndic and InterIndic-Latin; the dot below: Lucene's HindiNormalizer."""
_VARGAS: Final = ("क-घङ", "च-झञ", "ट-ढण", "त-धन", "प-भम")
"""The stops of each place in the mouth, and their nasal; the blocks of all Indian scripts have this order."""


def _nasals(first: str) -> dict[str, str]:
    """Maps a nasal without a vowel before a stop of the same place to the sign that also stands for it, in a script.

    Args:
      first: the first character of the script's block.

    Example:
      >>> sorted(_nasals("ঀ").values())
      ['ং\\\\1\\\\2\\\\3\\\\4\\\\5']
    """

    def moved(letters: str) -> str:
        return "".join(letter if letter == "-" else chr(ord(letter) - 0x900 + ord(first)) for letter in letters)

    pairs = (f"{moved(varga[-1])}{moved('्')}([{moved(varga[:-1])}])" for varga in _VARGAS)
    return {"|".join(pairs): moved("ं") + r"\1\2\3\4\5"}


_BENGALI, _ODIA, _TELUGU = _nasals("\u0980"), _nasals("\u0b00"), _nasals("\u0c00")
_GURMUKHI: Final = {"[ੰਁ]": "ਂ", "\u0a3c": "", **_nasals("\u0a00")}
"""Tippi and adak bindi become bindi. A dot below marks a loan word, as in the next two scripts."""
_GUJARATI: Final = {"\u0abc": "", **_nasals("\u0a80")}
_KANNADA: Final = {"\u0cbc": "", **_nasals("\u0c80")}
_MALAYALAM: Final = {
    "(?:ൻ്?|ന്)റ": "ന്റ",  # nta
    "\u0d46+\u0d57": "\u0d57",  # au, old and new
    "ു്": "്",  # the short last vowel, old and new
    **_nasals("\u0d00"),
}
"""Source of these six: the Unicode Standard, chapter 12; the nasals are those of CLDR's InterIndic-Latin."""


def _ethiopic(kept: str, merged: str, orders: int = 7) -> dict[str, str]:
    """Maps the syllables of merged consonants to those of a kept consonant that sounds the same."""
    return {
        f"[{''.join(chr(ord(first) + order) for first in merged)}]": chr(ord(kept) + order) for order in range(orders)
    }


_ETHIOPIC: Final = {
    **_ethiopic("ሀ", "ሐኀ"), **_ethiopic("ሰ", "ሠ", orders=8), **_ethiopic("አ", "ዐ"), **_ethiopic("ጸ", "ፀ"),
    "ሃ": "ሀ", "ኣ": "አ",
    "[\u135d-\u135f]": "",  # length, which is seldom written
}  # fmt: skip
"""Source: CLDR's transform am-am_FONIPA."""
_AMHARIC: Final = {**_ethiopic("ሀ", "ኸ")}
"""Syllables that sound different in Tigrinya. Source: CLDR's transform am-am_FONIPA."""
_HEBREW: Final = {"װ": "וו", "ױ": "וי", "ײ": "יי"}
"""Yiddish digraphs. Source: Unicode's confusables (UTS 39)."""
_KANA: Final = r"\p{Katakana}[\x{3099}\x{309A}]?"
_KATAKANA: Final = {rf"({_KANA}(?:{_KANA}|ー)+{_KANA})ー+( |$)": r"\1\2"}
"""The final length mark of words of four or more characters. Source: Lucene's JapaneseKatakanaStemFilter."""
_ARABIC: Final = {
    # NFKD has separated hamza and madda (U+0653 to U+0655) from their letters; NFC later restores those on waw and yeh.
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
"""The zeros of scripts with their own digits, each before its 1 to 9. Source: category Nd of Unicode 16."""
_DIGITS: Final = {
    "[" + "".join(chr(int(zero, 16) + digit) for zero in _ZEROS.split()) + "]": str(digit) for digit in range(10)
}
_TONE: Final = r"[\x{300}\x{301}\x{303}\x{309}\x{323}]"
_VIETNAMESE: Final = {rf"(o)({_TONE})([ae])": r"\1\3\2", rf"(u)({_TONE})(y)": r"\1\3\2"}
"""The tone of oa, oe and uy, which is on the first letter in the old style, and on the second in the new style."""

BY_LANGUAGE: Final = {
    **dict.fromkeys(("bs", "hr", "sr"), _GAJ),
    "am": _AMHARIC,
    "vi": _VIETNAMESE,
}
"""From ISO 639-1 code to the spellings of a language, which come before those of its script."""
BY_SCRIPT: Final = {
    "".join(letter.strip("[]") for letter in _RARE_LATIN): _RARE_LATIN,
    r"\p{Cyrillic}": _CYRILLIC,
    r"\p{Greek}": _GREEK,
    r"\p{Devanagari}": _DEVANAGARI,
    r"\p{Bengali}": _BENGALI,
    r"\p{Gurmukhi}": _GURMUKHI,
    r"\p{Gujarati}": _GUJARATI,
    r"\p{Oriya}": _ODIA,
    r"\p{Telugu}": _TELUGU,
    r"\p{Kannada}": _KANNADA,
    r"\p{Malayalam}": _MALAYALAM,
    r"\p{Ethiopic}": _ETHIOPIC,
    r"\p{Arabic}": _ARABIC,
    r"\p{Hebrew}": _HEBREW,
    r"\p{Katakana}": _KATAKANA,
    "".join(digits.strip("[]") for digits in _DIGITS): _DIGITS,
}
"""From characters, as the content of a class, to a table of replacements, which are made in its order."""

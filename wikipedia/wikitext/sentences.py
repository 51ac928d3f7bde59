"""Splits a text into sentences."""

import re
from collections.abc import Mapping
from typing import Final

import sentencex

# Endings after which `sentencex` wrongly ends a sentence, by language: abbreviations before a name or a number, and
# ordinals.
_NO_ENDS: Final[Mapping[str, re.Pattern[str]]] = {
    "fr": re.compile(
        r"(?:^|[\s(«])(?:MM?|Mgr|Dr|Pr|St|Ste|[Aa]v|[Aa]pr|[Ee]nv|[Cc]f|[Pp]p?|[Vv]ol|[Éé]d|[Aa]rt|[Cc]hap|[Ff]ig|[Ee]x|"
        r"janv|févr|avr|juil|sept|oct|nov|déc|t|n|dir|coll)\.$"
    ),
    "de": re.compile(
        r"(?:^|[\s(])(?:(?:[Dd]er|[Dd]ie|[Dd]as|[Dd]em|[Dd]en|[Dd]es|[Ii]m|[Aa]m|[Vv]om|[Zz]um|[Zz]ur|[Bb]eim|[Ii]ns|[Bb]is|"
        r"[Uu]nd|[Ss]eit|[Aa]b|[Ii]hr|[Ss]ein|[Ii]n|[Mm]itte|[Ee]nde|[Aa]nfang|ersten|[Dd]ieser|[Ii]hrem|[Ss]einem)\s\d{1,2}"
        r"|Hl|hl|Bd|Abb|Nr|Dr|Prof|St|Hrsg|Ing|Dipl|Jh|Jhd|Mio|Mrd|ca|bzw|vgl|geb|gest|sog|eigtl)\.$"
    ),
    "sw": re.compile(r"(?:^|[\s(])(?:Dk|Dkt|Bw|Bi|Mwl|Prof|Mh|Mt|Mch|Dr|Nk|uk)\.$"),
    "tl": re.compile(
        r"(?:^|[\s(])(?:G|Gng|Bb|Sto|Sta|Dr|Dra|Hen|Kgg|Ene|Peb|Mar|Abr|Hun|Hul|Ago|Set|Okt|Nob|Dis|Blg|[Bb]\.)\.?$"
    ),
    "ru": re.compile(
        r"(?:^|[\s(])(?:св|им|ул|пл|г|гг|акад|проф|ген|д-р|[Оо]к|род|см|рис|т|стр|лат|англ|нем|фр|греч)\.$"
    ),
    "ar": re.compile(r"(?:^|[\s(\d])(?:ق|د|أ|م|هـ)\.$"),
}

# Beginnings that no sentence has: a small letter, or a sign that joins or closes. After a closing bracket, or after a
# name that contains a full stop, a Japanese sentence continues with a particle.
_NO_BEGINNING: Final = re.compile(r"[\-–—,;:)\]»”’、）」』%]|(?=[^\W\d_])(?![A-ZА-ЯЁ])[a-zß-öø-ÿа-яё]")
# A full stop after a unit ends the sentence, although `sentencex` reads a single letter as an initial.
_AFTER_UNIT: Final = re.compile(r"(?<=\d\s)((?:[kcm]?m|k?g|ha)[²2]?\.)\s+(?=[^\W\d_a-z])")
_JAPANESE_GOES_ON: Final = re.compile(
    r"[（」』]|(?:は|が|を|に|の|と|も|で|や|から|という|など|について)(?![、ぁ-ん])|と[いかしす言]"
)


def split_sentences(text: str, language: str) -> list[str]:
    """Returns the sentences of a text, in order.

    `sentencex` splits by its rules for the language or a related one. Two of its pieces are joined again if a known
    abbreviation or ordinal ends the first, or if the second begins as no sentence does. Therefore a sentence that
    begins with "iPhone" is joined to the one before it.

    Args:
      text: a clean text of one or more paragraphs, on one line.
      language: ISO 639-1 code.

    Example:
      >>> split_sentences("Die 2. Bundesliga ist jung. Er lebt z. B. am 3. Oktober. Ja.", "de")
      ['Die 2. Bundesliga ist jung.', 'Er lebt z. B. am 3. Oktober.', 'Ja.']
    """
    sentences: list[str] = []
    no_end = _NO_ENDS.get(language)
    for piece in sentencex.segment(language, _AFTER_UNIT.sub("\\1\n\n", text)):
        beginning = piece.lstrip()
        if not beginning:
            continue
        if sentences and (
            _NO_BEGINNING.match(beginning)
            or sentences[-1].endswith(" .")
            or (no_end and no_end.search(sentences[-1].rstrip()[-32:]))
            or (language == "ja" and _JAPANESE_GOES_ON.match(beginning))
        ):
            sentences[-1] += piece
        else:
            sentences.append(piece)
    return [sentence.strip() for sentence in sentences]

"""The sentences of a text."""

import re
from collections.abc import Mapping
from typing import Final

import sentencex

# What `sentencex` ends a sentence after, though none ends there: by language, abbreviations that a name or a number
# follows, and ordinals.
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

# How no sentence begins: with a small letter or a sign that joins or closes; after a closing bracket, Japanese goes on
# with a particle, as it does after a name that holds a full stop.
_NO_BEGINNING: Final = re.compile(r"[\-–—,;:)\]»”’、）」』%]|(?=[^\W\d_])(?![A-ZА-ЯЁ])[a-zß-öø-ÿа-яё]")
# Units have no full stop of their own, though `sentencex` takes one letter for an initial.
_AFTER_UNIT: Final = re.compile(r"(?<=\d\s)((?:[kcm]?m|k?g|ha)[²2]?\.)\s+(?=[^\W\d_a-z])")
_JAPANESE_GOES_ON: Final = re.compile(
    r"[（」』]|(?:は|が|を|に|の|と|も|で|や|から|という|など|について)(?![、ぁ-ん])|と[いかしす言]"
)


def split_sentences(text: str, language: str) -> list[str]:
    """The sentences of a text, in order.

    `sentencex` splits, by its rules for the language or for one close to it; two pieces are joined again where a
    known abbreviation or ordinal ends the first, or where the second begins as no sentence does. So a sentence that
    begins with "iPhone" stands with the one before it.

    Args:
      text: clean, one or more paragraphs of it on one line.
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

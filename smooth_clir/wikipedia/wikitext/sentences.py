"""Splits a text into sentences."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

import sentencex

from smooth_clir.wikipedia.wikitext.conventions import LANGUAGE_WORDS

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
        r"(?:^|[\s(])(?:св|им|ул|пл|г|гг|акад|проф|ген|д-р|[Оо]к|род|см|рис|т|стр|засл|нар|арт|лат|англ|нем|фр|греч)\.$"
    ),
    "pl": re.compile(
        r"(?:^|[\s(])(?:św|pw|im|ul|al|pl|os|inż|ks|bp|abp|kard|o|prof|dr|hab|mgr|gen|płk|mjr|kpt|por|red|ur|zm|ps|ok|gm|pow|"
        r"woj|m\.in|np|tzw|tj|zob|nr|ang|niem|łac|fr|ros|wł|hiszp)\.$"
    ),
    "es": re.compile(
        r"(?:^|[\s(])(?:[ad]|Sto|Sta|Sr|Sra|Dña|Dr|Dra|Prof|Gral|Av|Avda|Univ|op|art|núm|pág|vol|ed|ej|aprox|p)\.$"
    ),
    "pt": re.compile(
        r"(?:^|[\s(])(?:[DS]|Sto|Sta|Sr|Sra|Dr|Dra|Prof|Profª|Profa|Eng|Pe|Gen|Av|Univ|op|art|pág|vol|ex|aprox|p)\.$"
    ),
    "ca": re.compile(r"(?:^|[\s(])(?:St|Sta|Sr|Sra|Dr|Dra|Mn|Av|op|art|pàg|vol|ex|aprox|p)\.$"),
    "it": re.compile(r"(?:^|[\s(])(?:S|SS|Sig|Dott|Ing|Avv|Mons|on|op|art|pag|vol|es|ca|p)\.$"),
    "mr": re.compile(r"(?:^|[\s(])(?:डॉ|प्रा|श्री|सौ|पं|कै|स्व|इ|स|कि|मी|चौ|ई)\.$"),
    "ar": re.compile(r"(?:^|[\s(\d])(?:ق|د|أ|م|هـ)\.$"),
}

# Abbreviations with a vowel, in languages that `conventions` does not know.
_ABBREVIATIONS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for languages, words in (
        ("bg mk", "арх бул доц им инж лат обл проф ул акад"),
        ("bs hr sr", "акад год енгл лат нпр проф ул akad engl god ing lat npr prof ul"),
        ("el", "αγ αγγλ αι αρ γεν καθ λατ λεωφ οδ"),
        ("fi", "engl ent esim kok lat prof ruots synt tri"),
        ("hu", "id ifj ill lat ún vö özv"),
        ("id ms", "gub hj ir kab kec kel no prof"),
        ("ka", "ალ აღ ახ ბერძ გარდ დაბ ივ იხ ინგლ ლათ მაგ რუს"),
        ("kk ky mn uz", "акад ган обл проф"),
        ("ro", "av com ing jud lat mun op prof"),
        ("ta", "திரு திருமதி டாக்டர் பேரா"),
        ("tr az", "av cad doç gen ing lat m.ö m.s mah no ord prof sok"),
        ("uk be", "акад англ вул ім лат нар обл пол проф просп рос"),
        ("vi", "gs pgs ths tp ts bs ks"),
    )
    for language in languages.split()
}
_VOWELS: Final = frozenset("aeiouwyæøœıəаеёиоуъыэюяіїєәөүұαεηιουωаეიოუაեէըիօոաւ")
_ALPHABETS: Final = frozenset(["LATIN", "CYRILLIC", "GREEK", "GEORGIAN", "ARMENIAN"])
_LONGEST_ABBREVIATION: Final = 3
"""Letters of the longest word without a vowel that counts as an abbreviation."""
_SYLLABLES: Final = re.compile("[\uac00-\ud7a3\u3040-\u30ff\u4e00-\u9fff]")
"""Single letters that may be words."""
_ABBREVIATED: Final = re.compile(r"(\d\s)?[^\w\s]*(\S+)\.\s*$")
_STOP: Final = re.compile(r"\.\s*")
_ABBREVIATION: Final = re.compile(r"\S{1,9}")
# In a text with such an end, all sentences end so, and a full stop marks an abbreviation.
_END_OF_A_SCRIPT: Final = re.compile("[।։።။۔។]")
_BURMESE_GENITIVE: Final = "၏"
# Ends that `sentencex` does not know: Khmer's, except around its "etc.", and Tibetan's.
_UNKNOWN_END: Final = re.compile(r"(?:(?<!។ល)[។៕](?!ល។)|[།༎](?:\s*[།༎])*)\s*(?=[^\s»”’)\]])")

# Signs that join or close, with which no sentence begins.
_NO_BEGINNING: Final = frozenset("-–—,;:)]»”’、）」』%ºª°")
# Without white space after it, a full stop between digits or after a single letter ends nothing: 3.5, a.C.
_IN_WORD: Final = re.compile(r"\d\.\d|(?:^|[\W_])[^\W\d_]\.[^\W_]")
# A full stop after a unit ends the sentence, although `sentencex` reads a single letter as an initial.
_AFTER_UNIT: Final = re.compile(r"(?<=\d\s)((?:[kcm]?m|k?g|ha)[²2]?\.)\s+(?=[^\W\d_a-z])")
# `sentencex` reads a numeral after a full stop as its decimals.
_BEFORE_NUMERAL: Final = re.compile(r"。(?=\d)")
# After a closing bracket, or after a name with a full stop, a Japanese sentence continues with a particle.
_JAPANESE_GOES_ON: Final = re.compile(
    r"[（」』]|(?:は|が|を|に|の|と|も|で|や|から|という|など|について)(?![、ぁ-ん])|と[いかしす言]"
)

_LONGEST_ABBREVIATIONS: Final = 40
"""Longest run of abbreviations at the beginning of a sentence, in characters."""
_LONGEST_END: Final = 14
"""Characters of the longest of `_NO_ENDS`, with the space before it."""
_ENDS: Final = ".!?…。！？"
_LONGEST_ARTICLE: Final = 12
"""Longest text before a name at the start of a text, in characters: an article, an opening quotation mark."""
_NEXT_WORD: Final = re.compile(r"\s+[^\W\d_]")
_END: Final = re.compile(f"[{_ENDS}]")
# No text has these controls, and no language's rules know them.
_IN_NAME: Final = str.maketrans({end: chr(number) for number, end in enumerate(_ENDS, 1)})
_IN_TEXT: Final = {ord(control): chr(end) for end, control in _IN_NAME.items()}


def split_sentences(text: str, language: str, names: Iterable[str] = ()) -> list[str]:
    """Returns the sentences of a text, in order.

    `sentencex` splits by its rules for the language or a related language. Two of its pieces are joined again if an
    abbreviation or ordinal ends the first, if a decimal point parts them, or if no sentence begins like the second. So
    a sentence that begins with "iPhone" is joined to the sentence before it. In languages that `conventions` does not
    know, a short word without a vowel before a full stop is an abbreviation; and in a text whose sentences end with a
    sign of its script, each word before a full stop is.

    Args:
      text: a clean text, on a single line.
      language: ISO 639-1 code.
      names: the distinct names of the text's subject. No sentence ends within a name, nor after a name at the start of
        the text.

    Example:
      >>> split_sentences("Die 2. Bundesliga ist jung. Er lebt z. B. am 3. Oktober. Ja.", "de")
      ['Die 2. Bundesliga ist jung.', 'Er lebt z. B. am 3. Oktober.', 'Ja.']
      >>> split_sentences("Hey! You (1982) is by Hey! It is old.", "en", ["Hey!"])
      ['Hey! You (1982) is by Hey!', 'It is old.']
    """
    plain = text
    for name in filter(may_end, names):
        text = _protected(text, name)
    hides = text is not plain
    text = _AFTER_UNIT.sub("\\1\n\n", text)
    if "。" in text:
        text = _BEFORE_NUMERAL.sub("。\n\n", text)
    text = _UNKNOWN_END.sub("\\g<0>\n\n", text)
    has_own_end = _END_OF_A_SCRIPT.search(text) is not None
    sentences: list[str] = []
    for piece in sentencex.segment(language, text):
        beginning = piece.lstrip()
        if sentences and (
            not beginning
            or (has_own_end and sentences[-1].rstrip().endswith("."))
            or _goes_on(sentences[-1], piece, beginning, language)
        ):
            sentences[-1] += piece
        elif beginning:
            sentences.append(piece)
    return [sentence.strip().translate(_IN_TEXT) if hides else sentence.strip() for sentence in sentences]


def may_end(name: str) -> bool:
    """Returns whether a sentence might end within a name."""
    return _END.search(name) is not None


def _goes_on(before: str, piece: str, beginning: str, language: str) -> bool:
    """Returns whether a piece of a text belongs to the sentence before it."""
    first = beginning[0]
    no_end = _NO_ENDS.get(language)
    # Georgian sentences begin with small letters.
    if not first.isupper() and (first in _NO_BEGINNING or (first.islower() and first != first.title())):
        return True
    return bool(
        (before[-1] == "." and (before[-2:] == " ." or _IN_WORD.search(before[-3:] + piece[0])))
        or (no_end and no_end.search(before.rstrip()[-_LONGEST_END:]))
        or (language not in LANGUAGE_WORDS and _ends_abbreviated(before, language))
        or before.rstrip().endswith(_BURMESE_GENITIVE)
        or (language == "ja" and _JAPANESE_GOES_ON.match(beginning))
    )


def _is_of_abbreviations(text: str) -> bool:
    """Returns whether a text is one or more of `\\S{1,9}\\.\\s*`; the expression itself would backtrack over dots."""
    ends = {0}
    for stop in _STOP.finditer(text):
        starts = range(max(0, stop.start() - 9), stop.start())
        if any(start in ends and _ABBREVIATION.fullmatch(text, start, stop.start()) for start in starts):
            ends.add(stop.end())
    return len(text) in ends - {0}


def _ends_abbreviated(text: str, language: str) -> bool:
    """Returns whether a text ends with an abbreviation: a letter, a known or a vowelless word, or all of the text."""
    if len(text) < _LONGEST_ABBREVIATIONS and _is_of_abbreviations(text):
        return True
    ending = _ABBREVIATED.search(text[-_LONGEST_END:])
    if not ending or ending[1]:  # a unit after its number
        return False
    word = ending[2]
    if word.lower() in _ABBREVIATIONS.get(language, ()):
        return True
    letters = _letters(word)
    if len(letters) == 1:
        return letters.isalpha() and not _SYLLABLES.match(letters)
    # In Slavic languages, r and l between consonants are vowels.
    is_spoken = not _VOWELS.isdisjoint(letters) or not frozenset("rlрл").isdisjoint(letters[1:-1])
    return not (
        is_spoken
        or len(letters) > _LONGEST_ABBREVIATION
        or word.isupper()
        or any(unicodedata.name(letter, "").split(" ")[0] not in _ALPHABETS for letter in letters)
    )


def _letters(word: str) -> str:
    """Returns the letters of a word, in lower case and without marks; only the first of joined Indian consonants."""
    letters, is_joined = "", False
    for character in unicodedata.normalize("NFD", word.lower()):
        if unicodedata.category(character).startswith("M"):
            is_joined = unicodedata.combining(character) == 9  # virama
        elif not is_joined:
            letters += character
        else:
            is_joined = False
    return letters


def _protected(text: str, name: str) -> str:
    """Hides the signs of a name that would end a sentence; keeps the last if a word follows, except at the start."""
    before, *following = text.split(name)
    hidden = name.translate(_IN_NAME)
    pieces = [before]
    for after in following:
        is_end = (len(pieces) > 1 or len(before) > _LONGEST_ARTICLE) and _NEXT_WORD.match(after)
        pieces += [hidden[:-1] + name[-1] if is_end else hidden, after]
    return "".join(pieces)

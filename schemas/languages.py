"""Languages: their codes in ISO 639-1, which also name Wikipedia's editions, and their English names.

A collection in several languages has their codes joined, such as `de+es`, in place of a single code.
Each of its texts names its own language in the field `lang`.
"""

from collections.abc import Iterable
from typing import Final

from schemas.settings import did_you_mean

LANGUAGE_FIELD: Final = "lang"
"""The column of queries or documents in several languages that holds the code of each text's language."""
_JOINT: Final = "+"

_NAMED: Final = """
aa Afar; ab Abkhazian; ae Avestan; af Afrikaans; ak Akan; am Amharic; an Aragonese; ar Arabic; as Assamese; av
Avaric; ay Aymara; az Azerbaijani; ba Bashkir; be Belarusian; bg Bulgarian; bh Bihari; bi Bislama; bm Bambara; bn
Bangla; bo Tibetan; br Breton; bs Bosnian; ca Catalan; ce Chechen; ch Chamorro; co Corsican; cr Cree; cs Czech; cu
Church Slavic; cv Chuvash; cy Welsh; da Danish; de German; dv Divehi; dz Dzongkha; ee Ewe; el Greek; en English; eo
Esperanto; es Spanish; et Estonian; eu Basque; fa Persian; ff Fula; fi Finnish; fj Fijian; fo Faroese; fr French; fy
Western Frisian; ga Irish; gd Scottish Gaelic; gl Galician; gn Guarani; gu Gujarati; gv Manx; ha Hausa; he Hebrew;
hi Hindi; ho Hiri Motu; hr Croatian; ht Haitian Creole; hu Hungarian; hy Armenian; hz Herero; ia Interlingua; id
Indonesian; ie Interlingue; ig Igbo; ii Sichuan Yi; ik Inupiaq; io Ido; is Icelandic; it Italian; iu Inuktitut; ja
Japanese; jv Javanese; ka Georgian; kg Kongo; ki Kikuyu; kj Kuanyama; kk Kazakh; kl Kalaallisut; km Khmer; kn
Kannada; ko Korean; kr Kanuri; ks Kashmiri; ku Kurdish; kv Komi; kw Cornish; ky Kyrgyz; la Latin; lb Luxembourgish;
lg Ganda; li Limburgish; ln Lingala; lo Lao; lt Lithuanian; lu Luba-Katanga; lv Latvian; mg Malagasy; mh
Marshallese; mi Māori; mk Macedonian; ml Malayalam; mn Mongolian; mr Marathi; ms Malay; mt Maltese; my Burmese; na
Nauru; nb Norwegian Bokmål; nd North Ndebele; ne Nepali; ng Ndonga; nl Dutch; nn Norwegian Nynorsk; no Norwegian; nr
South Ndebele; nv Navajo; ny Nyanja; oc Occitan; oj Ojibwa; om Oromo; or Odia; os Ossetic; pa Punjabi; pi Pali; pl
Polish; ps Pashto; pt Portuguese; qu Quechua; rm Romansh; rn Rundi; ro Romanian; ru Russian; rw Kinyarwanda; sa
Sanskrit; sc Sardinian; sd Sindhi; se Northern Sami; sg Sango; si Sinhala; sk Slovak; sl Slovenian; sm Samoan; sn
Shona; so Somali; sq Albanian; sr Serbian; ss Swati; st Southern Sotho; su Sundanese; sv Swedish; sw Swahili; ta
Tamil; te Telugu; tg Tajik; th Thai; ti Tigrinya; tk Turkmen; tl Tagalog; tn Tswana; to Tongan; tr Turkish; ts
Tsonga; tt Tatar; tw Twi; ty Tahitian; ug Uyghur; uk Ukrainian; ur Urdu; uz Uzbek; ve Venda; vi Vietnamese; vo
Volapük; wa Walloon; wo Wolof; xh Xhosa; yi Yiddish; yo Yoruba; za Zhuang; zh Chinese; zu Zulu
"""
"""Codes, each with its name in English as the Unicode CLDR has it."""

LANGUAGES: Final[dict[str, str]] = dict(entry.split(" ", 1) for entry in " ".join(_NAMED.split()).split("; "))
"""Every two-letter code of ISO 639-1, and its name in English."""


def joined_codes(codes: Iterable[str]) -> str:
    """Joins the codes of languages, sorted and each once.

    Example:
      >>> joined_codes(["es", "de", "es"]), joined_codes(["fr"]), codes_of("de+es")
      ('de+es', 'fr', ('de', 'es'))
    """
    return _JOINT.join(sorted({*codes}))


def codes_of(language: str) -> tuple[str, ...]:
    """Returns the codes that `joined_codes` has joined."""
    return tuple(language.split(_JOINT))


def language_fault(language: str) -> str | None:
    """Returns an error message for a code, or joined codes, that ISO 639-1 lacks; None for known ones.

    Example:
      >>> language_fault("de+es"), language_fault("de+xx")
      (None, "must be an ISO 639-1 code (two letters), such as en; got 'xx'; did you mean xh?")
    """
    for code in codes_of(language):
        if code not in LANGUAGES:
            return f"must be an ISO 639-1 code (two letters), such as en; got {code!r}{did_you_mean(code, LANGUAGES)}"
    return None


def are_several(language: str) -> bool:
    """Whether codes of several languages are joined."""
    return _JOINT in language


def stem_languages(languages: tuple[str, str]) -> tuple[str, str]:
    """Returns the languages by whose rules queries and documents are stemmed: all of both where either has several.

    Example:
      >>> stem_languages(("en", "fr")), stem_languages(("vi", "de+vi"))
      (('en', 'fr'), ('de+vi', 'de+vi'))
    """
    if not any(map(are_several, languages)):
        return languages
    union = joined_codes(code for language in languages for code in codes_of(language))
    return union, union


def is_one_language(languages: tuple[str, str]) -> bool:
    """Whether all queries and documents are in the same language."""
    return languages[0] == languages[1] and not are_several(languages[0])


def language_name(language: str) -> str:
    """The English names of a language, or of several; a code itself if ISO 639-1 lacks it.

    Example:
      >>> language_name("sw"), language_name("xx"), language_name("de+es+ru")
      ('Swahili', 'xx', 'German, Russian and Spanish')
    """
    *names, last = sorted(LANGUAGES.get(code, code) for code in codes_of(language))
    return f"{', '.join(names)} and {last}" if names else last

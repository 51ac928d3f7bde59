"""The templates whose text is part of a sentence, and what each shows.

A pattern has `{1}`, `{2}`, ... for arguments without a name and `{name}` for named ones. Of several patterns between
`|`, the first whose arguments are all given is used. Names are in lower case, with spaces. A name that ends with a
colon is that of a parser function. The labels of languages are left out ("French: "), except where a wiki's template is
written in place of the word (German `{{enS}}`); so are roundings, digit grouping and second units.
"""

from collections.abc import Mapping
from typing import Final


def _all(pattern: str, names: str) -> Mapping[str, str]:
    """Gives several templates, with `|` between their names, the same pattern."""
    return dict.fromkeys(names.split("|"), pattern)


EVERYWHERE: Final[Mapping[str, str]] = {
    **_all(
        "{1}",
        "formatnum:|lc:|uc:|ucfirst:|lcfirst:|nihongo2|ruby|nowrap|nobr|nobreak|small|smaller|big|larger|sup|sub|"
        "em|strong|smallcaps|sc|sic|abbr|tooltip|math|chem2|mvar|flag|flagcountry|quote",
    ),
    **_all("{2}", "lang|langx|wikt-lang"),
    **_all("{1} {2}", "convert|cvt|ship"),
    **_all("{lt}|{1}", "ill|interlanguage link|link-interwiki"),
    **_all(" – ", "snd|spaced ndash|spnd"),
    **_all("{3}|{2}", "transl|transliteration"),
    **_all("&nbsp;", "nbsp|spaces"),
    **_all("c. {1}|c.", "circa|c."),
    **_all("lit. &#39;{1}&#39;", "lit|literal translation"),
    **_all("r. {1}–{2}|r. {1}", "reign|r."),
    **_all("–", "ndash|en dash"),
    **_all("—", "mdash|em dash"),
    **_all("₹{1}", "₹|inr"),
    "!": "&#124;",
    "=": "&#61;",
    "'": "&#39;",
    "'s": "&#39;s",
    "lang-zh": "{s}|{t}|{c}|{1}",
    "nihongo": "{1} ({2}, {3})|{1} ({2})|{1} ({3})|{1}|{2}",
    "nihongo3": "{3} ({2}, {1})|{1}",
    "val": "{1} {u}|{1} {ul}|{1}",
    "frac": "{1} {2}/{3}|{1}/{2}|1/{1}",
    "as of": "{alt}|As of {1}",
    "linktext": "{1}{2}{3}|{1}{2}|{1}",
    "née": "née {1}|née",
    "né": "né {1}|né",
    "uss": "USS {1}",
    "hms": "HMS {1}",
    "okina": "ʻ",
    "hamza": "ʼ",
    "ayin": "ʽ",
    "shy": "",
    "zwnj": "&zwnj;",
    "'\"": "&#39; &quot;",
    "us$": "US${1}",
    "gbp": "£{1}",
}
"""Templates of the English wiki, whose names most other wikis use, too."""

PREFIXES: Final[Mapping[str, str]] = {"lang-": "{1}"}
"""Patterns by the beginnings of names, because codes of languages follow them."""

_FRENCH: Final[Mapping[str, str]] = {
    **_all(
        "{1}",
        "nb|formatnum|nobr romains|exp|exposant|ind|indice|abréviation|abréviation discrète|abr|petite|petit|"
        "petites capitales|pc|souverain|souverain-|souverain2|souverain3|pays|lnobr",
    ),
    **_all("{1} {2} {3}|{1} {2}|{1}", "date|date-|date de naissance|date de naissance-|date de décès|date de décès-"),
    **_all("{1}{2} siècle|{1}e siècle", "s|s-|siècle"),
    **_all("« {1} »", "citation|guillemets|guil"),
    **_all("{1} {2}|{1}", "unité|nombre"),
    **_all("{1}{2} siècle av. J.-C.|{1}e siècle av. J.-C.", "-s|-s-"),
    **_all("{1}{2} {3} {4}{5} siècle", "sp|sp-"),
    **_all("av. J.-C.", "av jc|avjc"),
    **_all("apr. J.-C.", "ap jc|apjc"),
    **_all("no {1}|no", "n°|numéro"),
    "langue": "{2}",
    "japonais": "{1} ({2}, {3})|{1} ({2})|{1}",
    "1er": "1er",
    "1re": "1re",
    "er": "er",
    "re": "re",
    "e": "e",
    "p.": "p. {1}|p.",
    "m.": "M. {1}|M.",
    "mm.": "MM. {1}|MM.",
    "mme": "Mme {1}|Mme",
    "mlle": "Mlle {1}|Mlle",
    "dr": "Dr {1}|Dr",
    "pr": "Pr {1}|Pr",
    "mgr": "Mgr {1}|Mgr",
    "citation étrangère": "« {2} »|« {1} »",
    "incise": "– {1} –",
    "lien": "{texte}|{fr}|{1}|{trad}",
    "heure": "{1} h {2}|{1} h",
    ",": "",
    "oe": "œ",
}

_GERMAN_LANGUAGES: Final = """
    ar=arabisch cs=tschechisch da=dänisch el=griechisch en=englisch es=spanisch fa=persisch fi=finnisch
    fr=französisch grc=altgriechisch he=hebräisch hu=ungarisch it=italienisch ja=japanisch ko=koreanisch
    la=lateinisch nl=niederländisch no=norwegisch pl=polnisch pt=portugiesisch ro=rumänisch ru=russisch
    sv=schwedisch tr=türkisch uk=ukrainisch zh=chinesisch
    """.split()

_GERMAN: Final[Mapping[str, str]] = {
    **{
        f"{code}s": f"{word} {{1}} {{2}}|{word} {{1}}" for code, word in (pair.split("=") for pair in _GERMAN_LANGUAGES)
    },
    **_all("{1}", "arf|zahl|formatnum|zitat|kapitälchen"),
    "audio": "{2}",
    "höhe": "{1} m",
    '"': "„{1}“",
    "§": "§ {1} {2}|§ {1}",
    "bruch": "{1} {2}/{3}|{1}/{2}",
}

_RUSSIAN: Final[Mapping[str, str]] = {
    **_all(
        "{1}",
        "s|num|число|comment|подсказка|нп1|нп2|не переведено 2|сс2|сс3|флагификация|год|цитата|юникод|unicode",
    ),
    **_all("{2}|{1}", "нп|нп3|нп4|нп5|не переведено|не переведено 3|не переведено 5|iw"),
    "oldstyledate": "{1} {2}|{1}",
    "ударение": "\u0301",
    "кв. км": "км²",
}

_ARABIC: Final[Mapping[str, str]] = {
    **_all("{1}", "إنج|فر|فرن|ألم|لات|لاتين|يون|عبر|فا|ترك|اسب|إسب|إيط|روس|ياب|صين|مختصر|صغير|علم"),
    **_all("{نص}|{عر}|{1}", "وإو|واو|وصلة إنترويكي"),
    "لغة": "{2}",
    "تحويل": "{1} {2}",
    "حوالي": "ح. {1}",
    "هـ": "{1} هـ|هـ",
    "كم2": "كم²",
}

_JAPANESE: Final[Mapping[str, str]] = {
    **_all("{1}（{2}）|{1}", "読み仮名|読み仮名 ruby不使用|読み"),
    **_all(
        "{1}",
        "ルビ|要出典範囲|要検証範囲|jis2004フォント|補助漢字フォント|補助漢字|cp932フォント|拡張漢字|unicodeフォント|en|fr|de|la|it|es|ru|zh|ko",
    ),
    **_all("{label}|{1}", "仮リンク|日本語版にない記事リンク"),
    "color": "{2}",
    "0": "",
}

OF_LANGUAGE: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {},
    "fr": _FRENCH,
    "de": _GERMAN,
    "ru": _RUSSIAN,
    "ar": _ARABIC,
    "ja": _JAPANESE,
    "sw": {},
    "tl": {},
}
"""Templates of single wikis, which come before those of `EVERYWHERE`. Swahili and Tagalog use English names."""

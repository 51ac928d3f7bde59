"""The templates whose text is part of a sentence, and what each shows, in a table for each wiki.

A pattern has `{1}`, `{2}`, ... for unnamed arguments, `{name}` for named ones, and `{0}` for the template's own name.
`{?name}` and `{?name=value}` show nothing: the argument must be given, or have this value. A part in brackets shows if
all its arguments are given. `|` separates alternatives; the first whose arguments are all given is used. A function
replaces a pattern that cannot be written.

Names are in lower case, with spaces; the name of a parser function ends with a colon. Labels of languages ("French: ")
are left out, except in wikis whose templates replace the word (German `{{enS}}`); so are roundings, digit grouping and
second units. Separate quotations are not part of a sentence.

The source of an entry is the template's page in its wiki, below the address at the head of its table.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from smooth_clir.wikipedia.wikitext.template_functions import Function, biography, date_in, measure, unit

Text: TypeAlias = tuple[str, ...] | Function
"""Alternative patterns, or a function."""

TITLE: Final = "\1"
"""The placeholder for the page's title. No XML can contain it."""


class Templates(NamedTuple):
    """The kept templates of a wiki.

    Attributes:
      source: the address below which the templates are documented.
      texts: name to text.
      families: patterns of names, and the text of each, for families of templates that are too many to list.
    """

    source: str
    texts: Mapping[str, Text]
    families: tuple[tuple[re.Pattern[str], Text], ...]


_PART: Final = re.compile(r"\[([^\[\]]*)\]")


def _text(pattern: str | Function) -> Text:
    """Returns the patterns of a row, from the longest to the shortest."""
    if not isinstance(pattern, str):
        return pattern
    patterns: list[str] = []
    for choice in pattern.split("|"):
        parts = _PART.split(choice)
        # The parts in brackets have odd indexes.
        options = [(part, "") if index % 2 else (part,) for index, part in enumerate(parts)]
        patterns += map("".join, product(*options))
    return tuple(patterns)


def _table(
    source: str, *rows: tuple[str | Function, str], families: Iterable[tuple[str | Function, str]] = ()
) -> Templates:
    """Makes the table of a wiki from pairs of a pattern and names, with `|` between the names."""
    return Templates(
        source,
        {name: _text(pattern) for pattern, names in rows for name in names.split("|")},
        tuple((re.compile(names), _text(pattern)) for pattern, names in families),
    )


EVERYWHERE: Final = _table(
    "https://en.wikipedia.org/wiki/Template:",
    (
        "{1}",
        "formatnum:|lc:|uc:|ucfirst:|lcfirst:|nihongo2|nihongo foot|ruby|nowrap|nobr|nobreak|small|smaller|big|larger|"
        "large|sup|sub|strong|smallcaps|abbr|tooltip|math|chem2|mvar|flag|flagcountry|vanchor|visible anchor|mono|code|"
        "kbd|serif|sans-serif|nobold|noitalic|underline|unicode|polytonic|aut",
    ),
    ("{2}", "lang|langx|lang2|wikt-lang|rtl-lang|color|font color"),
    (measure, "convert|cvt"),
    ("{lt}|{1}", "ill|ill2|interlanguage link|link-interwiki"),
    ("{3}|{2}", "transl|transliteration"),
    ("c. {1} – c. {2}|c. {1}|c.", "circa"),
    ("lit. &#39;{1}&#39;", "literal translation"),
    ("{1}[ {2}]", "oldstyledate"),
    ("{s}|{t}|{c}|{1}", "lang-zh|zh"),
    ("{hangul}|{1}", "korean"),
    ("{1} ({2}, {3})|{1} ({2})|{1} ({3})|{1}|{2}", "nihongo"),
    ("{3} ({2}, {1})|{1}", "nihongo3"),
    ("{2}|{1}", "snamei"),
    ("{1}[{2}][{3}]", "linktext"),
    ("{alt}|{?since}{?lc}since {1}|{?since}Since {1}|{?lc}as of {1}|As of {1}", "as of"),
    (" – ", "snd|snds|spnd|spndash|spaced ndash|spaced en dash"),
    (" — ", "spaced em dash|spaced mdash"),
    ("–", "ndash|en dash"),
    ("—", "mdash|mdashb|em dash"),
    (" · ", "·|•|bull|bullet|dot|middot"),
    ("<br>", "br|break|crlf"),
    ("&nbsp;", "nbsp|spaces"),
    ("&thinsp;", "thinsp|thin space"),
    ("&zwnj;", "zwnj"),
    (TITLE, "pagename|basepagename|fullpagename|subjectpagename|articlepagename"),
    ("&#124;", "!"),
    ("&#61;", "="),
    ("&#39;", "'"),
    ("&#39;s", "'s"),
    ("&#39; &quot;", "'\""),
    ("", "shy"),
    families=[("{1}", "lang-.+|script/.+")],
)
"""Templates that mean the same in every wiki."""

_ENGLISH: Final = _table(
    "https://en.wikipedia.org/wiki/Template:",
    ("{1}", "sc|sic|em|nq|not a typo|proper name"),
    ("c. {1} – c. {2}|c. {1}|c.", "c.|ca."),
    ("fl. {1} – {2}|fl. {1}|fl.", "floruit|fl."),
    ("r. {1} – {2}|r. {1}", "reign|r."),
    ("née[ {1}]", "née|nee"),
    ("né[ {1}]", "né"),
    ("lit. &#39;{1}&#39;", "lit"),
    ("{1}[±{2}][×10{e}][ {u}][ {ul}]", "val"),
    ("×10{1}", "e"),
    ("{1} {2}/{3}|{1}/{2}|1/{1}", "frac|sfrac|fraction"),
    ("{1}[{2}][{3}][{4}][{5}]", "chem"),
    ("CO2", "co2"),
    ("H2O", "h2o"),
    ("{?4=2}{2}|[{1} ]{2}", "ship"),
    ("{?3=2}{1}|{0} {1}", "uss|hms|ss|rms|hmas|hmcs|hmnzs|sms|usns|usat|uscgc|hmt|mv"),
    ("{?3=0}{1}-class|{?3=4}{1} class|{?3=5}{1}|{1}-class {2}", "sclass|sclass2|sclass-|sclass2-"),
    ("US${1}|US$", "us$|usd"),
    ("€{1}|€", "€|euro|eur"),
    ("£{1}|£", "£|gbp|gbp£"),
    ("¥{1}|¥", "¥|jpy"),
    ("₹{1}|₹", "₹|inr"),
    ("A${1}|A$", "a$|aud"),
    ("C${1}|C$", "c$|cad"),
    ("No. {1}", "numero|no."),
    ("ʻ", "okina"),
    ("ʼ", "hamza"),
    ("ʽ", "ayin"),
    (
        date_in(
            "January February March April May June July August September October November December",
            "{month} {day}, {year}",
            order="year month day",
            day_first="{day} {month} {year}",
        ),
        "birth date|birth date and age|death date|death date and age|start date|start date and age|end date",
    ),
)
"""English templates whose short or common names mean something else in other wikis."""

_FRENCH: Final = _table(
    "https://fr.wikipedia.org/wiki/Modèle:",
    (
        "{1}",
        "nb|formatnum|nobr romains|exp|exposant|ind|indice|abréviation|abréviation discrète|abr|petite|petit|"
        "petites capitales|pc|rom|rom-maj|souverain|souverain-|souverain2|souverain3|pays|lnobr|référence nécessaire|"
        "refnec|pas clair|"
        "latin|grec|grec ancien|anglais|allemand|italien|espagnol|portugais|catalan|occitan|breton|basque|néerlandais|"
        "russe|ukrainien|polonais|tchèque|hongrois|roumain|bulgare|serbe|arabe|hébreu|persan|turc|arménien|suédois|"
        "danois|norvégien|finnois|irlandais|sanskrit|hindi|vietnamien",
    ),
    ("{2}", "langue"),
    ("{c}|{s}|{t}|{1}", "chinois"),
    ("{1} ({2}, {3})|{1} ({2})|{1}", "japonais"),
    ("{1}[ {2}][ {3}]", "date|date-|date de naissance|date de naissance-|date de décès|date de décès-"),
    ("{1}{2} siècle|{1}e siècle", "s|s-|siècle|s mini|s mini-"),
    ("{1}{2} siècle av. J.-C.|{1}e siècle av. J.-C.", "-s|-s-"),
    ("{1}{2} et {3}{4} siècles|{1}e et {2}e siècles", "s2|s2-"),
    ("{1}{2} et {3}{4} siècles av. J.-C.|{1}e et {2}e siècles av. J.-C.", "-s2|-s2-"),
    ("{1}{2} {3} {4}{5} siècle", "sp|sp-"),
    ("av. J.-C.", "av jc|avjc"),
    ("apr. J.-C.", "ap jc|apjc"),
    ("vers {1}", "vers|circa"),
    ("« {1} »", "citation|guillemets|guil"),
    ("« {2} »|« {1} »", "citation étrangère"),
    (unit, "unité|unité/2|nombre|nombre/2"),
    ("{1} × {2}[ {3}]", "dunité"),
    ("{1} × {2} × {3}[ {4}]", "tunité"),
    ("{1}[ {2}]", "tmp|température"),
    ("no {1}|no", "n°|numéro"),
    ("er", "er"),
    ("re", "re"),
    ("e", "e"),
    ("p. {1}|p.", "p."),
    ("M. {1}|M.", "m."),
    ("MM. {1}|MM.", "mm."),
    ("Mme {1}|Mme", "mme"),
    ("Mlle {1}|Mlle", "mlle"),
    ("Dr {1}|Dr", "dr"),
    ("Pr {1}|Pr", "pr"),
    ("Mgr {1}|Mgr", "mgr"),
    ("{?2=stop}– {1}|– {1} –", "incise"),
    ("{texte}|{fr}|{1}|{trad}", "lien"),
    ("{1} h[ {2}]", "heure|heures"),
    ("", ","),
    ("œ", "oe"),
    (TITLE, "nompage"),
    families=[
        ("{0}[ {1}]", r"\d+(?:er|re|e|de)|[ivxlcdm]+(?:er|e) (?:siècle|millénaire)(?: av\. j\.-c\.)?"),
    ],
)

_GERMAN_LANGUAGES: Final = """
    ar=arabisch cs=tschechisch da=dänisch el=griechisch en=englisch es=spanisch fa=persisch fi=finnisch
    fr=französisch grc=altgriechisch he=hebräisch hu=ungarisch it=italienisch ja=japanisch ko=koreanisch
    la=lateinisch nl=niederländisch no=norwegisch pl=polnisch pt=portugiesisch ro=rumänisch ru=russisch
    sv=schwedisch tr=türkisch uk=ukrainisch zh=chinesisch
    """

_GERMAN: Final = _table(
    "https://de.wikipedia.org/wiki/Vorlage:",
    *((f"{word} {{1}}[ {{2}}]", f"{code}s") for code, word in (pair.split("=") for pair in _GERMAN_LANGUAGES.split())),
    ("{1}", "arf|zahl|formatnum|kapitälchen"),
    ("{2}", "audio"),
    ("{1} m", "höhe"),
    ("„{1}“", '"|zitat'),
    ("§ {1}[ {2}]", "§"),
    ("{1} {2}/{3}|{1}/{2}", "bruch"),
    (TITLE, "seitenname"),
)

_RUSSIAN: Final = _table(
    "https://ru.wikipedia.org/wiki/Шаблон:",
    (
        "{1}",
        "s|num|число|comment|подсказка|нп1|нп2|не переведено 2|сс2|сс3|флагификация|год|юникод|unicode|-1",
    ),
    ("{2}|{1}", "нп|нп3|нп4|нп5|не переведено|не переведено 3|не переведено 5|iw"),
    ("\u0301", "ударение"),
    ("км²", "кв. км"),
    (TITLE, "название страницы|имя страницы"),
)

_ARABIC: Final = _table(
    "https://ar.wikipedia.org/wiki/قالب:",
    ("{1}", "إنج|فر|فرن|ألم|لات|لاتين|يون|عبر|فا|ترك|اسب|إسب|إيط|روس|ياب|صين|مختصر|صغير|علم"),
    ("{2}", "لغة"),
    ("{نص}|{عر}|{1}", "وإو|واو|وصلة إنترويكي"),
    (measure, "تحويل"),
    ("ح. {1}", "حوالي"),
    ("{1} هـ|هـ", "هـ"),
    ("كم²", "كم2"),
)

_JAPANESE: Final = _table(
    "https://ja.wikipedia.org/wiki/Template:",
    (
        "{1}",
        "ルビ|要出典範囲|要検証範囲|jis2004フォント|補助漢字フォント|補助漢字|cp932フォント|拡張漢字|unicodeフォント|"
        "en|fr|de|la|it|es|ru|zh|ko",
    ),
    ("{1}（{2}）|{1}", "読み仮名|読み仮名 ruby不使用|読み"),
    ("{label}|{1}", "仮リンク|日本語版にない記事リンク"),
    ("", "0"),
)

_ITALIAN: Final = _table(
    "https://it.wikipedia.org/wiki/Template:",
    (biography, "bio"),
    (
        "'''{1}''' è un nome proprio di persona {2}[{?3=M} maschile][{?3=F} femminile]",
        "prenome",
    ),
    ("{1}", "ta|cn|senza fonte|maiuscoletto"),
    ("{1} {2}{3}|{1} {3}|{1}[ {ul}][ {u}]", "m"),
    ("&nbsp;", "sp"),
)

_SPANISH: Final = _table(
    "https://es.wikipedia.org/wiki/Plantilla:",
    ("{1}", "esd|versalita|abreviatura|cita requerida"),
    ("[{?3}siglo ]{1}[{?2=a} a. C.][{?2=d} d. C.]", "siglo"),
    ("[{1} ]a. C.", "ac"),
    ("[{1} ]d. C.", "dc"),
    ("{1}[ {2}]", "unidad"),
    (measure, "convertir"),
    (TITLE, "nombredepagina|nombredepágina"),
)

_PORTUGUESE: Final = _table(
    "https://pt.wikipedia.org/wiki/Predefinição:",
    ("século {1}", "séc"),
    ("século {1} a.C.", "-séc"),
    ("[{1} ]a.C.", "ac"),
    ("[{1} ]d.C.", "dc"),
    ("{1}[ {2}]", "fmtn"),
    ("{1} (português brasileiro) ou {2} (português europeu)", "pbpe"),
    ("{1} (português europeu) ou {2} (português brasileiro)", "pepb"),
    (
        date_in(
            "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
            "{day} de {month} de {year}",
        ),
        "dtlink|dni|dnibr|morte",
    ),
    (TITLE, "nomedapagina|nomedapágina"),
)

_POLISH_LANGUAGES: Final = """
    en=ang. de=niem. fr=fr. es=hiszp. it=wł. la=łac. grc=gr. ru=ros. uk=ukr. be=biał. cs=czes. sk=słow. lt=lit. hu=węg.
    ja=jap. zh=chiń. ar=arab. he=hebr.
    """.split()

_POLISH: Final = _table(
    "https://pl.wikipedia.org/wiki/Szablon:",
    (
        "|".join(f"{{?1={code}}}{word} {{2}}" for code, word in (pair.split("=") for pair in _POLISH_LANGUAGES)),
        "w języku",
    ),
    ("{0} {1}", "|".join(pair.partition("=")[2] for pair in _POLISH_LANGUAGES)),
    ("{1}", "liczba|kto"),
    ("{tekst}|{1}", "link-interwiki"),
    (TITLE, "nazwastrony"),
    (
        date_in(
            "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
            "{day} {month} {year}",
            order="year month day",
        ),
        "data",
    ),
)

_CATALAN: Final = _table(
    "https://ca.wikipedia.org/wiki/Plantilla:",
    ("segle {1}[ {2}]", "segle"),
    ("{1}", "romanes|versaleta|citació necessària"),
    ("{1} {2}|{1}", "e"),
    ("{2}", "llengua"),
    ("c. {1}", "c.|ca."),
)

_LATVIAN: Final = _table(
    "https://lv.wikipedia.org/wiki/Veidne:",
    ("{2}", "val"),
    families=[("{1}", "val-.+")],
)

_MARATHI: Final = _table("https://mr.wikipedia.org/wiki/साचा:", ("{1}", "ध्वज"), (TITLE, "लेखनाव"))

LANGUAGE_TABLES: Final[Mapping[str, tuple[Templates, ...]]] = {
    "en": (_ENGLISH,),
    "sw": (_ENGLISH,),
    "tl": (_ENGLISH,),
    "mr": (_ENGLISH, _MARATHI),
    "fr": (_FRENCH,),
    "de": (_GERMAN,),
    "ru": (_RUSSIAN,),
    "ar": (_ARABIC,),
    "ja": (_JAPANESE,),
    "it": (_ITALIAN,),
    "es": (_SPANISH,),
    "pt": (_PORTUGUESE,),
    "pl": (_POLISH,),
    "ca": (_CATALAN,),
    "lv": (_LATVIAN,),
    "et": (),
}
"""The templates of single wikis; later tables override earlier ones, and all override `EVERYWHERE`."""

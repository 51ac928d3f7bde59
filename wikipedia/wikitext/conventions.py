"""The conventions of a wiki: its words for redirects, lists, disambiguation pages and sections without prose.

Redirect words and switches are from MediaWiki's `languages/messages` and its extension Disambiguator; Swahili and
Tagalog have none of their own. Names and headings are in lower case.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas.languages import LANGUAGES
from wikipedia.wikitext import kept_templates


class Documented(NamedTuple):
    """The words of one wiki, besides the English words that are valid in every wiki; `|` separates them."""

    file_names: str = ""
    """Names of the file and category namespaces."""
    redirect_words: str = ""
    disambiguation_templates: str = ""
    disambiguation_switch: str = ""
    disambiguation_titles: str = ""
    """Words in parentheses at the ends of titles."""
    list_beginnings: str = ""
    list_endings: str = ""
    skipped_headings: str = ""
    """Headings of sections without prose."""
    shell_words: str = ""
    """Words that lead up to a dropped template."""


ENGLISH: Final = Documented(
    file_names="file|image|category",
    redirect_words="#redirect",
    disambiguation_templates=(
        "disambig|disambiguation|dab|disamb|disambiguation page|hndis|human name disambiguation|geodis|"
        "place name disambiguation|airport disambiguation|mathematical disambiguation|school disambiguation|"
        "hospital disambiguation|biology disambiguation|species latin name disambiguation|"
        "letter–number combination disambiguation|letter-number combination disambiguation|call sign disambiguation|"
        "station disambiguation|road disambiguation|military unit disambiguation|number disambiguation|"
        "taxonomy disambiguation|genus disambiguation|chinese title disambiguation|music disambiguation"
    ),
    disambiguation_switch="__DISAMBIG__",
    disambiguation_titles="disambiguation",
    list_beginnings="List of |Lists of |Index of ",
    skipped_headings=(
        "see also|references|notes|external links|further reading|bibliography|sources|citations|footnotes|"
        "works cited|notes and references|references and notes|gallery|literature"
    ),
    shell_words=(
        "born|b.|died|d.|c.|ca.|circa|pronounced|pronunciation|listen|ipa|also|or|and|at|on|in|from|the|aged|age|"
        "coordinates|locally|formerly|né|née|lit.|respelling|romanized|us|uk|audio|help|info|simplified|traditional"
    ),
)

OF_LANGUAGE: Final[Mapping[str, Documented]] = {
    "en": Documented(),
    "fr": Documented(
        file_names="fichier|image|catégorie",
        redirect_words="#redirection",
        disambiguation_templates=(
            "homonymie|homonymie de patronyme|homonymie de toponyme|homonymie d'établissements|"
            "homonymie de personnes|homonymie d'édifices religieux|homonymie dynastique|homonymie de clubs sportifs|"
            "homonymie de routes|homonymie de batailles|homonymie de bateaux|homonymie vidéo|patronymie|paronymie|"
            "toponymie"
        ),
        disambiguation_switch="__HOMONYMIE__",
        disambiguation_titles="homonymie",
        list_beginnings="Liste de |Liste des |Liste du |Liste d'|Liste d’|Listes de |Listes des ",
        skipped_headings=(
            "voir aussi|références|notes|notes et références|liens externes|lien externe|bibliographie|annexes|"
            "articles connexes|article connexe|sources|galerie|notes et sources|source|filmographie sélective|"
            "pour approfondir|documentation"
        ),
        shell_words="né|née|le|la|en|à|au|mort|morte|et|ou|prononcé|prononciation|écouter|vers|api|de|dit|dite",
    ),
    "de": Documented(
        file_names="datei|bild|kategorie",
        redirect_words="#weiterleitung",
        disambiguation_templates="begriffsklärung|bkl|begriffsklärungsseite",
        disambiguation_switch="__BEGRIFFSKLÄRUNG__",
        disambiguation_titles="begriffsklärung",
        list_beginnings="Liste der |Liste von |Liste des |Liste aller |Liste in |Liste bekannter |Listen ",
        skipped_headings=(
            "siehe auch|einzelnachweise|weblinks|literatur|quellen|anmerkungen|fußnoten|belege|galerie|"
            "einzelnachweise und anmerkungen|anmerkungen und einzelnachweise|quellen und literatur|bilder"
        ),
        shell_words="geboren|geb.|gest.|am|in|um|aussprache|ausgesprochen|hören|auch|oder|und|ca.|*|†|von|aus|ipa",
    ),
    "ru": Documented(
        file_names="файл|изображение|категория|к",
        redirect_words="#перенаправление|#перенапр",
        disambiguation_templates=(
            "неоднозначность|многозначность|список однофамильцев|список полных тёзок|неоднозначность (фамилия)"
        ),
        disambiguation_titles="значения|значение|неоднозначность",
        list_beginnings="Список |Списки ",
        skipped_headings=(
            "см. также|примечания|литература|ссылки|источники|сноски|галерея|библиография|комментарии|"
            "источники и литература|литература и источники|примечания и источники|см.также|фотогалерея"
        ),
        shell_words="род.|родился|родилась|ум.|от|и|или|произношение|произносится|в|с|около|ок.|мфа|слушать|до",
    ),
    "ar": Documented(
        file_names="ملف|صورة|تصنيف",
        redirect_words="#تحويل",
        disambiguation_templates="توضيح|صفحة توضيح|توضيح أسماء|توضيح اسم|توضيح بشر|توضيح أماكن",
        disambiguation_switch="__توضيح__",
        disambiguation_titles="توضيح",
        list_beginnings="قائمة |قوائم ",
        skipped_headings=(
            "مراجع|المراجع|مصادر|المصادر|انظر أيضا|انظر أيضًا|انظر ايضا|اقرأ أيضا|اقرأ أيضًا|وصلات خارجية|روابط خارجية|"
            "هوامش|ملاحظات|معرض صور|معرض الصور|مصادر ومراجع|مراجع ومصادر|المراجع والمصادر|طالع أيضا|طالع أيضًا"
        ),
        shell_words="ولد|ولدت|في|توفي|توفيت|و|أو|نطق|تلفظ|النطق|من|حوالي|استمع|مواليد",
    ),
    "ja": Documented(
        file_names="ファイル|画像|カテゴリ",
        redirect_words="#転送|#リダイレクト|＃転送|＃リダイレクト",
        disambiguation_templates=(
            "aimai|曖昧さ回避|人名の曖昧さ回避|地名の曖昧さ回避|山の曖昧さ回避|河川の曖昧さ回避|駅の曖昧さ回避|同名の地名|"
            "曖昧さ回避2|映画作品の曖昧さ回避|学校名の曖昧さ回避|商標の曖昧さ回避|プロジェクトの曖昧さ回避"
        ),
        disambiguation_switch="__曖昧さ回避__",
        disambiguation_titles="曖昧さ回避",
        list_endings="一覧|の一覧の一覧|のリスト",
        skipped_headings=(
            "脚注|注釈|出典|参考文献|関連項目|外部リンク|関連文献|ギャラリー|脚注・出典|注釈・出典|出典・脚注|"
            "関連書籍|脚注と出典|出典と脚注|画像"
        ),
        shell_words="発音|発音:|または|及び|英|英:|音声",
    ),
    "sw": Documented(
        file_names="picha|faili|jamii",
        disambiguation_templates="maana",
        disambiguation_titles="maana|kutofautisha",
        list_beginnings="Orodha ya |Orodha za ",
        skipped_headings=(
            "marejeo|tanbihi|viungo vya nje|tazama pia|angalia pia|viungo vya njia|vyanzo|picha|jisomee|"
            "kujisomea|marejeleo|maelezo|viungo|tazama vilevile"
        ),
        shell_words="alizaliwa|amezaliwa|au|na|kwa|matamshi|tamka|mnamo|tarehe",
    ),
    "tl": Documented(
        file_names="talaksan|larawan|kategorya",
        disambiguation_templates="paglilinaw",
        disambiguation_titles="paglilinaw",
        list_beginnings="Talaan ng |Talaan ng mga |Listahan ng |Tala ng ",
        skipped_headings=(
            "mga sanggunian|sanggunian|tingnan din|tignan din|mga kawing panlabas|kawing panlabas|talababa|"
            "mga talababa|talasanggunian|bibliyograpiya|mga panlabas na kawing|panlabas na kawing|mga tala|galerya|"
            "mga pinagkunan|mga panlabas na link|mga ugnay panlabas"
        ),
        shell_words="ipinanganak|noong|o|at|bigkas|binibigkas|pagbigkas|sa|namatay|kilala|bilang",
    ),
}
"""ISO 639-1 code to the words of a wiki; of any other wiki only the general conventions are known."""

_FILE_NAMESPACE, _CATEGORY_NAMESPACE = 6, 14


@dataclass(frozen=True)
class Conventions:
    """The conventions by which a wiki's pages are read; all words are in lower case.

    Attributes:
      language: the wiki's language, ISO 639-1.
      hidden_namespaces: names of the file and category namespaces: links to them show nothing.
      redirect_words: the first words of redirects.
      disambiguation_templates: finds the template of a disambiguation page.
      disambiguation_switches: such as `__DISAMBIG__`.
      disambiguation_titles: finds the title of a disambiguation page.
      list_titles: finds the title of a list.
      skipped_headings: headings of sections without prose.
      templates: the patterns of kept templates, see `kept_templates`.
      shell_words: words that say nothing once the template after them is dropped.
    """

    language: str
    hidden_namespaces: frozenset[str]
    redirect_words: tuple[str, ...]
    disambiguation_templates: re.Pattern[str]
    disambiguation_switches: tuple[str, ...]
    disambiguation_titles: re.Pattern[str]
    list_titles: re.Pattern[str]
    skipped_headings: frozenset[str]
    templates: Mapping[str, str]
    shell_words: frozenset[str]

    def kept_template(self, name: str) -> str | None:
        """Returns the pattern of a template's text by the name between its braces; None if the template is dropped."""
        name = name.strip().replace("_", " ").lower()
        if (pattern := self.templates.get(name)) is not None:
            return pattern
        return next((text for prefix, text in kept_templates.PREFIXES.items() if name.startswith(prefix)), None)


def conventions_for(language: str, namespaces: Mapping[int, str]) -> Conventions:
    """Returns the conventions of a language's wiki.

    Args:
      language: ISO 639-1 code.
      namespaces: number to local name, from the dump; the English names are valid in every wiki.

    Raises:
      ValueError: the code is not in ISO 639-1.

    Example:
      >>> conventions_for("fr", {6: "Fichier", 14: "Catégorie"}).kept_template("unité")
      '{1} {2}|{1}'
    """
    if language not in LANGUAGES:
        raise ValueError(f"a wiki's language must be an ISO 639-1 code; got {language!r}. Take that of its domain.")
    own = OF_LANGUAGE.get(language, Documented())
    local = (namespaces.get(number, "") for number in (_FILE_NAMESPACE, _CATEGORY_NAMESPACE))
    templates = _either(own.disambiguation_templates, ENGLISH.disambiguation_templates)
    words = _either(own.disambiguation_titles, ENGLISH.disambiguation_titles)
    beginnings = _either(own.list_beginnings, ENGLISH.list_beginnings)
    # A template's name has spaces or underscores.
    names = _choice(templates).replace(r"\ ", "[ _]")
    endings = f"|.*(?:{_choice(own.list_endings.split('|'))})$" if own.list_endings else ""
    return Conventions(
        language=language,
        hidden_namespaces=frozenset(
            name.lower() for name in (*local, *_either(own.file_names, ENGLISH.file_names)) if name
        ),
        redirect_words=_either(own.redirect_words, ENGLISH.redirect_words),
        disambiguation_templates=re.compile(rf"\{{\{{\s*(?:{names})\s*[|}}]", re.IGNORECASE),
        disambiguation_switches=_either(own.disambiguation_switch, ENGLISH.disambiguation_switch),
        disambiguation_titles=re.compile(rf"\((?:{_choice(words)})\)$", re.IGNORECASE),
        list_titles=re.compile(rf"(?:{_choice(beginnings)}){endings}"),
        skipped_headings=frozenset(_either(own.skipped_headings, ENGLISH.skipped_headings)),
        templates={**kept_templates.EVERYWHERE, **kept_templates.OF_LANGUAGE.get(language, {})},
        shell_words=frozenset(_either(own.shell_words, ENGLISH.shell_words)),
    )


def _either(*names: str) -> tuple[str, ...]:
    """Returns the words of several lists, each once."""
    return tuple(dict.fromkeys(name for some in names for name in some.split("|") if name))


def _choice(names: Iterable[str]) -> str:
    """Returns a pattern that matches each of the names."""
    return "|".join(map(re.escape, names))

"""The conventions of a wiki: its words for redirects, lists, disambiguation pages and sections without prose.

Redirect words and switches are from MediaWiki's `languages/messages` and its extension Disambiguator, which have none
for Swahili and Tagalog. Names and headings are in lower case.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas.languages import LANGUAGES
from smooth_clir.wikipedia.wikitext import file_names, kept_templates
from smooth_clir.wikipedia.wikitext.kept_templates import Text


class Documented(NamedTuple):
    """The words of a wiki, besides the English words that are valid in every wiki; `|` separates them."""

    category_names: str = ""
    """Names of the category namespace."""
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
    category_names="category",
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
        "coordinates|locally|formerly|né|née|lit.|respelling|romanized|us|uk|audio|help|info|simplified|traditional|"
        "years|ago|old"
    ),
)

LANGUAGE_WORDS: Final[Mapping[str, Documented]] = {
    "en": Documented(),
    "fr": Documented(
        category_names="catégorie",
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
        category_names="kategorie",
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
        category_names="категория|к",
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
        category_names="تصنيف",
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
        category_names="カテゴリ",
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
        category_names="jamii",
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
        category_names="kategorya",
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
    "it": Documented(
        category_names="categoria",
        redirect_words="#rinvia",
        disambiguation_templates="disambigua",
        disambiguation_titles="disambigua",
        list_beginnings="Lista di |Lista dei |Lista degli |Lista delle |Liste di ",
        skipped_headings=(
            "note|bibliografia|voci correlate|altri progetti|collegamenti esterni|riferimenti|fonti|note e riferimenti|"
            "galleria d'immagini"
        ),
        shell_words="nato|nata|morto|morta|a|in|il|pronuncia|ascolta|o|e|detto|detta",
    ),
    "es": Documented(
        category_names="categoría",
        redirect_words="#redirección|#redireccion",
        disambiguation_templates="desambiguación|desambiguacion|desambig",
        disambiguation_titles="desambiguación",
        list_beginnings="Lista de |Listas de |Lista del |Anexo:",
        skipped_headings=(
            "véase también|referencias|notas|enlaces externos|bibliografía|notas y referencias|referencias y notas|"
            "fuentes|galería"
        ),
        shell_words="nacido|nacida|fallecido|fallecida|en|el|pronunciado|pronunciación|o|y|también",
    ),
    "pt": Documented(
        category_names="categoria",
        redirect_words="#redirecionamento",
        disambiguation_templates="desambiguação|desambig",
        disambiguation_titles="desambiguação",
        list_beginnings="Lista de |Lista do |Lista da |Lista dos |Lista das |Anexo:",
        skipped_headings=(
            "ver também|referências|notas|ligações externas|bibliografia|notas e referências|referências e notas|"
            "galeria"
        ),
        shell_words="nascido|nascida|em|a|pronúncia|ou|e|também",
    ),
    "pl": Documented(
        category_names="kategoria",
        redirect_words="#patrz|#przekieruj|#tam",
        disambiguation_templates="ujednoznacznienie",
        disambiguation_titles="ujednoznacznienie",
        skipped_headings="zobacz też|przypisy|bibliografia|linki zewnętrzne|uwagi|literatura|galeria",
        shell_words="ur.|zm.|wym.|lub|i|w|dnia|także",
    ),
    "ca": Documented(
        category_names="categoria",
        disambiguation_templates="desambiguació",
        disambiguation_titles="desambiguació",
        list_beginnings="Llista de |Llista d'|Llista dels |Llista del |Llistes de ",
        skipped_headings=(
            "vegeu també|referències|notes|enllaços externs|bibliografia|notes i referències|referències i notes|"
            "galeria"
        ),
        shell_words="nascut|nascuda|a|en|o|i|també|pronunciat",
    ),
    "et": Documented(
        category_names="kategooria",
        redirect_words="#suuna",
        disambiguation_templates="täpsustus|täpsustuslehekülg",
        disambiguation_titles="täpsustus",
        skipped_headings="vaata ka|viited|välislingid|kirjandus|märkused|galerii|allikad",
        shell_words="sündinud|surnud|ka|või|ja|hääldus",
    ),
    "lv": Documented(
        category_names="kategorija",
        disambiguation_templates="nozīmju atdalīšana",
        disambiguation_titles="nozīmju atdalīšana",
        skipped_headings="skatīt arī|atsauces|ārējās saites|piezīmes|literatūra|galerija",
        shell_words="dzimis|dzimusi|miris|mirusi|arī|vai|un|izruna",
    ),
    "mr": Documented(
        category_names="वर्ग",
        redirect_words="#पुनर्निर्देशन",
        disambiguation_templates="निःसंदिग्धीकरण",
        disambiguation_titles="निःसंदिग्धीकरण",
        skipped_headings="संदर्भ|बाह्य दुवे|हे सुद्धा पहा|हे सुद्धा पाहा|संदर्भ आणि नोंदी",
        shell_words="जन्म|मृत्यू|किंवा|व|आणि|उच्चार",
    ),
}
"""ISO 639-1 code to the words of a wiki; other wikis have only the general conventions."""

_FILE_NAMESPACE, _CATEGORY_NAMESPACE = 6, 14


@dataclass(frozen=True)
class Conventions:
    """The conventions by which a wiki's pages are read; all words are in lower case.

    Attributes:
      language: the wiki's language, ISO 639-1.
      hidden_namespaces: names of the file and category namespaces.
      redirect_words: the first words of redirects.
      disambiguation_templates: finds the template of a disambiguation page.
      disambiguation_switches: such as `__DISAMBIG__`.
      disambiguation_titles: finds the title of a disambiguation page.
      list_titles: finds the title of a list.
      skipped_headings: headings of sections without prose.
      templates: the kept templates, by name.
      template_families: the kept templates that are listed by a pattern of their names.
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
    templates: Mapping[str, Text]
    template_families: tuple[tuple[re.Pattern[str], Text], ...]
    shell_words: frozenset[str]

    def kept_template(self, name: str) -> Text | None:
        """Returns a template's text (see `kept_templates`) by the name between its braces; None if it is dropped."""
        name = name.strip().replace("_", " ").lower()
        if (text := self.templates.get(name)) is not None:
            return text
        return next((text for names, text in self.template_families if names.fullmatch(name)), None)

    def hides(self, target: str) -> bool:
        """Returns whether a target with a prefix is a file or category, so that its link shows nothing."""
        return target.partition(":")[0].strip().lower() in self.hidden_namespaces or file_names.is_file(target)


def conventions_for(language: str, namespaces: Mapping[int, str]) -> Conventions:
    """Returns the conventions of a language's wiki.

    Args:
      language: ISO 639-1 code.
      namespaces: number to local name, from the dump; the English names are valid in every wiki.

    Raises:
      ValueError: the code is not in ISO 639-1.

    Example:
      >>> conventions_for("fr", {6: "Fichier", 14: "Catégorie"}).kept_template("vers")
      ('vers {1}',)
    """
    if language not in LANGUAGES:
        raise ValueError(f"a wiki's language must be an ISO 639-1 code; got {language!r}. See the wiki's domain.")
    own = LANGUAGE_WORDS.get(language, Documented())
    local = (namespaces.get(number, "") for number in (_FILE_NAMESPACE, _CATEGORY_NAMESPACE))
    files = (file_names.LANGUAGE_NAMES.get(language, ""), file_names.EVERYWHERE)
    templates = _either(own.disambiguation_templates, ENGLISH.disambiguation_templates)
    words = _either(own.disambiguation_titles, ENGLISH.disambiguation_titles)
    beginnings = _either(own.list_beginnings, ENGLISH.list_beginnings)
    # A template's name has spaces or underscores.
    names = _choice(templates).replace(r"\ ", "[ _]")
    endings = f"|.*(?:{_choice(own.list_endings.split('|'))})$" if own.list_endings else ""
    kept = (kept_templates.EVERYWHERE, *kept_templates.LANGUAGE_TABLES.get(language, ()))
    return Conventions(
        language=language,
        hidden_namespaces=frozenset(
            name.lower() for name in (*local, *_either(*files, own.category_names, ENGLISH.category_names)) if name
        ),
        redirect_words=_either(own.redirect_words, ENGLISH.redirect_words),
        disambiguation_templates=re.compile(rf"\{{\{{\s*(?:{names})\s*[|}}]", re.IGNORECASE),
        disambiguation_switches=_either(own.disambiguation_switch, ENGLISH.disambiguation_switch),
        disambiguation_titles=re.compile(rf"\((?:{_choice(words)})\)$", re.IGNORECASE),
        list_titles=re.compile(rf"(?:{_choice(beginnings)}){endings}"),
        skipped_headings=frozenset(_either(own.skipped_headings, ENGLISH.skipped_headings)),
        templates={name: text for table in kept for name, text in table.texts.items()},
        template_families=tuple(family for table in kept for family in table.families),
        shell_words=frozenset(_either(own.shell_words, ENGLISH.shell_words)),
    )


def _either(*names: str) -> tuple[str, ...]:
    """Returns the distinct words of several lists."""
    return tuple(dict.fromkeys(word for words in names for word in words.split("|") if word))


def _choice(names: Iterable[str]) -> str:
    """Returns a pattern that matches each of the names."""
    return "|".join(map(re.escape, names))

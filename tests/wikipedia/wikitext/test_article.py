"""wikipedia/wikitext/article.py: articles, their links and redirects, as a reader of eight wikis sees them."""

import contextlib
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from smooth_clir.wikipedia.wikitext.article import MAX_LEAD, link_targets, read_article, redirect_target
from smooth_clir.wikipedia.wikitext.conventions import conventions_for
from smooth_clir.wikipedia.wikitext.markup import MAX_OPEN, TooCostly, visible

HERE = Path(__file__).parent
NAMESPACES = {
    "en": {6: "File", 14: "Category"},
    "fr": {6: "Fichier", 14: "Catégorie"},
    "de": {6: "Datei", 14: "Kategorie"},
    "ru": {6: "Файл", 14: "Категория"},
    "ar": {6: "ملف", 14: "تصنيف"},
    "ja": {6: "ファイル", 14: "Category"},
    "sw": {6: "Picha", 14: "Jamii"},
    "tl": {6: "Talaksan", 14: "Kategorya"},
}
ENGLISH = conventions_for("en", NAMESPACES["en"])
MANY = 1_000_000  # words, more than a page has


def examples(name: str) -> list[Any]:
    return list(yaml.safe_load((HERE / name).read_text(encoding="utf-8")))


LEADS = [(language, lead) for language in NAMESPACES for lead in examples(f"leads/{language}.yaml")]


@pytest.mark.parametrize(
    ("language", "lead"), LEADS, ids=lambda value: value if isinstance(value, str) else value["convention"]
)
def test_a_lead_in_a_wikis_conventions_gives_the_sentences_that_one_reads(language: str, lead: dict[str, Any]) -> None:
    article = read_article(lead["wikitext"], lead["title"], conventions_for(language, NAMESPACES[language]))
    assert list(article.lead) == lead["lead"]
    space = "" if language == "ja" else " "
    assert article.text == lead.get("text", space.join(lead["lead"]))
    assert article.kind == lead.get("kind", "article")


@pytest.mark.parametrize("page", examples("nasty.yaml"), ids=lambda page: page["case"])
def test_a_nasty_page_gives_what_one_reads(page: dict[str, str]) -> None:
    assert read_article(page["wikitext"], "Foo", ENGLISH).text == page["text"]


# Kinds


@pytest.mark.parametrize(
    ("language", "title", "wikitext", "kind"),
    [
        ("en", "Mercury", "Mercury may be:\n* [[a]]\n{{Disambiguation|geo}}", "disambiguation"),
        ("en", "Smith", "{{hndis|Smith}}", "disambiguation"),
        ("en", "B1", "{{Letter-number_combination disambiguation}}", "disambiguation"),
        ("en", "Mercury", "Mercury may be:__DISAMBIG__", "disambiguation"),
        ("en", "Mercury (disambiguation)", "x", "disambiguation"),
        ("en", "Mercury", "{{Disambiguation needed}} {{about|a|b|Mercury (disambiguation)}}", "article"),
        ("en", "Mercury", "x <!-- {{disambig}} --> <nowiki>{{disambig}}</nowiki>", "article"),
        *(("en", "List of rivers", "x", "list"), ("en", "Listening", "x", "article")),
        *(("fr", "Mercure", "{{Homonymie}}", "disambiguation"), ("fr", "Liste des fleuves", "x", "list")),
        *(("fr", "Liste", "x", "article"), ("de", "Liste der Flüsse", "x", "list")),
        ("de", "Merkur", "x __BEGRIFFSKLÄRUNG__", "disambiguation"),
        *(("ru", "Список рек", "x", "list"), ("ru", "Меркурий (значения)", "x", "disambiguation")),
        *(("ar", "قائمة الأنهار", "x", "list"), ("ja", "日本の川の一覧", "x", "list")),
        ("ja", "一覧表", "x", "article"),
        *(("ja", "水星", "{{人名の曖昧さ回避}}", "disambiguation"), ("sw", "Orodha ya mito", "x", "list")),
        *(("tl", "Talaan ng mga ilog", "x", "list"), ("br", "Disamb", "{{disambig}}", "disambiguation")),
    ],
)
def test_a_page_is_reported_by_its_template_its_switch_or_its_title(
    language: str, title: str, wikitext: str, kind: str
) -> None:
    assert read_article(wikitext, title, conventions_for(language, {})).kind == kind


# How much is read

SECTION = "== Name ==\n" + "It is [[old]].<ref>See {{cite}}.</ref>\n\n" * 50


@pytest.mark.parametrize(
    ("count", "text"),
    [
        *((0, ""), (1, "Foo"), (4, "Foo is a bar."), (7, "Foo is a bar. It is old")),
        *((8, "Foo is a bar. It is old (very,"), (11, "Foo is a bar. It is old (very, very old). Its")),
    ],
)
def test_a_text_ends_after_its_words_with_their_punctuation(count: int, text: str) -> None:
    page = "'''Foo''' is a [[bar]].\n\nIt is old (very, very old).\n== Name ==\nIts name is new."
    assert read_article(page, "Foo", ENGLISH, count).text == text


@pytest.mark.parametrize("before", ["", f"{{{{a|{'b=[[c]]' * 4_000}}}}}", "{{", "<gallery>", "{|\n", "<!-- {{ -->"])
def test_how_much_of_a_page_is_read_at_a_time_does_not_show(before: str) -> None:
    page = f"{before}\n\n'''Foo''' is a bar.\n\n{SECTION * 40}"
    whole = read_article(page, "Foo", ENGLISH, max_tokens=MANY)
    first = read_article(page, "Foo", ENGLISH, max_tokens=20)
    assert first.lead == whole.lead == ("Foo is a bar.",)
    assert whole.text.startswith(first.text)
    assert len(first.text.split()) == 20


@pytest.mark.parametrize("size", [5_990, 6_000, 6_010, 24_000])
@pytest.mark.parametrize("inside", ["{{a|%s}}", "<ref>%s</ref>", "[[File:a|%s]]", "{|\n| %s\n|}", "<!-- %s -->"])
def test_markup_may_stand_across_what_is_read_at_a_time(size: int, inside: str) -> None:
    page = f"'''Foo''' is a bar.\n== Name ==\n{inside % ('x ' * (size // 2))}\nIt is old.\n" + SECTION * 40
    article = read_article(page, "Foo", ENGLISH, max_tokens=8)
    assert article.text == "Foo is a bar. It is old. It"


def test_links_are_those_of_the_whole_page() -> None:
    page = f"Foo is.\n{SECTION * 100}\n== Notes ==\n{{|\n| <ref>[[a]]</ref>\n|}}\n{{{{b|[[c]]}}}}\n[[Category:d]]"
    assert read_article(page, "Foo", ENGLISH, max_tokens=1).link_targets == ("old", "a", "c")


# Limits


def test_too_much_open_markup_is_refused() -> None:
    for wikitext in ["[[a|{{b|''" * 3_000, "{{" * (MAX_OPEN + 1), "Foo " + "[[a:" * (MAX_OPEN + 1)]:
        with pytest.raises(TooCostly, match=" 100 "):
            read_article(wikitext, "Foo", ENGLISH)
    nested = "{{nowrap|" * MAX_OPEN + "Foo" + "}}" * MAX_OPEN
    assert read_article(nested, "Foo", ENGLISH).text == "Foo"


def test_too_long_a_lead_is_refused_and_a_long_article_is_not() -> None:
    with pytest.raises(TooCostly, match=" 20,000 "):
        read_article("Foo is. " * (MAX_LEAD // 8 + 1), "Foo", ENGLISH)
    assert read_article("Foo.\n== Name ==\n" + "Foo is. " * MAX_LEAD, "Foo", ENGLISH).lead == ("Foo.",)


UNITS = [
    *"{{ }} [[ ]] {{a}} {{a| {{nowrap| {{lang|fr| {{!}} {{#if: {{disambig [[a|{{b|'' [[a]] [[a| [[File: [http://".split(),
    *"'' ''' = =a <ref> <ref <ref/> </ref> <!-- <nowiki> <math> <b> < & &# __ ( () (; /ˈ [ˈ « 漢。 ー カ ก".split(),
    *("[[a|b\n", "[//a ", "\n{|", "\n|}", "\n=", "\n==a==", "_ ", "\n*", "a\n\n", " ", "\0", "\ud800", "\r\n"),
    "a\u0301",
]
SIZE = 200_000


def seconds_of(page: str) -> float:
    """Reads a page, which may be too costly; returns the time of this process."""
    started = time.process_time()
    with contextlib.suppress(TooCostly):
        read_article(page, "A.", ENGLISH)
    return time.process_time() - started


@pytest.mark.parametrize("unit", UNITS)
def test_no_markup_takes_a_second_however_often_it_stands_there(unit: str) -> None:
    assert seconds_of(unit * (SIZE // len(unit))) < 1


@pytest.mark.parametrize(
    "page",
    [
        "{{convert" + "|1|to" * (SIZE // 5) + "}}",
        "{{chem" + "|1" * (SIZE // 2) + "}}",
        "'''A. B''' " * 1_800,
        "A. " * 6_600,
        "[[A:" + ".jpg" * (SIZE // 4) + "]]",
    ],
    ids=["numbers", "arguments", "bold", "title", "extensions"],
)
def test_no_long_template_name_or_file_takes_a_second(page: str) -> None:
    assert seconds_of(page) < 1


@pytest.mark.parametrize("page", ["東A B", "東A"], ids=["cut", "whole"])
def test_a_text_whose_last_word_is_whole_beyond_the_limit_has_as_many_words_as_the_limit(page: str) -> None:
    article = read_article(page, "A.", ENGLISH, max_tokens=1)
    assert (article.text, article.words) == ("東A", 1)


def test_the_time_of_a_page_does_not_grow_beyond_the_words_that_are_taken() -> None:
    assert seconds_of("'''Foo''' is a bar.\n" + SECTION * (20 * SIZE // len(SECTION))) < 1


# Laws

MARKUP = """
    {{ }} [[ ]] {| |} | = ' '' ''' ''''' <ref> </ref> <ref/> <!-- --> <nowiki> </nowiki> <br/> <math> </math> == __TOC__
    ( ) [ ] * : ; # , . & &amp; &#91; &lt;ref&gt; http:// [http://a File: Category: fr: lang nowrap a b é 東京 ب
    """.split()
pieces = st.sampled_from([*MARKUP, " ", "\n", "\n\n", "\n==", "\r\n", "\0"]) | st.text(max_size=3)
wikitexts = st.lists(pieces, max_size=60).map("".join)


@settings(max_examples=60)
@given(wikitexts, st.sampled_from([*NAMESPACES, "br", "th"]))
def test_generated_pages_give_clean_text(wikitext: str, language: str) -> None:
    conventions = conventions_for(language, {})
    article = read_article(wikitext, "Foo", conventions, max_tokens=MANY)
    for text in (article.text, *article.lead):
        assert not any(mark in text for mark in ("[[", "]]", "{{", "}}", "<ref", "\n", "\0"))
        assert text == " ".join(text.split())
        text.encode("utf-8")
    assert article.text.replace(" ", "").startswith("".join(article.lead).replace(" ", ""))
    assert all(article.lead)
    cut = read_article(wikitext, "Foo", conventions, max_tokens=5)
    assert article.text.startswith(cut.text)
    assert (cut.lead, cut.link_targets, cut.kind) == (article.lead, article.link_targets, article.kind)
    assert not any(set(target) & set("[]|{}<>\n") for target in article.link_targets)


FRENCH = conventions_for("fr", {6: "Fichier", 14: "Catégorie"})


@pytest.mark.parametrize(
    ("wikitext", "targets"),
    [
        ("[[a]] [[b|c]] [[d|]] [[a]]", ["a", "b", "d"]),
        ("[[a#b]] [[#b]] [[A_b]] [[ a ]] [[:a]]", ["a#b", "#b", "A_b", " a ", ":a"]),
        ("[[a|b [c] d]] [[b|''c'' {{d}}]]", ["a", "b"]),
        ("[[a|b\nc]]", ["a"]),
        ("{{a|[[b]]|c={{d|[[e]]}}}}", ["b", "e"]),
        ("<ref>[[a]]</ref>\n{|\n| [[b]]\n|}\n<gallery>\nFichier:x|[[c]]\n</gallery>", ["a", "b", "c"]),
        ("== [[a]] ==\n* [[b]]\n: [[c]]", ["a", "b", "c"]),
        ("[[Fichier:a.jpg|thumb|[[b]] [[c|d]]]] [[image:x]] [[File:y]]", ["b", "c"]),
        ("[[Catégorie:a|b]] [[category:c]] [[:Catégorie:d]]", [":Catégorie:d"]),
        ("[[fr:a]] [[wikt:b|c]] [[Star Trek: d]]", ["fr:a", "wikt:b", "Star Trek: d"]),
        ("<!-- [[a]] --> <nowiki>[[b]]</nowiki> <math>[[c]]</math> <pre>[[d]]</pre> [[e]]", ["e"]),
        *(("<!-- [[a]]", []), ("[[a<!-- b -->c]]", ["ac"]), ("[[a", []), ("[[a|b", []), ("[[a|b [[c]]", ["c"])),
        *(("[[a\nb]] [[]] [[|a]] [[{{a}}]] [[<b>a</b>]]", []), ("[[[a]]] [a] [[b]", ["a"]), ("]] [[a]]", ["a"])),
    ],
)
def test_links_of_a_page(wikitext: str, targets: list[str]) -> None:
    assert list(link_targets(visible(wikitext), FRENCH)) == targets


@pytest.mark.parametrize(
    ("language", "wikitext", "target"),
    [
        ("en", "#REDIRECT [[Foo]]", "Foo"),
        ("en", "#redirect[[Foo]]", "Foo"),
        ("en", "\n #Redirect : [[ Foo bar#Baz | x ]]\n{{R from move}}", "Foo bar#Baz"),
        *(("en", "#REDIRECT [[:Category:Foo]]", "Category:Foo"), ("en", "#WEITERLEITUNG [[Foo]]", None)),
        *(("en", "#REDIRECT Foo", None), ("en", "#REDIRECT [[]]", None), ("en", "#REDIRECT [[Foo", None)),
        *(("en", "See #REDIRECT [[Foo]]", None), ("en", "# [[Foo]]", None), ("en", "", None)),
        *(("fr", "#REDIRECTION [[Éléphant]]", "Éléphant"), ("de", "#WEITERLEITUNG [[Köln]]", "Köln")),
        *(("ru", "#перенаправление [[Москва]]", "Москва"), ("ru", "#ПЕРЕНАПРАВЛЕНИЕ [[Москва]]", "Москва")),
        *(("ru", "#перенапр [[Москва]]", "Москва"), ("ar", "#تحويل [[القاهرة]]", "القاهرة")),
        *(
            ("ja", "#転送 [[東京]]", "東京"),
            ("ja", "＃リダイレクト[[東京]]", "東京"),
            ("br", "#REDIRECT [[Breizh]]", "Breizh"),
        ),
    ],
)
def test_a_redirects_target(language: str, wikitext: str, target: str | None) -> None:
    assert redirect_target(wikitext, conventions_for(language, {})) == target


def test_a_long_redirect_takes_no_time() -> None:
    started = time.process_time()
    for wikitext in ("#REDIRECT" + " " * 2_000_000, "#REDIRECT [[" + "a|" * 1_000_000):
        assert redirect_target(wikitext, ENGLISH) is None
    assert time.process_time() - started < 1

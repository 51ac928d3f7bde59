"""wikipedia/wikitext/conventions.py: the words and templates of each wiki."""

import re

import pytest

from smooth_clir.wikipedia.wikitext import conventions as documented
from smooth_clir.wikipedia.wikitext import kept_templates
from smooth_clir.wikipedia.wikitext.article import read_article
from smooth_clir.wikipedia.wikitext.conventions import conventions_for
from smooth_clir.wikipedia.wikitext.markup import render_template


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="'simple'"):
        conventions_for("simple", {})
    assert set(documented.LANGUAGE_WORDS) == set(kept_templates.LANGUAGE_TABLES)


def test_the_general_conventions_take_the_namespaces_of_the_dump() -> None:
    page = "[[Restr:A.jpg|thumb|b]]'''Brest''' a zo ur gêr.[[Rummad:Kêrioù]] [[Image:C.jpg]]"
    assert read_article(page, "Brest", conventions_for("br", {6: "Restr", 14: "Rummad"})).text == "Brest a zo ur gêr."


TABLES = {id(table): table for tables in kept_templates.LANGUAGE_TABLES.values() for table in tables}


@pytest.mark.parametrize("table", [kept_templates.EVERYWHERE, *TABLES.values()], ids=lambda table: table.source)
def test_kept_templates_are_named_as_they_are_looked_up(table: kept_templates.Templates) -> None:
    assert re.fullmatch(r"https://[a-z]+\.wikipedia\.org/wiki/[^/:]+:", table.source)
    for name, text in table.texts.items():
        assert name == name.lower().replace("_", " ").strip() != ""
        for pattern in text if isinstance(text, tuple) else ():
            arguments = re.findall(r"\{([^{}]*)\}", pattern)
            assert all(re.fullmatch(r"\??(\d|[^\W\d_]+)(=\w+)?", argument) for argument in arguments)
            assert not re.search(r"[{}\[\]]", re.sub(r"\{[^{}]*\}", "", pattern))


def test_names_are_listed_as_they_are_looked_up() -> None:
    for own in documented.LANGUAGE_WORDS.values():
        for names in (own.category_names, own.redirect_words, own.disambiguation_templates, own.skipped_headings):
            assert names == names.lower() and len(set(names.split("|"))) == len(names.split("|"))
        assert all(word.startswith(("#", "＃")) for word in own.redirect_words.split("|") if word)


@pytest.mark.parametrize(
    ("language", "content", "text"),
    [
        *(("en", "convert|5|km|mi|abbr=on", "5 km"), ("en", "Convert", None), ("en", "lang|fr|", None)),
        *(("en", "lang-fr|Paris", "Paris"), ("en", "nihongo||漢字|kanji", "漢字"), ("en", "formatnum:1234", "1234")),
        *(("en", "formatnum:1234|R", "1234"), ("en", "unknown|a", None), ("en", "", None)),
        ("en", "nowrap|1=a=b", "a=b"),
        ("en", 'nowrap|<span class="a">b</span>', '<span class="a">b</span>'),
        *(("fr", "s|XIX|e", "XIXe siècle"), ("fr", "sp|XIX|e|au|XX|e", "XIXe au XXe siècle")),
        *(("fr", "heure|12|30", "12 h 30"), ("fr", "citation étrangère|en|Foo", "« Foo »")),
        *(("de", "enS|foo", "englisch foo"), ("de", "Audio|a.ogg|Foo", "Foo"), ("ru", "нп5|А|Б|en|A", "Б")),
        *(
            ("ru", "нп5|А||en|A", "А"),
            ("ar", "وإو|تر=A|عر=ب", "ب"),
            ("ja", "読み仮名_ruby不使用|東京|とうきょう", "東京（とうきょう）"),
        ),
        ("ja", "仮リンク|A|en|B|label=C", "C"),
    ],
)
def test_a_kept_template_gives_its_text(language: str, content: str, text: str | None) -> None:
    assert render_template(content, conventions_for(language, {})) == text

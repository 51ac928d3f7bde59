"""components/wikipedia_gen/wikitext/redirect.py: redirects in every wiki's word."""

import time

import pytest

from components.wikipedia_gen.wikitext.conventions import conventions_for
from components.wikipedia_gen.wikitext.redirect import redirect_target


@pytest.mark.parametrize(
    ("language", "wikitext", "target"),
    [
        ("en", "#REDIRECT [[Foo]]", "Foo"),
        ("en", "#redirect[[Foo]]", "Foo"),
        ("en", "\n #Redirect : [[ Foo bar#Baz | x ]]\n{{R from move}}", "Foo bar#Baz"),
        ("en", "#REDIRECT [[:Category:Foo]]", "Category:Foo"),
        ("en", "#WEITERLEITUNG [[Foo]]", None),
        ("en", "#REDIRECT Foo", None),
        ("en", "#REDIRECT [[]]", None),
        ("en", "#REDIRECT [[Foo", None),
        ("en", "See #REDIRECT [[Foo]]", None),
        ("en", "# [[Foo]]", None),
        ("en", "", None),
        ("fr", "#REDIRECTION [[Éléphant]]", "Éléphant"),
        ("fr", "#REDIRECT [[Loup]]", "Loup"),
        ("de", "#WEITERLEITUNG [[Köln]]", "Köln"),
        ("ru", "#перенаправление [[Москва]]", "Москва"),
        ("ru", "#ПЕРЕНАПРАВЛЕНИЕ [[Москва]]", "Москва"),
        ("ru", "#перенапр [[Москва]]", "Москва"),
        ("ar", "#تحويل [[القاهرة]]", "القاهرة"),
        ("ja", "#転送 [[東京]]", "東京"),
        ("ja", "＃リダイレクト[[東京]]", "東京"),
        ("sw", "#REDIRECT [[Nairobi]]", "Nairobi"),
        ("tl", "#REDIRECT [[Maynila]]", "Maynila"),
        ("br", "#REDIRECT [[Breizh]]", "Breizh"),
    ],
)
def test_a_redirects_target(language: str, wikitext: str, target: str | None) -> None:
    assert redirect_target(wikitext, conventions_for(language, {})) == target


def test_a_long_page_takes_no_time() -> None:
    started = time.process_time()
    for wikitext in ("#REDIRECT" + " " * 10_000_000, "#REDIRECT [[" + "a|" * 5_000_000):
        assert redirect_target(wikitext, conventions_for("en", {})) is None
    assert time.process_time() - started < 1

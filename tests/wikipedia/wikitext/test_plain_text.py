"""wikipedia/wikitext/plain_text.py: the rests of dropped templates are removed."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smooth_clir.wikipedia.wikitext.conventions import conventions_for
from smooth_clir.wikipedia.wikitext.markup import MARK
from smooth_clir.wikipedia.wikitext.plain_text import without_shells

# `@` stands for a dropped template here.
CASES = [
    *(("en", "Foo (@) is", "Foo is"), ("en", "Foo (@; @, @) is", "Foo is"), ("en", "Foo ( ) is (, ; )", "Foo is")),
    ("en", "Foo (born @) is", "Foo is"),
    ("en", "Foo (born @; died 5 May) is", "Foo (died 5 May) is"),
    ("en", "Foo (French: @, German: Fu) is", "Foo (German: Fu) is"),
    *(("en", "Foo (French: @ fu) is", "Foo (French: fu) is"), ("en", "Foo (@ or bar) is", "Foo (or bar) is")),
    *(("en", "Foo (bar @, baz) is", "Foo (bar, baz) is"), ("en", "Foo (a (@) b) is", "Foo (a b) is")),
    *(("en", "Foo ((@)) is", "Foo is"), ("en", "Foo (born 5 May) is", "Foo (born 5 May) is")),
    *(("en", "Foo (born) is", "Foo (born) is"), ("en", "Foo (IPA: [fuː]) is", "Foo is")),
    ("en", "Foo (/ˈfuː/ FOO; bar) is", "Foo (bar) is"),
    ("en", "Foo (and/or bar/baz) is", "Foo (and/or bar/baz) is"),
    *(("en", "Foo ([sic]) is", "Foo ([sic]) is"), ("en", "Foo (Ewe: Ɖe ɖe) is", "Foo (Ewe: Ɖe ɖe) is")),
    *(("en", "@Foo@ is@, a bar @.", "Foo is, a bar."), ("en", "a@b", "ab"), ("en", "a, @, b; @; c", "a, b; c")),
    ("fr", "Foo (né le @ à Paris) est", "Foo (né le à Paris) est"),
    *(("fr", "Foo (né le @) est @ ; bar", "Foo est ; bar"), ("de", "Foo (* @; † 1900) ist", "Foo († 1900) ist")),
    *(("ru", "Фу (род. @, Москва) —", "Фу (Москва) —"), ("ar", "فو (@؛ بار، @) هو", "فو (بار) هو")),
    *(
        ("ja", "東京（とうきょう、@）は", "東京（とうきょう）は"),
        ("ja", "東京（@）は@、都。", "東京は、都。"),
        ("sw", "Foo (alizaliwa @) ni", "Foo ni"),
    ),
    ("tl", "Foo (ipinanganak noong @) ay", "Foo ay"),
]


@pytest.mark.parametrize(("language", "text", "remaining"), CASES)
def test_a_shell_goes_and_what_says_something_stays(language: str, text: str, remaining: str) -> None:
    assert without_shells(text.replace("@", MARK), conventions_for(language, {})).strip() == remaining


@given(st.text(f"a (),;:[]/ˈ（）、{MARK}"))
def test_no_mark_stays_and_no_parenthesis_is_half_taken(text: str) -> None:
    remaining = without_shells(text, conventions_for("en", {}))
    assert MARK not in remaining
    for left, right in ("()", "（）"):
        assert text.count(left) - text.count(right) == remaining.count(left) - remaining.count(right) or "（" in text


@pytest.mark.parametrize("unit", ["(", ")", "()", "(;", MARK, f"({MARK}", f"{MARK} ", f",{MARK}", "/ˈ", "[ˈ", " "])
def test_shells_take_no_second(unit: str) -> None:
    started = time.process_time()
    without_shells(f"({unit * (20_000 // len(unit))})", conventions_for("en", {}))
    assert time.process_time() - started < 1

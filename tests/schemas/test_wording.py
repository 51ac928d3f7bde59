"""Users' text on a terminal: one line, no control sequences, no longer than asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.wording import printable


@given(text=st.text(), limit=st.integers(0, 30))
def test_a_printable_text_keeps_its_length_up_to_the_limit_where_an_ellipsis_stands_for_the_rest(text, limit):
    shown = printable(text, limit)
    assert shown.isprintable()
    assert printable(shown, len(shown)) == shown
    assert (len(shown), shown.endswith("…")) == (
        (len(text), text.endswith("…")) if len(text) <= limit else (limit + 1, True)
    )


@given(st.text().filter(str.isprintable))
def test_printable_text_stays_as_it_is(text):
    assert printable(text, len(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\r\nc", "a b  c"),
        ("\x1b[2J\x07", "\ufffd[2J\ufffd"),
        ("a\u202eb", "a\ufffdb"),  # right-to-left override
        ("a\u2028b\u0085c", "a\ufffdb\ufffdc"),
        ("L'Été 北京", "L'Été 北京"),
    ],
)
def test_white_space_becomes_a_space_and_controls_a_sign(text, shown):
    assert printable(text, 80) == shown

"""Markdown: no text is taken for markup."""

import re

from hypothesis import given
from hypothesis import strategies as st

from smooth_clir.experiments.report.markdown import Entry, listing, table


@given(st.tuples(*3 * [st.text(max_size=12)]))
def test_a_table_keeps_its_lines_and_columns_whatever_its_texts_are(texts):
    lines = table("", texts, [[Entry(text, text, True) for text in texts]]).split("\n")[2:]
    assert len(lines) == 3
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 4 for line in lines)
    assert all(re.fullmatch(r"[^<]*", re.sub("<br>", "", line)) for line in lines)


@given(st.text("`a\n", max_size=12))
def test_a_listing_ends_at_its_own_fence(text):
    _, opening, *_, closing = [line for line in listing("file", text).splitlines() if line]
    fence = opening.removesuffix("text")
    assert closing == fence
    assert fence not in text

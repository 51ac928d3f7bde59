"""Markdown: no text is taken for markup."""

import re

from hypothesis import given
from hypothesis import strategies as st

from experiments.report.page import Entry, Line, Listing, Page, Section, Table, as_markdown


def written(block: Table | Listing) -> str:
    return as_markdown(Page("title", (Section("id", "section", (block,)),)))


@given(st.tuples(*3 * [st.text(max_size=12)]))
def test_a_table_keeps_its_lines_and_columns_whatever_its_texts_are(texts):
    page = written(Table("", texts, (Line(tuple(Entry(text, text, True) for text in texts)),)))
    lines = page.split("section\n\n\n\n")[1].rstrip("\n").split("\n")
    assert len(lines) == 3
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 4 for line in lines)
    assert all(re.fullmatch(r"[^<]*", re.sub("<br>", "", line)) for line in lines)


@given(st.text("`a\n", max_size=12))
def test_a_listing_ends_at_its_own_fence(text):
    opening, *_, closing = [line for line in written(Listing("file", text)).splitlines() if line][3:]
    fence = opening.removesuffix("text")
    assert closing == fence
    assert fence not in text

"""dumps/find_dump_files.py: the parts of one dump in the order of their pages, and never two dumps."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from components.wikipedia_gen.dumps.find_dump_files import find_dump_files
from schemas.errors import DataError

PREFIX = "dumps/enwiki-20240101-pages-articles"


def find(*there: str) -> Sequence[str]:
    return find_dump_files("dumps/*", lambda pattern: there)


def test_numbered_parts_come_in_the_order_of_their_pages() -> None:
    parts = [
        *(f"{PREFIX}1.xml-p1p41242.bz2", f"{PREFIX}2.xml-p41243p151573.bz2", f"{PREFIX}10.xml-p4045403p5399366.bz2"),
        *(f"{PREFIX}27.xml-p73500000p74999999.bz2", f"{PREFIX}27.xml-p75000000p75714215.bz2"),
    ]
    assert find(*sorted(parts)) == find(*reversed(parts)) == parts


def test_parts_without_pages_in_their_names_come_in_the_order_of_their_numbers() -> None:
    assert find("dumps/w1.xml.gz", "dumps/w10.xml.gz", "dumps/w2.xml.gz") == [
        *("dumps/w1.xml.gz", "dumps/w2.xml.gz", "dumps/w10.xml.gz")
    ]


def test_content_file_exports_come_in_the_order_of_their_pages() -> None:
    parts = ["d/enwiki-2026-03-01-p10p1147431.xml.bz2", "d/enwiki-2026-03-01-p1147432p2304872.xml.bz2"]
    assert find(*reversed(parts), "d/SHA256SUMS", "d/_SUCCESS") == parts


def test_indexes_checksums_and_tables_are_left_out() -> None:
    part = f"{PREFIX}-multistream1.xml-p1p41242.bz2"
    others = [f"{PREFIX}-multistream-index1.txt-p1p41242.bz2", f"{part}.sha256", "dumps/enwiki-20240101-page.sql.gz"]
    assert find(part, *others) == [part]


def test_files_are_looked_for_on_disk(tmp_path: Path) -> None:
    for name in ("w1.xml-p1p2.bz2", "w2.xml-p3p4.bz2"):
        (tmp_path / name).touch()
    assert find_dump_files(f"{tmp_path}/w*.bz2") == [f"{tmp_path}/w1.xml-p1p2.bz2", f"{tmp_path}/w2.xml-p3p4.bz2"]


def test_a_path_that_is_no_pattern_may_have_any_name() -> None:
    assert find_dump_files("my dump") == ["my dump"]


@pytest.mark.parametrize(
    "there",
    [
        ["d/enwiki-20240101-pages-articles.xml.bz2", "d/frwiki-20240101-pages-articles.xml.bz2"],
        ["d/enwiki-20240101-pages-articles1.xml-p1p9.bz2", "d/enwiki-20240201-pages-articles2.xml-p10p19.bz2"],
        ["d/w-pages-articles1.xml-p1p9.bz2", "d/w-pages-articles-multistream1.xml-p1p9.bz2"],
        ["d/w-pages-articles.xml.bz2", "d/w-stub-articles.xml.gz"],
        ["a/w1.xml-p1p9.bz2", "b/w2.xml-p10p19.bz2"],
    ],
)
def test_files_of_several_dumps_are_refused(there: list[str]) -> None:
    with pytest.raises(DataError, match=r"^dumps/\* must match the files of one dump; it matches those of 2: "):
        find(*there)


@pytest.mark.parametrize(
    "there",
    [
        ["w.xml.bz2", "w1.xml-p1p9.bz2"],
        ["w.xml.bz2", "w1.xml.bz2"],
        ["w.xml.bz2", "w.xml"],
        ["w1.xml.bz2", "w1.xml.gz"],
        ["w1.xml.bz2", "w1.xml-p1p9.bz2"],
        ["w1.xml-p1p9.bz2", "w1.xml-p1p9.gz"],
        ["w1.xml-p1p9.bz2", "w1.xml-p9p12.bz2"],
        ["w1.xml-p1p99.bz2", "w1.xml-p5p6.bz2"],
    ],
)
def test_a_page_that_two_files_may_have_is_refused(there: list[str]) -> None:
    for order in (there, there[::-1]):
        with pytest.raises(DataError, match="may have pages in common"):
            find(*order)


def test_nothing_found_is_an_error() -> None:
    with pytest.raises(DataError, match=r"no dump file .* matches dumps/\*"):
        find("dumps/readme.txt")

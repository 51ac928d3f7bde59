"""wikipedia/dumps/tables.py: what each table says, in today's schema and in older ones."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from schemas.errors import DataError
from smooth_clir.wikipedia.dumps.tables import PageLinks, language_links, page_links, redirects, wikidata_sitelinks
from smooth_clir.wikipedia.dumps.titles import title_hash
from tests.memory_files import in_memory
from tests.wikipedia.dumps.dump_files import Value, sql_dump


def files(**tables: tuple[str, list[tuple[Value, ...]]]) -> Any:
    """Makes dumps of tables, each of its columns and rows, the only files."""
    return in_memory({f"{name}.sql": sql_dump(name, columns, *rows) for name, (columns, rows) in tables.items()})


def test_language_links_are_those_to_one_wiki() -> None:
    columns = "`ll_from` int,\n `ll_lang` varbinary(35),\n `ll_title` varbinary(255)"
    rows: list[tuple[Value, ...]] = [
        *((1, "de", "Wolf"), (1, "fr", "Loup gris"), (1, "frr", "Wulf"), (2, "fr", "'),(3,'fr','L'"), (3, "fr", "")),
        *((4, "fr", "Catégorie:Loup"), (5, "fr", "é".encode()[:1])),
    ]
    with files(langlinks=(columns, rows)):
        links = [*language_links("langlinks.sql", "fr")]
    assert links == [(1, "Loup gris"), (2, "'),(3,'fr','L'"), (4, "Catégorie:Loup"), (5, "\ufffd")]


def test_redirects_are_those_to_articles_of_the_same_wiki() -> None:
    columns = (
        "`rd_from` int,\n `rd_namespace` int,\n `rd_title` varbinary(255),\n "
        "`rd_interwiki` varbinary(32),\n `rd_fragment` varbinary(255)"
    )
    rows: list[tuple[Value, ...]] = [
        *((1, 0, "Grey_wolf", "", ""), (2, 0, "Grey_wolf", None, "Names in Latin"), (3, 14, "Wolves", None, None)),
        (4, 0, "Loup", "fr", ""),
    ]
    with files(redirect=(columns, rows)):
        assert [*redirects("redirect.sql")] == [(1, "Grey_wolf"), (2, "Grey_wolf")]


NEW_LINKS = "`pl_from` int,\n `pl_from_namespace` int,\n `pl_target_id` bigint(20) unsigned NOT NULL"
OLD_LINKS = "`pl_from` int,\n `pl_namespace` int,\n `pl_title` varbinary(255),\n `pl_from_namespace` int"
TARGETS = "`lt_id` bigint,\n `lt_namespace` int,\n `lt_title` varbinary(255)"
TARGET_ROWS: list[tuple[Value, ...]] = [(20, 0, "Grey_wolf"), (10, 0, "Dog"), (30, 14, "Wolves"), (40, 0, "'),(")]


def linked(batches: Iterator[PageLinks]) -> list[tuple[int, int]]:
    """(page id, title's hash) of each link."""
    links: list[tuple[int, int]] = []
    for page_ids, hashes in batches:
        assert (page_ids.dtype, hashes.dtype) == (np.int64, np.uint64)
        links += zip(page_ids.tolist(), hashes.tolist(), strict=True)
    return links


EXPECTED = [(1, title_hash("Grey wolf")), (1, title_hash("Dog")), (2, title_hash("'),("))]


OLD_ROWS: list[tuple[Value, ...]] = [
    *((1, 0, "Grey_wolf", 0), (1, 0, "Dog", 0), (2, 0, "'),(", 0), (2, 14, "Wolves", 0), (3, 0, "Dog", 1))
]


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (NEW_LINKS, [(1, 0, 20), (1, 0, 10), (2, 0, 40), (2, 0, 30), (2, 0, 99), (3, 1, 10)]),
        (OLD_LINKS, OLD_ROWS),
        # While a table had both, its titles counted.
        (
            f"{OLD_LINKS},\n `pl_target_id` bigint(20) unsigned",
            [(*row, id_) for row, id_ in zip(OLD_ROWS, [20, None] * 3, strict=False)],
        ),
    ],
    ids=["new", "old", "both"],
)
def test_links_have_titles_of_their_own_or_of_another_table(columns: str, rows: list[tuple[Value, ...]]) -> None:
    targets = "linktarget.sql" if columns == NEW_LINKS else None
    with files(pagelinks=(columns, rows), linktarget=(TARGETS, TARGET_ROWS)):
        assert linked(page_links("pagelinks.sql", targets)) == EXPECTED


def test_links_and_titles_in_several_batches() -> None:
    rows: list[tuple[Value, ...]] = [(number, 0, number % 9_000) for number in range(18_000)]
    titles: list[tuple[Value, ...]] = [(number, 0, f"Title_{number}") for number in range(9_000)]
    with files(pagelinks=(NEW_LINKS, rows), linktarget=(TARGETS, titles)):
        batches = [*page_links("pagelinks.sql", "linktarget.sql")]
    assert len(batches) > 1
    assert linked(iter(batches)) == [*enumerate(title_hash(f"Title {number % 9_000}") for number in range(18_000))]


def test_links_by_number_need_the_table_of_titles() -> None:
    with files(pagelinks=(NEW_LINKS, [(1, 0, 20)]), linktarget=(TARGETS, [])):
        assert linked(page_links("pagelinks.sql", "linktarget.sql")) == []
        with pytest.raises(DataError, match="linktarget.sql.gz"):
            page_links("pagelinks.sql", None)


# Wikidata

LINES = (
    "Q5\tenwiki\tHuman\nQ5\tfrwiki\tHumain\nQ3\tfrwiki\tVie\nQ144\tenwiki\tDog\nQ3\tenwiki\tLife\nQ1\tdewiki\tWeltall\n"
)
PAIRS = [("Life", "Vie"), ("Human", "Humain")]


def sitelinks(content: bytes) -> list[tuple[str, str]]:
    with in_memory({"sitelinks": content}):
        return [*wikidata_sitelinks("sitelinks", "enwiki", "frwiki")]


@pytest.mark.parametrize(
    "content",
    [
        LINES.encode(),
        LINES.replace("Q", "").encode(),
        b"\xef\xbb\xbf" + LINES.encode().replace(b"\n", b"\r\n") + b"\r\n",
        b"ips_item_id\tips_site_id\tips_site_page\n" + LINES.encode(),
        LINES.encode()[:-1],
    ],
)
def test_sitelinks_of_lines_are_joined_by_item(content: bytes) -> None:
    assert sitelinks(content) == PAIRS


def test_sitelinks_of_the_table_are_joined_by_item() -> None:
    columns = (
        "`ips_row_id` bigint,\n `ips_item_id` int,\n `ips_site_id` varbinary(32),\n `ips_site_page` varbinary(310)"
    )
    fields = [line.split("\t") for line in LINES.splitlines()]
    rows: list[tuple[Value, ...]] = [(9, int(item[1:]), database, title) for item, database, title in fields]
    assert sitelinks(sql_dump("wb_items_per_site", columns, *rows)) == PAIRS


def test_titles_of_sitelinks_are_whole() -> None:
    assert sitelinks("1\tenwiki\t狼 'x'\n2\tenwiki\t\n1\tfrwiki\tÉtat\n2\tfrwiki\tb\n".encode()) == [
        ("狼 'x'", "État"),
        ("", "b"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Q1\tenwiki\tA\nQ1\tenwiki\n", r"sitelinks:2: .* 3 .*'Q1 \| enwiki'"),
        (b"Q1\tenwiki\tA\nL1\tenwiki\tA\n", "sitelinks:2: "),
        (b"Q1,enwiki,A\n", "sitelinks:1: "),
        (b"Q1\tenwiki\tA\nQ1\tdewiki\tA\n", "frwiki"),
        (sql_dump("page", "`page_id` int"), "wb_items_per_site; got page"),
    ],
)
def test_what_are_no_sitelinks_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        sitelinks(content)

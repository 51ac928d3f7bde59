"""Reads language links, redirects, page links and Wikidata's sitelinks."""

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.errors import DataError
from schemas.wikiclir import excerpt_of
from smooth_clir.wikipedia.dumps.reading import damaged, unpacked_file
from smooth_clir.wikipedia.dumps.sql_dump import read_batches, read_rows, sql_columns
from smooth_clir.wikipedia.dumps.sql_syntax import Value
from smooth_clir.wikipedia.dumps.titles import title_hashes


def language_links(path: str, code: str) -> Iterator[tuple[int, str]]:
    """Yields the links of `langlinks.sql.gz` to another wiki: (page id here, title there).

    Pages of all namespaces have such links. Titles are as written, not in their normal form.

    Args:
      path: the dump.
      code: the other wiki, see `SiteInfo.code`.

    Raises:
      DataError: see `read_rows`.
    """
    wanted = code.encode()
    for page_id, lang, title in read_rows(path, "langlinks", ("ll_from", "ll_lang", "ll_title")):
        if lang == wanted and title:
            yield _integer(page_id), _text(title)


def redirects(path: str) -> Iterator[tuple[int, str]]:
    """Yields the rows of `redirect.sql.gz` that lead to the wiki's own articles: (page id, title of the article).

    Raises:
      DataError: see `read_rows`.
    """
    columns = ("rd_from", "rd_namespace", "rd_title", "rd_interwiki")
    for page_id, namespace, title, interwiki in read_rows(path, "redirect", columns):
        if not namespace and not interwiki:
            yield _integer(page_id), _text(title)


def _integer(value: Value) -> int:
    """Returns a number that fits into an int64; otherwise -1, which names no page and no namespace of articles."""
    return value if isinstance(value, int) and value < 2**63 else -1


def _text(value: Value) -> str:
    """Decodes a value of a binary column in UTF-8; empty for NULL.

    Titles were once cut at 255 bytes, perhaps within a character, which becomes U+FFFD; no title contains U+FFFD.
    """
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


class PageLinks(NamedTuple):
    """Many links from pages to titles.

    Attributes:
      page_ids: the pages with the links: int64 [links].
      targets: the `title_hash` of the titles to which they lead: uint64 [links].
    """

    page_ids: npt.NDArray[np.int64]
    targets: npt.NDArray[np.uint64]


_LINKS: Final = "pagelinks"
_TARGETS: Final = "linktarget"


def page_links(path: str, targets_path: str | None) -> Iterator[PageLinks]:
    """Yields the links of `pagelinks.sql.gz` between articles, in the order of the dump.

    Since 2024 the table names titles by numbers, which are in `linktarget.sql.gz`. Memory holds 16 bytes for each title
    in the main namespace.

    Args:
      path: the dump of `pagelinks`.
      targets_path: the dump of `linktarget`; None for older dumps of links.

    Raises:
      DataError: as in `read_rows`; or the titles are missing.
    """
    columns = sql_columns(path, _LINKS)
    if "pl_title" in columns:  # for some months dumps had both columns, and some numbers were missing
        return _with_titles(path)
    if targets_path is None:
        raise DataError(
            f"{path}: the links name their targets by numbers; name the linktarget.sql.gz of the same dump, too."
        )
    return _with_numbers(path, targets_path)


def _with_numbers(path: str, targets_path: str) -> Iterator[PageLinks]:
    known, known_hashes = _article_titles(targets_path)
    for batch in read_batches(path, _LINKS, ("pl_from", "pl_from_namespace", "pl_target_id")):
        page_ids, namespaces, numbers = map(_integers, batch)
        is_article = namespaces == 0
        page_ids, numbers = page_ids[is_article], numbers[is_article]
        rows = np.searchsorted(known, numbers)
        is_there = rows < len(known)
        is_there[is_there] = known[rows[is_there]] == numbers[is_there]
        yield PageLinks(page_ids[is_there], known_hashes[rows[is_there]])


def _article_titles(path: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Returns the numbers of the titles of the main namespace, sorted, and the hashes of these titles."""
    number_parts, hash_parts = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    for batch in read_batches(path, _TARGETS, ("lt_id", "lt_namespace", "lt_title")):
        is_article = _integers(batch[1]) == 0
        number_parts.append(_integers(batch[0])[is_article])
        hash_parts.append(_hashes(batch[2])[is_article])
    numbers, hashes = np.concatenate(number_parts), np.concatenate(hash_parts)
    if np.any(numbers[1:] <= numbers[:-1]):
        order = np.argsort(numbers, kind="stable")
        numbers, hashes = numbers[order], hashes[order]
    return numbers, hashes


def _with_titles(path: str) -> Iterator[PageLinks]:
    columns = ("pl_from", "pl_from_namespace", "pl_namespace", "pl_title")
    for batch in read_batches(path, _LINKS, columns):
        page_ids, namespaces, target_namespaces = map(_integers, batch[:3])
        is_there = (namespaces == 0) & (target_namespaces == 0)
        yield PageLinks(page_ids[is_there], _hashes(batch[3])[is_there])


def _integers(values: Sequence[Value]) -> npt.NDArray[np.int64]:
    try:
        return np.array(values, np.int64)
    except (TypeError, OverflowError):
        return np.array([_integer(value) for value in values], np.int64)


def _hashes(titles: Sequence[Value]) -> npt.NDArray[np.uint64]:
    return title_hashes(title.replace(b"_", b" ") for title in titles if isinstance(title, bytes))


_SITELINKS: Final = "wb_items_per_site"
_SQL: Final = re.compile(rb"\s*(?:--|/\*|CREATE\b|DROP\b|SET\b|INSERT\b)", re.IGNORECASE)
_ITEM: Final = re.compile(rb"Q?([0-9]{1,18})")


def wikidata_sitelinks(path: str, query_db: str, document_db: str) -> Iterator[tuple[str, str]]:
    """Yields the titles of each item that has a page in both wikis, in the order of the items.

    Args:
      path: either
        - lines `item id <TAB> database of the wiki <TAB> title`, the result of `SELECT ips_item_id, ips_site_id,
          ips_site_page FROM wb_items_per_site`: an item as 42 or Q42, a title with spaces or underscores and with its
          namespace; no quoting; perhaps a first line with column names; plain, gzipped or bzipped; or
        - that table's own dump, `wikidatawiki-...-wb_items_per_site.sql.gz`.
      query_db, document_db: the databases of the wikis, such as enwiki.

    Yields:
      the title in the first wiki and the title in the second, as they were written.

    Raises:
      DataError: the file has neither form, is damaged, or names no page of a wiki.

    Example:
      >>> import tempfile
      >>> lines = b"Q144\\tenwiki\\tDog\\nQ18498\\tenwiki\\tWolf\\nQ18498\\tfrwiki\\tLoup gris\\n"
      >>> with tempfile.NamedTemporaryFile() as file:
      ...     _ = file.write(lines), file.flush()
      ...     [*wikidata_sitelinks(file.name, "enwiki", "frwiki")]
      [('Wolf', 'Loup gris')]
    """
    queries, documents = _Titles(), _Titles()
    titles_of = {query_db.encode(): queries, document_db.encode(): documents}
    for item, database, title in _sitelinks(path):
        if (titles := titles_of.get(database)) is not None:
            titles.add(item, title)
    for database, titles in titles_of.items():
        if not titles.items:
            raise DataError(
                f"{path}: must have pages of {query_db} and {document_db}; got none of {database.decode()}. Name the "
                "wikis by their databases, or take another file."
            )
    _, query_rows, document_rows = np.intersect1d(queries.item_ids(), documents.item_ids(), return_indices=True)
    for query_row, document_row in zip(query_rows.tolist(), document_rows.tolist(), strict=True):
        yield queries.title(query_row), documents.title(document_row)


class _Titles:
    """The titles of a wiki, in 16 bytes more than their own for each; a list of strings would take a hundred more."""

    def __init__(self) -> None:
        self.items = array("q")
        self._ends = array("q")
        self._text = bytearray()

    def add(self, item: int, title: bytes) -> None:
        self.items.append(item)
        self._text += title
        self._ends.append(len(self._text))

    def item_ids(self) -> npt.NDArray[np.int64]:
        """Returns the item of each title: int64 [titles]."""
        return np.frombuffer(self.items, np.int64)

    def title(self, row: int) -> str:
        start = self._ends[row - 1] if row else 0
        return self._text[start : self._ends[row]].decode("utf-8", "replace")


def _sitelinks(path: str) -> Iterator[tuple[int, bytes, bytes]]:
    blocks = unpacked_file(path)
    first = next(blocks, b"")
    if not _SQL.match(first):
        yield from _read_lines(path, chain([first], blocks))
        return
    blocks.close()
    columns = ("ips_item_id", "ips_site_id", "ips_site_page")
    for item, database, title in read_rows(path, _SITELINKS, columns):
        yield _integer(item), bytes(database or b""), bytes(title or b"")  # type: ignore[arg-type]  # text columns


def _read_lines(path: str, blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    number = 0
    unfinished = b""
    for block in chain(blocks, [b"\n"]):
        *lines, unfinished = (unfinished + block).split(b"\n")
        for line in lines:
            number += 1
            fields = line.removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf" * (number == 1)).split(b"\t")
            if len(fields) == 3 and (item := _ITEM.fullmatch(fields[0])):
                yield int(item[1]), fields[1], fields[2]
            elif line.strip() and not (number == 1 and len(fields) == 3):
                raise damaged(
                    f"{path}:{number}",
                    f"expected 3 tab-separated fields (item id, database of the wiki, title); got {excerpt_of(line)!r}",
                )

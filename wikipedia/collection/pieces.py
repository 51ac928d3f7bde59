"""Reads one piece of a dump into files: its texts are cut and cleaned here, before anything is joined."""

import io
import json
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas.byte_streams import OpenFile
from schemas.drops import Drop, DropCounter, DropReason, Drops
from wikipedia.collection.leaks import HASHES, signature
from wikipedia.dumps.chunks import Chunk
from wikipedia.dumps.page_parser import PageReason
from wikipedia.dumps.read_pages import read_pages
from wikipedia.dumps.site_info import SiteInfo
from wikipedia.dumps.titles import Titles, title_hash
from wikipedia.wikitext.article import KINDS, Wanted, read_article, redirect_target
from wikipedia.wikitext.conventions import conventions_for
from wikipedia.wikitext.markup import TooCostly


class ArticleArrays(NamedTuple):
    """The articles and redirects of a piece of a dump, in the dump's order. Titles are hashes (`title_hash`)."""

    titles: npt.NDArray[np.uint64]
    """[articles]"""
    page_ids: npt.NDArray[np.int64]
    """[articles]"""
    kinds: npt.NDArray[np.uint8]
    """[articles], places in `KINDS`."""
    words: npt.NDArray[np.int32]
    """[articles], of their texts."""
    signatures: npt.NDArray[np.uint32]
    """[articles, `near_duplicates.HASHES`]"""
    link_counts: npt.NDArray[np.int32]
    """[articles]"""
    links: npt.NDArray[np.uint64]
    """[links], of one article after the other: the titles that it links to."""
    redirect_ids: npt.NDArray[np.int64]
    """[redirects], their page ids."""
    redirects: npt.NDArray[np.uint64]
    """[redirects], their titles."""
    redirect_targets: npt.NDArray[np.uint64]
    """[redirects], the titles that they lead to."""


def write_arrays(arrays: NamedTuple, path: str, open_file: OpenFile) -> None:
    """Writes arrays by their names."""
    packed = io.BytesIO()
    np.savez(packed, **arrays._asdict())
    with open_file(path, "wb") as file:
        file.write(packed.getvalue())


def read_array(path: str, name: str, open_file: OpenFile) -> npt.NDArray[Any]:
    """Reads one of them."""
    with open_file(path, "rb") as file, np.load(_seekable(file), allow_pickle=False) as arrays:
        array: npt.NDArray[Any] = arrays[name]
    return array


def _seekable(file: Any) -> Any:
    """A local file as it is; of another the bytes."""
    return file if isinstance(file, io.BufferedReader) else io.BytesIO(file.read())


"""Opens a file, local or remote: (path, mode) -> stream of bytes."""

TEXTS: Final = ".texts"
"""Ending of a piece's texts, a line an article: title, text, and the sentences of its lead, separated by tabs."""
REDIRECTS: Final = ".redirects"
"""Of the titles of its redirects, a line each."""
ARRAYS: Final = ".npz"
_KNOWN_LINKS: Final = 1 << 16
"""Links whose titles' hashes are kept at hand: 13 MB."""

_ACCOUNT: Final = ".json"
"""Written last: a piece that has one is whole."""


class Piece(NamedTuple):
    """A piece of a dump, and how it is read."""

    name: str
    language: str
    site: SiteInfo
    chunk: Chunk
    wanted: Wanted
    max_words: int


class PieceAccount(NamedTuple):
    """What became of a piece's pages: read = articles + redirects + drops."""

    read: int
    articles: int
    redirects: int
    links: int
    drops: tuple[Drops, ...]


def read_articles(piece: Piece, folder: str, open_file: OpenFile) -> PieceAccount:
    """Writes the texts, the redirects' titles and the arrays of a piece into a folder.

    A piece that is there already, whole, is not read again.

    Raises:
      DataError: the dump is damaged.
    """
    path = os.path.join(folder, piece.name)
    if account := _read_account(path + _ACCOUNT, open_file):
        return account
    reading = ArticleReader(piece)
    with ExitStack() as stack:
        texts, redirects = (stack.enter_context(open_file(path + ending, "wb")) for ending in (TEXTS, REDIRECTS))
        for line, redirect in reading.lines(open_file):
            (redirects if redirect else texts).write(line.encode() + b"\n")
    write_arrays(reading.arrays(), path + ARRAYS, open_file)
    account = reading.account()
    with open_file(path + _ACCOUNT, "wb") as file:
        content = account._asdict() | {"drops": [one.as_dict() for one in account.drops]}
        file.write(json.dumps(content).encode())
    return account


class ArticleReader:
    """Reads the articles and redirects of a piece, and gathers what is no text of them."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self._titles = Titles(piece.site)
        self._conventions = conventions_for(piece.language, piece.site.namespaces)
        self._drops = DropCounter()
        self._read = 0
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._signatures: list[Any] = []
        self._links: list[Any] = []
        self._redirects: list[tuple[int, int, int]] = []
        self._link_hash = _link_hasher(self._titles)

    def lines(self, open_file: OpenFile) -> Iterable[tuple[str, bool]]:
        """A line for each article and redirect, and whether it is one's."""
        for page in read_pages(self._piece.chunk, open_file):
            self._read += 1
            if isinstance(page, Drop):
                self._drop(page.reason, page.line, page.excerpt)
                continue
            title = self._titles.normal(page.title)
            target = page.redirect or redirect_target(page.text, self._conventions)
            if target is not None:
                self._add_redirect(page.page_id, title, self._titles.of_link(target))
                yield title, True
                continue
            try:
                article = read_article(page.text, title, self._conventions, self._piece.max_words, self._piece.wanted)
            except TooCostly as error:
                self._drop(PageReason.TOO_COSTLY, page.page_id, f"{page.title}: {error}")
                continue
            name = title_hash(title)
            targets = {*map(self._link_hash, article.link_targets)} - {name, None}
            self._rows.append((name, page.page_id, KINDS.index(article.kind), article.words, len(targets)))
            self._links.append(np.array([*targets], np.uint64))
            if self._piece.wanted.text:
                self._signatures.append(signature(article.text))
            yield "\t".join([title, article.text, *article.lead]), False

    def _drop(self, reason: DropReason, page_id: int, excerpt: str) -> None:
        # By the wiki and not the file: what is said of a page is the same wherever and however its dump lies.
        self._drops.add(Drop(reason, self._piece.site.database, page_id, excerpt))

    def _add_redirect(self, page_id: int, title: str, target: str | None) -> None:
        # One that leads nowhere is kept: it is counted with those whose article is missing.
        self._redirects.append((page_id, title_hash(title), title_hash(target or "")))

    def arrays(self) -> ArticleArrays:
        """What was gathered."""
        columns = list(zip(*self._rows, strict=True)) or [()] * 5
        redirects = list(zip(*self._redirects, strict=True)) or [()] * 3
        return ArticleArrays(
            titles=np.array(columns[0], np.uint64),
            page_ids=np.array(columns[1], np.int64),
            kinds=np.array(columns[2], np.uint8),
            words=np.array(columns[3], np.int32),
            signatures=np.array(self._signatures, np.uint32).reshape(-1, HASHES),
            link_counts=np.array(columns[4], np.int32),
            links=np.concatenate([np.empty(0, np.uint64), *self._links]),
            redirect_ids=np.array(redirects[0], np.int64),
            redirects=np.array(redirects[1], np.uint64),
            redirect_targets=np.array(redirects[2], np.uint64),
        )

    def account(self) -> PieceAccount:
        """The counts."""
        links = sum(len(one) for one in self._links)
        return PieceAccount(self._read, len(self._rows), len(self._redirects), links, self._drops.drops())


def _link_hasher(titles: Titles) -> Callable[[str], int | None]:
    """The hash of the title that a link leads to, None where it is no article's. Most links lead to a few articles."""

    @lru_cache(_KNOWN_LINKS)
    def link_hash(target: str) -> int | None:
        title = titles.of_link(target)
        return None if title is None else title_hash(title)

    return link_hash


def _read_account(path: str, open_file: OpenFile) -> PieceAccount | None:
    """The account of a piece that is there, whole; None where it is not."""
    try:
        with open_file(path, "rb") as file:
            content = json.loads(file.read())
    except (FileNotFoundError, ValueError):
        return None
    drops = tuple(Drops.from_dict(one, PageReason) for one in content.pop("drops"))
    return PieceAccount(**content, drops=drops)

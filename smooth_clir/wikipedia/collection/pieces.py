"""Reads a piece of a dump into files; cuts and cleans its texts before anything is joined."""

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from schemas import file_system
from schemas.byte_streams import stream_sha256
from schemas.drops import Drop, DropCounter, DropReason, Drops
from schemas.json_files import parse_json
from smooth_clir.wikipedia.collection.leaks import HASHES, signature
from smooth_clir.wikipedia.dumps.chunks import Chunk
from smooth_clir.wikipedia.dumps.page_parser import Page, PageReason
from smooth_clir.wikipedia.dumps.read_pages import read_pages
from smooth_clir.wikipedia.dumps.site_info import SiteInfo
from smooth_clir.wikipedia.dumps.titles import Titles, title_hash
from smooth_clir.wikipedia.wikitext.article import KINDS, Wanted, read_article, redirect_target
from smooth_clir.wikipedia.wikitext.conventions import conventions_for
from smooth_clir.wikipedia.wikitext.markup import TooCostly

TEXTS: Final = ".texts"
"""Suffix of a piece's texts. Each line is an article: title, text, and the sentences of its lead, separated by tabs."""
REDIRECTS: Final = ".redirects"
"""Suffix of the titles of a piece's redirects, a line each."""
ARRAYS: Final = ".npz"
_ACCOUNT: Final = ".json"
"""Suffix of a piece's account. Written last. It starts with its own digest and lists the other files' digests; the
piece is complete if all of them match."""

_KNOWN_LINKS: Final = 1 << 16
"""Number of links whose titles' hashes are cached: 13 MB."""


class Piece(NamedTuple):
    """A piece of a dump, and how it is read."""

    name: str
    language: str
    site: SiteInfo
    chunk: Chunk
    wanted: Wanted
    max_words: int


class PieceAccount(NamedTuple):
    """The account of a piece's pages: read = articles + redirects + drops."""

    read: int
    articles: int
    redirects: int
    links: int
    drops: tuple[Drops, ...]


class ArticleArrays(NamedTuple):
    """The articles and redirects of a piece, in the dump's order. Titles are hashes (`title_hash`).

    Attributes:
      titles: [articles].
      page_ids: [articles].
      kinds: indexes into `KINDS`, [articles].
      words: the number of words of each text, [articles].
      signatures: [articles, `HASHES`].
      link_counts: [articles].
      links: the titles to which the articles link, one article after the other, [links].
      redirect_ids: page ids, [redirects].
      redirects: titles, [redirects].
      redirect_targets: the titles to which the redirects lead, [redirects].
    """

    titles: npt.NDArray[np.uint64]
    page_ids: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.uint8]
    words: npt.NDArray[np.int32]
    signatures: npt.NDArray[np.uint32]
    link_counts: npt.NDArray[np.int32]
    links: npt.NDArray[np.uint64]
    redirect_ids: npt.NDArray[np.int64]
    redirects: npt.NDArray[np.uint64]
    redirect_targets: npt.NDArray[np.uint64]


def write_arrays(arrays: Mapping[str, Any], path: str) -> None:
    """Writes arrays with their names."""
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    with file_system.open_file(path, "wb") as file:
        file.write(packed.getvalue())


def read_array(path: str, name: str) -> npt.NDArray[Any]:
    """Reads the array of this name."""
    with file_system.open_file(path, "rb") as file:
        # NumPy seeks, which remote files cannot do well.
        content = file if isinstance(file, io.BufferedReader) else io.BytesIO(file.read())
        with np.load(content, allow_pickle=False) as arrays:
            array: npt.NDArray[Any] = arrays[name]
    return array


def read_articles(piece: Piece, folder: str) -> PieceAccount:
    """Writes the texts, redirects' titles and arrays of a piece into a folder; keeps the whole files of a killed run.

    Raises:
      DataError: the dump is damaged.
    """
    path = os.path.join(folder, piece.name)
    if account := _read_account(path):
        return account
    reader = ArticleReader(piece)
    with ExitStack() as stack:
        files = (file_system.open_file(path + ending, "wb") for ending in (TEXTS, REDIRECTS))
        texts, redirects = map(stack.enter_context, files)
        for line, is_redirect in reader.lines(read_pages(piece.chunk)):
            (redirects if is_redirect else texts).write(line.encode() + b"\n")
    write_arrays(reader.arrays()._asdict(), path + ARRAYS)
    account = reader.account()
    with file_system.open_file(path + _ACCOUNT, "wb") as file:
        content = account._asdict() | {"drops": [drops.as_dict() for drops in account.drops]}
        content["sha256"] = _digests(path)
        text = json.dumps(content).encode()
        file.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
    return account


def _digests(path: str) -> dict[str, str]:
    """Returns the SHA-256 of each file of a piece except its account, by suffix."""
    digests = {}
    for ending in (TEXTS, REDIRECTS, ARRAYS):
        with file_system.open_file(path + ending, "rb") as file:
            digests[ending] = stream_sha256(file)
    return digests


def _read_account(path: str) -> PieceAccount | None:
    """Returns the account of a complete piece, or None."""
    try:
        with file_system.open_file(path + _ACCOUNT, "rb") as file:
            digest, _, text = file.read().partition(b"\n")
        if hashlib.sha256(text).hexdigest().encode() != digest:
            return None
        content = parse_json(text)
        if content.pop("sha256") != _digests(path):
            return None
    except FileNotFoundError:
        return None
    drops = tuple(Drops.from_dict(entry, PageReason) for entry in content.pop("drops"))
    return PieceAccount(**content, drops=drops)


class ArticleReader:
    """Reads the articles and redirects of a piece."""

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

    def lines(self, pages: Iterable[Page | Drop]) -> Iterable[tuple[str, bool]]:
        """Yields a line for each article and redirect of the piece's pages, and whether it is a redirect."""
        for page in pages:
            self._read += 1
            if isinstance(page, Drop):
                self._drop(page.reason, page.line, page.excerpt)
                continue
            title = self._titles.normal(page.title)
            target = page.redirect or redirect_target(page.text, self._conventions)
            if target is not None:
                # Keeps a redirect that leads nowhere, to count it with redirects to missing articles.
                leads_to = title_hash(self._titles.linked_title(target) or "")
                self._redirects.append((page.page_id, title_hash(title), leads_to))
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
        # Names the wiki and not the file, so that a drop does not depend on where and how the dump is stored.
        self._drops.add(Drop(reason, self._piece.site.database, page_id, excerpt))

    def arrays(self) -> ArticleArrays:
        """Returns the arrays of all pages that were read."""
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
        """Returns the counts of all pages that were read."""
        links = sum(len(targets) for targets in self._links)
        return PieceAccount(self._read, len(self._rows), len(self._redirects), links, self._drops.drops())


def _link_hasher(titles: Titles) -> Callable[[str], int | None]:
    """Returns a function from a link to the hash of its article's title, or None; cached, as many links repeat."""

    @lru_cache(_KNOWN_LINKS)
    def link_hash(target: str) -> int | None:
        title = titles.linked_title(target)
        return None if title is None else title_hash(title)

    return link_hash

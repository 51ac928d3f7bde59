"""Small wikis, in files as Wikimedia packs them, and collections made of them."""

import bz2
import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from smooth_clir.wikipedia.collection.build import build_collection
from smooth_clir.wikipedia.collection.read_dumps import read_dumps
from smooth_clir.wikipedia.dumps.files import find_dump_files
from smooth_clir.wikipedia.settings import WikipediaSettings
from tests.wikipedia.dumps.dump_files import Value, dump, multistream, page, sql_dump

PACKINGS = {"plain": ".xml", "bz2": ".xml.bz2", "multistream": "-multistream.xml.bz2", "gz": ".xml.gz"}
"""The ends of the names of dumps, by how they are packed."""


class SmallWiki(NamedTuple):
    """A wiki: title to wikitext for each page, and title to title in the other language."""

    language: str
    pages: Mapping[str, str]
    language_links: Mapping[str, str] = {}

    def page_id(self, title: str) -> int:
        """The id of a page, which is not its place."""
        return 10 * list(self.pages).index(title) + 3

    def write(self, folder: Path, packing: str = "bz2") -> dict[str, str]:
        """Writes the pages and the language links; returns their settings."""
        about = {"database": f"{self.language}wiki", "language": self.language}
        texts = [page(self.page_id(title), title, text) for title, text in self.pages.items()]
        content = dump(*texts, **about)
        stem = folder / f"{self.language}wiki-20260101-pages-articles"
        path = f"{stem}{PACKINGS[packing]}"
        if packing == "multistream":
            content, index = multistream(texts, 2, **about)
            Path(f"{stem}-multistream-index.txt.bz2").write_bytes(index)
        if packing in ("bz2", "gz"):
            content = bz2.compress(content) if packing == "bz2" else gzip.compress(content, mtime=0)
        Path(path).write_bytes(content)
        links = [(self.page_id(title), linked_title) for title, linked_title in self.language_links.items()]
        return {"pages": path, **({"language_links": self._write_links(folder, links)} if links else {})}

    def _write_links(self, folder: Path, links: Sequence[tuple[int, str]]) -> str:
        linked_language = "fr" if self.language == "en" else "en"
        rows = [(page_id, linked_language, title) for page_id, title in links]
        return write_table(folder / f"{self.language}wiki-langlinks.sql.gz", "langlinks", LANGLINKS, rows)


LANGLINKS = ("ll_from", "ll_lang", "ll_title")


def write_table(path: Path, table: str, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Writes a table as mysqldump does; returns its path."""
    numbers = ("_from", "_id", "_namespace")
    types = ["int(8) unsigned" if column.endswith(numbers) else "varbinary(255)" for column in columns]
    definitions = ",\n  ".join(f"`{column}` {kind}" for column, kind in zip(columns, types, strict=True))
    path.write_bytes(gzip.compress(sql_dump(table, definitions, *rows), mtime=0))
    return str(path)


class Made(NamedTuple):
    """A collection as its files have it."""

    queries: list[list[str]]
    documents: list[list[str]]
    judgments: list[list[str]]
    title_pairs: list[list[str]]
    manifest: dict[str, Any]
    folder: Path


def make(
    folder: Path,
    wikis: Mapping[str, Mapping[str, str]],
    pair: tuple[str, str] = ("en", "fr"),
    apply: Any = map,
    **settings: Any,
) -> Made:
    """Makes a collection of files; short texts are good enough."""
    validated = WikipediaSettings.model_validate(
        {"wikis": wikis, "min_query_words": 1, "min_document_words": 1, **settings}
    )
    files = {key: find_dump_files(path) for key, path in validated.inputs().items()}
    out, work = folder / "out", folder / "work"
    for made_folder in (out, work):
        made_folder.mkdir(exist_ok=True)
    dumps = read_dumps([pair], validated, files, str(work), apply)
    manifest = build_collection(pair, validated, dumps, str(out))
    return Made(
        rows(out, f"wiki_{pair[0]}.queries*"),
        rows(out, f"wiki_{pair[1]}.documents*"),
        rows(out, f"{pair[0]}2{pair[1]}.rel*"),
        rows(out, "title_pairs.tsv"),
        manifest,
        out,
    )


def rows(folder: Path, pattern: str) -> list[list[str]]:
    """The fields of the lines of a file, or of its shards."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob(pattern)))
    return [line.split("\t") for line in text.split("\n")[:-1]]


def drops(report: Mapping[str, Any]) -> dict[str, int]:
    """Reason to count."""
    return {entry["reason"]: entry["count"] for entry in report["drops"]}

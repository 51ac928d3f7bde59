"""A look into dumps: for some seconds each is read as the making reads it, from its midst on."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from components.wikipedia_gen.dumps.chunks import dump_chunks
from components.wikipedia_gen.dumps.site_info import read_site_info
from components.wikipedia_gen.read_articles import ArticleReader, Piece, PieceAccount
from components.wikipedia_gen.settings import WikipediaSettings
from components.wikipedia_gen.wikitext.read_article import KINDS, Wanted
from components.wikipedia_gen.wikitext.without_title import without_title

SECONDS: Final = 3.0
EXAMPLES: Final = 20

_LEAST_PAGES: Final = 20
"""However long they take."""
_LONGEST: Final = 300
"""Characters of an example's text."""


@dataclass(frozen=True)
class Look:
    """What a part of a dump holds.

    Attributes:
      language: of the wiki.
      account: what became of the pages that were read.
      seconds: that they took.
      read_bytes: of the dump as it is stored, that they take.
      dump_bytes: of the whole dump.
      kept_bytes: of the texts that were kept of them.
      kinds: how many articles are of each kind, in the order of `KINDS`.
      without_lead: articles without a sentence above the first heading.
      examples: title, first sentence without the title's words, and text.
    """

    language: str
    account: PieceAccount
    seconds: float
    read_bytes: int
    dump_bytes: int
    kept_bytes: int
    kinds: tuple[int, ...]
    without_lead: int
    examples: tuple[tuple[str, str, str], ...]

    @property
    def share(self) -> float:
        """Of the dump, that was read."""
        return min(self.read_bytes / self.dump_bytes, 1.0)

    def describe(self) -> Iterator[str]:
        """Lines for a person: counts, shares and examples."""
        account = self.account
        articles = max(account.articles, 1)
        yield (
            f"{self.language}: {account.read:,} pages read, {self.share:.1%} of the dump, in {self.seconds:.1f} s: "
            f"{account.articles:,} articles, {account.redirects:,} redirects"
        )
        yield from (f"  {one.count:,} left out: {one.reason.text}" for one in account.drops)
        shares = ", ".join(f"{count / articles:.1%} {kind}" for kind, count in zip(KINDS, self.kinds, strict=True))
        links = account.links / articles
        yield f"  {shares}; {self.without_lead / articles:.1%} without a lead; {links:.1f} links each"
        for title, query, text in self.examples:
            yield from (f"  {title}", f"    query: {query}", f"    text: {text}")

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        account = self.account._asdict() | {"drops": [one.as_dict() for one in self.account.drops]}
        examples = [dict(zip(("title", "query", "text"), one, strict=True)) for one in self.examples]
        return {
            "language": self.language,
            **account,
            "share": self.share,
            "seconds": self.seconds,
            "kinds": dict(zip(KINDS, self.kinds, strict=True)),
            "without_lead": self.without_lead,
            "examples": examples,
        }


def look_into(
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
    seconds: float = SECONDS,
) -> list[Look]:
    """Reads a part of the dump of each wiki that a pair names.

    Args:
      pairs, settings, files: see `read_dumps`; the files are on this machine.
      seconds: that are spent on each wiki.

    Raises:
      DataError: a dump is damaged, as far as it was read.
    """
    languages = dict.fromkeys(language for pair in pairs for language in pair)
    return [_look(language, settings, files[f"wikis.{language}.pages"], seconds) for language in languages]


def _look(language: str, settings: WikipediaSettings, paths: Sequence[str], seconds: float) -> Look:
    site = read_site_info(paths[0], open)
    chunks = dump_chunks(paths[len(paths) // 2], open)
    counted = _Counted()
    piece = Piece(language, language, site, chunks[len(chunks) // 2], Wanted(), settings.max_words)
    reader = ArticleReader(piece)
    started = time.perf_counter()
    examples: list[tuple[str, str, str]] = []
    kept = without_lead = 0
    for number, (line, is_redirect) in enumerate(reader.lines(counted.open)):
        if not is_redirect:
            kept += len(line.encode())
            title, text, *lead = line.split("\t")
            without_lead += not lead
            if lead and len(examples) < EXAMPLES:
                examples.append((title, without_title(lead[0], [title]), _cut(text)))
        if number >= _LEAST_PAGES and time.perf_counter() - started > seconds:
            break
    taken = time.perf_counter() - started
    kinds = reader.arrays().kinds.tolist()
    return Look(
        language=language,
        account=reader.account(),
        seconds=taken,
        read_bytes=counted.bytes,
        dump_bytes=sum(os.path.getsize(path) for path in paths),
        kept_bytes=kept,
        kinds=tuple(kinds.count(kind) for kind in range(len(KINDS))),
        without_lead=without_lead,
        examples=tuple(examples),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class _Counted:
    """Opens files, and counts the bytes that are read of them."""

    def __init__(self) -> None:
        self.bytes = 0

    def open(self, path: str, mode: str) -> Any:
        """Opens a file."""
        return _CountedFile(open(path, mode), self)


class _CountedFile:
    """A file whose bytes are counted as they are read."""

    def __init__(self, file: Any, count: _Counted) -> None:
        self._file = file
        self._count = count

    def read(self, size: int = -1) -> bytes:
        """Reads bytes."""
        data: bytes = self._file.read(size)
        self._count.bytes += len(data)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "_CountedFile":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

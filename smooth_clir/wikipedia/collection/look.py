"""Looks into dumps before a collection is made: counts, examples, and the time, disk and memory of a collection.

Each dump is read for a few seconds, from its middle to its end and then from its start.
"""

import io
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from schemas.drops import sum_of_drops
from schemas.errors import DataError
from schemas.wording import rounded, rounded_duration, rounded_size
from smooth_clir.wikipedia.collection.pieces import ArticleReader, Piece, PieceAccount
from smooth_clir.wikipedia.dumps.chunks import Chunk, dump_chunks
from smooth_clir.wikipedia.dumps.read_pages import pages_in
from smooth_clir.wikipedia.dumps.site_info import read_site_info
from smooth_clir.wikipedia.settings import WikipediaSettings
from smooth_clir.wikipedia.wikitext.article import KINDS, Wanted
from smooth_clir.wikipedia.wikitext.residue import residue
from smooth_clir.wikipedia.wikitext.words import without_title

_SECONDS: Final = 3.0
"""Time to spend on each wiki."""
EXAMPLES: Final = 20
_SUSPICIOUS_EXAMPLES: Final = 2

_MIN_PAGES: Final = 20
"""Fewest pages that are read, however long they take."""
_LONGEST: Final = 300
"""Characters of an example's text."""


@dataclass(frozen=True)
class Look:
    """A part of a dump.

    Attributes:
      language: the wiki's language.
      account: the account of the read pages.
      seconds: the time of reading.
      read_bytes: the size of the read pages in the stored dump.
      dump_bytes: the size of the whole dump.
      kept_bytes: the size of the kept texts.
      kinds: the number of articles of each kind, in the order of `KINDS`.
      without_lead: the number of articles without a sentence above the first heading.
      sentences: the number of the other articles.
      suspicious: the number of suspicious first sentences, by suspicion (see `residue`).
      suspicious_examples: title, first sentence and suspicion.
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
    sentences: int
    suspicious: Mapping[str, int]
    suspicious_examples: tuple[tuple[str, str, str], ...]
    examples: tuple[tuple[str, str, str], ...]

    @property
    def share(self) -> float:
        """The share of the dump that was read."""
        return min(self.read_bytes / self.dump_bytes, 1.0)

    def describe(self) -> Iterator[str]:
        """Yields lines for a person: counts, shares and examples."""
        account = self.account
        articles = max(account.articles, 1)
        yield (
            f"{self.language}: {account.read:,} pages read, {self.share:.1%} of the dump, in {self.seconds:.1f} s: "
            f"{account.articles:,} articles, {account.redirects:,} redirects"
        )
        yield from (f"  {drops.count:,} left out: {drops.reason.text}" for drops in account.drops)
        shares = ", ".join(f"{count / articles:.1%} {kind}" for kind, count in zip(KINDS, self.kinds, strict=True))
        links = account.links / articles
        yield f"  {shares}; {self.without_lead / articles:.1%} without a lead; {links:.1f} links each"
        share = sum(self.suspicious.values()) / max(self.sentences, 1)
        counts = ", ".join(f"{count:,} {suspicion}" for suspicion, count in self.suspicious.items())
        yield f"  {share:.1%} of {self.sentences:,} first sentences are suspicious{': ' if counts else ''}{counts}"
        yield from (f"    {title} ({suspicion}): {sentence}" for title, sentence, suspicion in self.suspicious_examples)
        for title, query, text in self.examples:
            yield from (f"  {title}", f"    query: {query}", f"    text: {text}")

    def as_dict(self) -> dict[str, Any]:
        account = self.account._asdict() | {"drops": [drops.as_dict() for drops in self.account.drops]}
        examples = [dict(zip(("title", "query", "text"), example, strict=True)) for example in self.examples]
        return {
            "language": self.language,
            **account,
            "share": self.share,
            "seconds": self.seconds,
            "kinds": dict(zip(KINDS, self.kinds, strict=True)),
            "without_lead": self.without_lead,
            "sentences": self.sentences,
            "suspicious": dict(self.suspicious),
            "suspicious_examples": [
                dict(zip(("title", "sentence", "what"), example, strict=True)) for example in self.suspicious_examples
            ],
            "examples": examples,
        }


def look_into(
    pairs: Sequence[tuple[str, str]], settings: WikipediaSettings, files: Mapping[str, Sequence[str]]
) -> list[Look]:
    """Reads a part of the dump of each wiki in a pair.

    Args:
      pairs, settings, files: see `read_dumps`; the files are on this machine.

    Raises:
      DataError: the part of a dump that was read is damaged.
    """
    languages = dict.fromkeys(language for pair in pairs for language in pair)
    return [_look(language, settings, files[f"wikis.{language}.pages"]) for language in languages]


def _look(language: str, settings: WikipediaSettings, paths: Sequence[str]) -> Look:
    site = read_site_info(paths[0])
    read_bytes: Counter[str] = Counter()
    readers: list[ArticleReader] = []
    chunks = _from_the_middle(paths)
    # Started before the clock, because a dump without an index is first searched for its streams.
    first = next(chunks)
    started = time.perf_counter()

    def lines() -> Iterator[tuple[str, bool]]:
        for chunk in chain([first], chunks):
            readers.append(ArticleReader(Piece(language, language, site, chunk, Wanted(), settings.max_words)))
            with _CountedFile(io.FileIO(chunk.path), read_bytes) as stream:
                yield from readers[-1].lines(pages_in(stream, chunk))

    suspicious: Counter[str] = Counter()
    suspicious_examples: list[tuple[str, str, str]] = []
    examples: list[tuple[str, str, str]] = []
    kept = sentences = without_lead = 0
    for number, (line, is_redirect) in enumerate(lines()):
        if not is_redirect:
            kept += len(line.encode())
            title, text, *lead = line.split("\t")
            without_lead += not lead
            if lead:
                sentences += 1
                if suspicion := residue(lead[0]):
                    suspicious[suspicion] += 1
                    # Shows at most one example of each suspicion.
                    if len(suspicious_examples) < _SUSPICIOUS_EXAMPLES and suspicious[suspicion] == 1:
                        suspicious_examples.append((title, _cut(lead[0]), suspicion))
                if len(examples) < EXAMPLES:
                    examples.append((title, without_title(lead[0], [title]), _cut(text)))
        if number >= _MIN_PAGES and time.perf_counter() - started > _SECONDS:
            break
    taken = time.perf_counter() - started
    accounts = [reader.account() for reader in readers]
    kinds = [kind for reader in readers for kind in reader.arrays().kinds.tolist()]
    return Look(
        language=language,
        account=PieceAccount(
            read=sum(account.read for account in accounts),
            articles=sum(account.articles for account in accounts),
            redirects=sum(account.redirects for account in accounts),
            links=sum(account.links for account in accounts),
            drops=sum_of_drops(drops for account in accounts for drops in account.drops),
        ),
        seconds=taken,
        read_bytes=read_bytes.total(),
        dump_bytes=sum(os.path.getsize(path) for path in paths),
        kept_bytes=kept,
        kinds=tuple(kinds.count(kind) for kind in range(len(KINDS))),
        without_lead=without_lead,
        sentences=sentences,
        suspicious=dict(suspicious.most_common()),
        suspicious_examples=tuple(suspicious_examples),
        examples=tuple(examples),
    )


def _from_the_middle(paths: Sequence[str]) -> Iterator[Chunk]:
    """Yields all chunks of a dump, starting in the middle."""
    middle = len(paths) // 2
    for path in (*paths[middle:], *paths[:middle]):
        chunks = dump_chunks(path)
        yield from chunks[len(chunks) // 2 :]
        yield from chunks[: len(chunks) // 2]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class _CountedFile(io.BufferedReader):
    """A file that counts the bytes that are read, by its name."""

    def __init__(self, file: io.FileIO, counts: Counter[str]) -> None:
        super().__init__(file)
        self._counts = counts

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self._counts[self.name] += len(data)
        return data


SMALL_BYTES: Final = 1 << 24
"""Largest size of dumps that are read faster than estimated."""

_TABLE_BYTES_A_SECOND: Final = 4e6
"""Bytes of a gzipped table that are read in a second."""
_BASE_BYTES: Final = 250e6
"""Memory of Python, its libraries, and a piece of a dump."""
_BYTES_A_PAGE: Final = 160
"""Memory of an article or redirect, and its title."""
_BYTES_A_LINK: Final = 20
"""Memory of a link while mutual links are found."""
_GAIN: Final = 0.8
"""Speed of each process after the first, because they share memory and disk."""


@dataclass(frozen=True)
class Estimate:
    """The cost of making a collection.

    Attributes:
      pages: the pages of all dumps.
      processes: the processes that read the dumps.
      seconds: the total time.
      disk_bytes: the largest size of the output; half of it is kept.
      memory_bytes: the memory of the largest process.
    """

    pages: int
    processes: int
    seconds: float
    disk_bytes: int
    memory_bytes: int

    def describe(self) -> Iterator[str]:
        """Yields a line for a person."""
        yield (
            f"estimate: some {rounded(self.pages):,} pages, {rounded_duration(self.seconds)} with {self.processes} "
            f"process{'es' if self.processes > 1 else ''}, {rounded_size(self.disk_bytes)} of disk while it is made, "
            f"{rounded_size(self.memory_bytes)} of memory"
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def preflight(
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
    folder: str,
    say: Callable[[str], None],
    processes: int | None = None,
) -> None:
    """Announces the cost of a large collection, and refuses one that does not fit on the disk.

    Args:
      pairs, settings, files: see `read_dumps`; the files are on this machine.
      folder: the output, which need not exist.
      say: called with a line for a person.
      processes: the number of processes that read the dumps; None for one a core.

    Raises:
      DataError: the disk has too little free space, or the part of a dump that was read is damaged.
    """
    if sum(os.path.getsize(path) for paths in files.values() for path in paths) < SMALL_BYTES:
        return
    expected = estimate_making(pairs, settings, files, processes)
    for line in expected.describe():
        say(line)
    existing = Path(folder)
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    if free < expected.disk_bytes:
        raise DataError(
            f"{folder} must be on a disk with {rounded_size(expected.disk_bytes)} free, estimated from a part of the "
            f"dumps; got {rounded_size(free)}. Free space, or choose another output."
        )


def estimate_making(
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
    processes: int | None = None,
) -> Estimate:
    """Estimates the cost from the sizes of the files and a few seconds of reading each dump.

    Args:
      pairs, settings, files, processes: see `preflight`.

    Raises:
      DataError: the part of a dump that was read is damaged.
    """
    looks = look_into(pairs, settings, files)
    tables = [path for key, paths in files.items() if not key.endswith(".pages") for path in paths]
    table_bytes = sum(map(os.path.getsize, tables))
    processes = processes or len(os.sched_getaffinity(0))
    pages = sum(look.account.read / look.share for look in looks)
    links = sum(look.account.links / look.share for look in looks)
    kept = sum(look.kept_bytes / look.share for look in looks)
    seconds = sum(look.seconds / look.share for look in looks) + table_bytes / _TABLE_BYTES_A_SECOND
    return Estimate(
        pages=round(pages),
        processes=processes,
        seconds=seconds / (1 + _GAIN * (processes - 1)),
        disk_bytes=round(2 * kept + 8 * links + 64 * pages),
        memory_bytes=round(_BASE_BYTES + _BYTES_A_PAGE * pages + _BYTES_A_LINK * links),
    )

"""Reads all dump files, each piece by itself and perhaps elsewhere."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from schemas.byte_streams import OpenFile
from schemas.errors import DataError
from wikipedia.collection.pieces import Piece, read_articles
from wikipedia.collection.read_tables import (
    TableRead,
    read_language_links,
    read_page_links,
    read_redirects,
    read_sitelinks,
)
from wikipedia.collection.wiki import ReadWiki
from wikipedia.dumps.chunks import dump_chunks
from wikipedia.dumps.files import FileSum, check_sums
from wikipedia.dumps.site_info import SiteInfo, wiki_site
from wikipedia.settings import WikipediaSettings
from wikipedia.wikitext.article import Wanted

Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""Applies a function to items, as `map` does."""

_progress = logging.getLogger("clir.progress")


@dataclass(frozen=True)
class Dumps:
    """All that was read.

    Attributes:
      wikis: by language.
      language_links: of the pages of a wiki to those of another, by their languages.
      sitelinks: by the languages of a pair.
      files: the inputs by the keys of their settings.
    """

    wikis: Mapping[str, ReadWiki]
    language_links: Mapping[tuple[str, str], TableRead]
    sitelinks: Mapping[tuple[str, str], TableRead]
    files: Mapping[str, Sequence[FileSum]]

    def notes(self) -> Iterator[str]:
        """What a person should know of the files."""
        unverified = [one.path for some in self.files.values() for one in some if not one.verified_by]
        if unverified:
            yield f"no checksum lies beside {', '.join(map(os.path.basename, unverified))}: taken as it is"


def read_dumps(
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
    work: str,
    open_file: OpenFile,
    apply: Apply = map,
) -> Dumps:
    """Reads what pairs of wikis need.

    Args:
      pairs: languages of the queries and of the documents.
      settings: how dumps become a collection.
      files: of each input that is given, by its key (`WikipediaSettings.paths`).
      work: a folder for what is read.
      open_file: opens what is read and what is written.
      apply: reads the pieces, perhaps elsewhere and several at a time.

    Raises:
      DataError: a file is damaged, has another checksum, or is of another wiki.
    """
    work_of = _Work(pairs, settings, files, work, open_file)
    names, tasks = list(work_of.tasks), list(work_of.tasks.values())
    results: dict[Any, Any] = {}
    for name, result in zip(names, apply(_do, tasks), strict=True):
        results[name] = result
        _progress.info("%d of %d pieces of dumps read", len(results), len(tasks))
    checked = {key: [results["file", path] for path in paths] for key, paths in files.items()}
    wikis = {
        language: ReadWiki(
            pieces,
            [results["piece", piece.name] for piece in pieces],
            results.get(("redirects", language)),
            results.get(("links", language)),
            work,
            open_file,
        )
        for language, pieces in work_of.pieces.items()
    }
    if faults := [line for wiki in wikis.values() for line in wiki.report.faults(settings.max_bad_share, "pages")]:
        raise DataError("\n".join(faults))
    return Dumps(
        wikis,
        {key[1:]: result for key, result in results.items() if key[0] == "language_links"},
        {key[1:]: result for key, result in results.items() if key[0] == "sitelinks"},
        checked,
    )


class _Work:
    """What is to be done, each by itself."""

    def __init__(
        self,
        pairs: Sequence[tuple[str, str]],
        settings: WikipediaSettings,
        files: Mapping[str, Sequence[str]],
        work: str,
        open_file: OpenFile,
    ) -> None:
        self._settings = settings
        self._files = files
        languages = list(dict.fromkeys(language for pair in pairs for language in pair))
        sites = {language: wiki_site(files[f"wikis.{language}.pages"], language, open_file) for language in languages}
        self.pieces = {language: self._pieces(language, sites[language], pairs, open_file) for language in languages}
        common: dict[str, Any] = {"folder": work, "open_file": open_file}
        self.tasks: dict[Any, partial[Any]] = {}
        for pieces in self.pieces.values():
            for piece in pieces:
                self.tasks["piece", piece.name] = partial(read_articles, piece, **common)
        for language, site in sites.items():
            if redirects := self._of(language, "redirects"):
                name = f"{language}-redirects"
                self.tasks["redirects", language] = partial(read_redirects, name, redirects, site, **common)
            links = self._of(language, "page_links")
            if links and any(language == document_language for _, document_language in pairs):
                targets = self._of(language, "link_targets")
                name = f"{language}-links"
                self.tasks["links", language] = partial(read_page_links, name, links, targets, **common)
        for query_language, document_language in pairs:
            for one, other in ((query_language, document_language), (document_language, query_language)):
                path = self._of(one, "language_links")
                if path and one != other:
                    name = f"{one}-{other}-language-links"
                    self.tasks["language_links", one, other] = partial(
                        read_language_links, name, path, sites[other], **common
                    )
            if settings.sitelinks and query_language != document_language:
                both = sites[query_language], sites[document_language]
                name = f"{query_language}-{document_language}-sitelinks"
                self.tasks["sitelinks", query_language, document_language] = partial(
                    read_sitelinks, name, files["sitelinks"][0], both, **common
                )
        for path in dict.fromkeys(path for some in files.values() for path in some):
            self.tasks["file", path] = partial(_check, path, open_file)

    def _of(self, language: str, key: str) -> str | None:
        paths = self._files.get(f"wikis.{language}.{key}")
        return paths[0] if paths else None

    def _pieces(
        self, language: str, site: SiteInfo, pairs: Sequence[tuple[str, str]], open_file: OpenFile
    ) -> list[Piece]:
        queries = any(language == query_language for query_language, _ in pairs)
        documents = any(language == document_language for _, document_language in pairs)
        whole_texts = self._settings.queries == "text"
        wanted = Wanted(text=documents or (queries and whole_texts), lead=queries and not whole_texts, links=documents)
        chunks = [chunk for path in self._files[f"wikis.{language}.pages"] for chunk in dump_chunks(path, open_file)]
        return [
            Piece(f"{language}-{number:05}", language, site, chunk, wanted, self._settings.max_words)
            for number, chunk in enumerate(chunks)
        ]


def _check(path: str, open_file: OpenFile) -> FileSum:
    """A file, whose checksum is right where one lies beside it."""
    (found,) = check_sums([path], lambda line: None, open_file)
    return found


def _do(task: Callable[[], Any]) -> Any:
    """Does one thing."""
    return task()

"""Reads all dump files, piece by piece, perhaps in several processes or on several machines."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from schemas.apply import Apply
from schemas.errors import DataError
from smooth_clir.wikipedia.collection.pieces import Piece, read_articles
from smooth_clir.wikipedia.collection.read_tables import (
    TableRead,
    read_language_links,
    read_page_links,
    read_redirects,
    read_sitelinks,
)
from smooth_clir.wikipedia.collection.wiki import Wiki
from smooth_clir.wikipedia.dumps.chunks import dump_chunks
from smooth_clir.wikipedia.dumps.files import FileSum, check_sum, file_states
from smooth_clir.wikipedia.dumps.site_info import SiteInfo, wiki_site
from smooth_clir.wikipedia.settings import WikipediaSettings
from smooth_clir.wikipedia.wikitext.article import Wanted

_progress = logging.getLogger("clir.progress")


@dataclass(frozen=True)
class Dumps:
    """The content of all dump files.

    Attributes:
      wikis: the wikis, by language.
      language_links: links from a wiki's pages to another wiki's, by both languages.
      sitelinks: Wikidata's links, by both languages.
      files: the files by the keys of their settings.
    """

    wikis: Mapping[str, Wiki]
    language_links: Mapping[tuple[str, str], TableRead]
    sitelinks: Mapping[tuple[str, str], TableRead]
    files: Mapping[str, Sequence[FileSum]]

    def notes(self) -> Iterator[str]:
        """Yields notes on the files for a person."""
        unverified = [file.path for files in self.files.values() for file in files if not file.verified_by]
        if unverified:
            yield f"not verified, because no checksum is in the folder: {', '.join(map(os.path.basename, unverified))}"


def read_dumps(
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
    work: str,
    apply: Apply = map,
) -> Dumps:
    """Reads the dumps of pairs of wikis.

    Args:
      pairs: the languages of the queries and of the documents.
      settings: how dumps become a collection.
      files: the files of each given input, by its key (`WikipediaSettings.inputs`).
      work: a folder for the pieces.
      apply: shares the pieces among workers.

    Raises:
      DataError: a file is damaged, has another checksum, is from another wiki, or changes meanwhile.
    """
    states = file_states(files)
    languages = list(dict.fromkeys(language for pair in pairs for language in pair))
    sites = {language: wiki_site(files[f"wikis.{language}.pages"], language) for language in languages}
    pieces = {language: _pieces(language, sites[language], pairs, settings, files) for language in languages}
    tasks: dict[tuple[str, ...], partial[Any]] = {
        ("piece", piece.name): partial(read_articles, piece, work) for piece in chain(*pieces.values())
    }
    tasks |= _table_tasks(pairs, sites, files, work)
    for path in dict.fromkeys(chain(*files.values())):
        tasks["file", path] = partial(check_sum, path)
    results: dict[tuple[str, ...], Any] = {}
    for name, result in zip(list(tasks), apply(_do, list(tasks.values())), strict=True):
        results[name] = result
        _progress.info("%d of %d pieces of dumps read", len(results), len(tasks))
    if changed := sorted(path for path, state in file_states(files).items() if state != states[path]):
        raise DataError(
            f"{' and '.join(changed)} changed while the run read it. Run again once all files are complete."
        )
    wikis = {
        language: Wiki(
            wiki_pieces,
            [results["piece", piece.name] for piece in wiki_pieces],
            results.get(("redirects", language)),
            results.get(("links", language)),
            work,
        )
        for language, wiki_pieces in pieces.items()
    }
    if faults := [line for wiki in wikis.values() for line in wiki.report.faults(settings.max_bad_share, "pages")]:
        raise DataError("\n".join(faults))
    return Dumps(
        wikis,
        {(key[1], key[2]): result for key, result in results.items() if key[0] == "language_links"},
        {(key[1], key[2]): result for key, result in results.items() if key[0] == "sitelinks"},
        {key: [results["file", path] for path in paths] for key, paths in files.items()},
    )


def _do(task: partial[Any]) -> Any:
    return task()


def _pieces(
    language: str,
    site: SiteInfo,
    pairs: Sequence[tuple[str, str]],
    settings: WikipediaSettings,
    files: Mapping[str, Sequence[str]],
) -> list[Piece]:
    """Returns the pieces of a wiki's pages."""
    queries = any(language == query_language for query_language, _ in pairs)
    documents = any(language == document_language for _, document_language in pairs)
    whole_texts = settings.queries == "text"
    wanted = Wanted(text=documents or (queries and whole_texts), lead=queries and not whole_texts, links=documents)
    chunks = [chunk for path in files[f"wikis.{language}.pages"] for chunk in dump_chunks(path)]
    return [
        Piece(f"{language}-{number:05}", language, site, chunk, wanted, settings.max_words)
        for number, chunk in enumerate(chunks)
    ]


def _table_tasks(
    pairs: Sequence[tuple[str, str]],
    sites: Mapping[str, SiteInfo],
    files: Mapping[str, Sequence[str]],
    work: str,
) -> dict[tuple[str, ...], partial[Any]]:
    """Returns the tasks that read tables, by the kind of table and the languages."""

    def path(key: str) -> str | None:
        return files[key][0] if files.get(key) else None

    tasks: dict[tuple[str, ...], partial[Any]] = {}
    for language, site in sites.items():
        if redirects := path(f"wikis.{language}.redirects"):
            tasks["redirects", language] = partial(read_redirects, f"{language}-redirects", redirects, site, work)
        links, targets = path(f"wikis.{language}.page_links"), path(f"wikis.{language}.link_targets")
        if links and any(language == document_language for _, document_language in pairs):
            tasks["links", language] = partial(read_page_links, f"{language}-links", links, targets, work)
    for query, document in pairs:
        if query == document:
            continue
        for source, target in ((query, document), (document, query)):
            if language_links := path(f"wikis.{source}.language_links"):
                tasks["language_links", source, target] = partial(
                    read_language_links, f"{source}-{target}-language-links", language_links, sites[target], work
                )
        if sitelinks := path("sitelinks"):
            both = sites[query], sites[document]
            tasks["sitelinks", query, document] = partial(
                read_sitelinks, f"{query}-{document}-sitelinks", sitelinks, both, work
            )
    return tasks

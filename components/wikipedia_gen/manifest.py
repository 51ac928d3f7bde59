"""The manifest of a collection that was made of dumps: inputs, settings, and what became of every page."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from components.wikipedia_gen.counterparts import Counterparts
from components.wikipedia_gen.read_dumps import Dumps
from components.wikipedia_gen.read_wiki import ReadWiki
from components.wikipedia_gen.settings import WikipediaSettings
from components.wikipedia_gen.title_pairs import Names
from components.wikipedia_gen.wikitext.conventions import conventions_for
from components.wikipedia_gen.write_pair import Example, Written
from schemas.drops import ReadReport

FORMAT: Final = 1

_SETTINGS: Final = WikipediaSettings.model_fields.keys() - {"wikis", "sitelinks"}
"""Those of the construction: of files the manifest tells more, and of folders nothing."""


def make_manifest(
    languages: tuple[str, str],
    settings: WikipediaSettings,
    dumps: Dumps,
    written: Written,
    counterparts: Counterparts | None,
    title_pairs: int,
    shared: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """The content of `manifest.json`. It tells of no path, process or time: the same inputs give the same bytes.

    Args:
      languages: of the queries, and of the documents.
      settings: how dumps became a collection.
      dumps: what was read.
      written: what was written.
      counterparts: the MR documents, but for a wiki that is paired with itself.
      title_pairs: how many.
      shared: titles of documents of eval and test lists, each with that of an MR document of train lists that is nearly
        the same.
    """
    queries, documents = (dumps.wikis[language] for language in languages)
    pages = ReadReport(
        f"articles of {queries.site.database}", len(queries.articles), written.pages, written.no_pages.drops()
    )
    used = ReadReport(
        f"articles of {documents.site.database}",
        len(documents.articles),
        written.documents,
        written.no_documents.drops(),
    )
    return {
        "made_by": "smooth-clir",
        "kind": "wikipedia",
        "format": FORMAT,
        "query_language": languages[0],
        "document_language": languages[1],
        "settings": settings.model_dump(mode="json", include=set(_SETTINGS)),
        "inputs": {
            key: [
                {
                    "file": PurePath(one.path).name,
                    "bytes": one.size,
                    "sha256": one.sha256,
                    "verified_by": [PurePath(source).name for source in one.verified_by],
                }
                for one in files
            ]
            for key, files in dumps.files.items()
        },
        "wikis": {
            language: _wiki(dumps.wikis[language], language == languages[1]) for language in dict.fromkeys(languages)
        },
        "language_links": None if counterparts is None else dict(counterparts.counts),
        "pages_with_queries": pages.as_dict(),
        "documents": used.as_dict() | _lengths(written.document_words),
        "queries": {"used": written.queries, "too_short": written.short_queries, **_lengths(written.query_words)},
        "judgments": {str(grade): count for grade, count in sorted(written.judgments.items(), reverse=True)},
        "splits": dict(written.splits),
        "title_pairs": title_pairs,
        "audit": {
            "queries": written.audit.queries,
            "with_a_word_of_the_title": written.audit.title_words,
            "with_a_word_that_begins_like_one": written.audit.alike,
            "with_a_word_of_a_redirect": written.audit.redirect_words,
            "held_out_documents": len(written.held_out_documents),
            "nearly_the_same_in_train": len(shared),
            "examples": [list(pair) for pair in shared[:5]],
        },
        "examples": [_example(one, documents.names) for one in written.examples],
    }


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """As the file has it."""
    return json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"


def _wiki(wiki: ReadWiki, has_links: bool) -> dict[str, Any]:
    redirects = wiki.articles.redirect_counts
    counts: dict[str, Any] = {
        "database": wiki.site.database,
        "conventions": "general" if conventions_for(wiki.site.language, wiki.site.namespaces).is_general else "own",
        "pages": wiki.report.as_dict(),
        "articles": len(wiki.articles),
        "articles_of_a_title_that_stood_before": wiki.articles.repeated,
        "redirects": redirects._asdict(),
    }
    return counts | ({"links": wiki.link_counts._asdict()} if has_links else {})


def _lengths(words: Counter[int]) -> dict[str, Any]:
    """Mean, median and longest, in words."""
    total = sum(words.values())
    if not total:
        return {"words": None}
    before, median = 0, 0
    for length, count in sorted(words.items()):
        before += count
        if 2 * before >= total:
            median = length
            break
    mean = sum(length * count for length, count in words.items()) / total
    return {"words": {"mean": round(mean, 1), "median": median, "longest": max(words)}}


def _example(example: Example, names: Names) -> dict[str, Any]:
    titles = {grade: [names.title(other) for other, own in example.grades.items() if own == grade] for grade in (2, 1)}
    return {
        "query_id": example.query_id,
        "title": example.title,
        "query": example.text,
        "most_relevant": titles[2],
        "somewhat_relevant": titles[1][:5],
        "somewhat_relevant_in_all": len(titles[1]),
    }

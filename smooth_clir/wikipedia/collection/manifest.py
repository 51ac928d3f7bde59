"""Describes a collection made from dumps: `manifest.json`, and the data card, which renders it for people."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import Any, Final

from schemas.drops import ReadReport
from schemas.relevance import MOST_RELEVANT, SOMEWHAT_RELEVANT
from schemas.wikiclir import (
    CANDIDATES_FILE,
    MANIFEST_FILE,
    PAIRS_FILE,
    documents_file,
    judgments_file,
    queries_file,
)
from smooth_clir.wikipedia.collection.names import Names
from smooth_clir.wikipedia.collection.read_dumps import Dumps
from smooth_clir.wikipedia.collection.relevance import Counterparts
from smooth_clir.wikipedia.collection.wiki import Wiki
from smooth_clir.wikipedia.collection.write_pair import Example, Written
from smooth_clir.wikipedia.settings import WikipediaSettings
from smooth_clir.wikipedia.wikitext.conventions import LANGUAGE_WORDS

FORMAT: Final = 1

_SETTINGS: Final = WikipediaSettings.model_fields.keys() - {"wikis", "sitelinks"}
"""Settings in the manifest. Files have their own entries; folders are left out."""


def make_manifest(
    languages: tuple[str, str],
    settings: WikipediaSettings,
    dumps: Dumps,
    written: Written,
    counterparts: Counterparts | None,
    title_pairs: int,
    shared: Sequence[tuple[str, str]],
) -> dict[str, Any]:
    """Returns the content of `manifest.json`. It names no path, process or time: the same inputs give the same bytes.

    Args:
      languages: the query and the document language.
      settings: how dumps became a collection.
      dumps: the content of the dumps.
      written: the account of queries and documents.
      counterparts: the MR documents; None for a wiki paired with itself.
      title_pairs: the number of title pairs.
      shared: titles of documents of eval and test lists, each with the title of a nearly identical MR document of train
        lists.
    """
    queries, documents = (dumps.wikis[language] for language in languages)
    audit = written.audit
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
                    "file": PurePath(file.path).name,
                    "bytes": file.size,
                    "sha256": file.sha256,
                    "verified_by": [PurePath(source).name for source in file.verified_by],
                }
                for file in files
            ]
            for key, files in dumps.files.items()
        },
        "wikis": {
            language: _wiki(dumps.wikis[language], language == languages[1]) for language in dict.fromkeys(languages)
        },
        "language_links": None if counterparts is None else dict(counterparts.counts),
        "pages_with_queries": ReadReport(
            f"articles of {queries.site.database}", len(queries.articles), written.pages, written.no_pages.drops()
        ).as_dict(),
        "documents": ReadReport(
            f"articles of {documents.site.database}",
            len(documents.articles),
            written.documents,
            written.no_documents.drops(),
        ).as_dict()
        | _lengths(written.document_words),
        "queries": {"used": written.queries, "too_short": written.short_queries, **_lengths(written.query_words)},
        "judgments": {str(grade): count for grade, count in sorted(written.judgments.items(), reverse=True)},
        "splits": dict(written.splits),
        "title_pairs": title_pairs,
        "audit": {
            "queries": audit.queries,
            "with_a_word_of_the_title": audit.title_words,
            "with_a_word_that_begins_like_one": audit.alike,
            "with_a_word_of_a_redirect": audit.redirect_words,
            "held_out_documents": len(written.held_out_documents),
            "nearly_the_same_in_train": len(shared),
            "examples": [list(pair) for pair in shared[:5]],
        },
        "examples": [_example(example, documents.names) for example in written.examples],
    }


def manifest_text(manifest: Mapping[str, Any]) -> str:
    return json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"


def _wiki(wiki: Wiki, has_links: bool) -> dict[str, Any]:
    counts: dict[str, Any] = {
        "database": wiki.site.database,
        "conventions": "own" if wiki.site.language in LANGUAGE_WORDS else "general",
        "pages": wiki.report.as_dict(),
        "articles": len(wiki.articles),
        "articles_of_a_title_that_stood_before": wiki.articles.repeated,
        "redirects": wiki.articles.redirect_counts._asdict(),
    }
    return counts | ({"links": wiki.link_counts._asdict()} if has_links else {})


def _lengths(words: Counter[int]) -> dict[str, Any]:
    """Returns mean, median and longest, in words."""
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
    most_relevant, somewhat_relevant = (
        [names.title(document) for document, document_grade in example.grades.items() if document_grade == grade]
        for grade in (MOST_RELEVANT, SOMEWHAT_RELEVANT)
    )
    return {
        "query_id": example.query_id,
        "title": example.title,
        "query": example.text,
        "most_relevant": most_relevant,
        "somewhat_relevant": somewhat_relevant[:5],
        "somewhat_relevant_in_all": len(somewhat_relevant),
    }


_EXAMPLES: Final = 5
_QUERIES: Final = {
    "first_sentence": "the first sentence of a page's lead",
    "sentences": "a sentence of a page's lead",
    "text": "the beginning of a page's text",
}
_GRADES: Final = {
    True: "Grade 2 is a page that the query's page links to and that links back, grade 1 a page that it links to.",
    False: "Grade 2 is the page about the same thing in the other language, grade 1 a page with mutual links to it.",
}
_LICENCE: Final = """\
The texts are Wikipedia's, by its contributors, under [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/).
If you pass on the texts, or what you make of them, name Wikipedia and the pages (the files have their titles, and
documents' ids are page ids), say that the texts were cut and cleaned, and use the same licence."""


def data_card(manifest: Mapping[str, Any]) -> str:
    """Returns the card in Markdown; all its figures are in the manifest, too."""
    return "\n".join(_lines(manifest)) + "\n"


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    languages = content["query_language"], content["document_language"]
    yield f"# {languages[0]} queries, {languages[1]} documents: a collection from Wikipedia"
    yield from ("", *_description(content), "")
    yield from ("| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in _figures(content)), "")
    yield from ("## What was left out", "", "| of | why | how many | such as |", "| --- | --- | --- | --- |")
    for name, report in _reports(content):
        for drops in report["drops"]:
            examples = ", ".join(_escaped(example["text"]) for example in drops["examples"][:3])
            yield f"| {name} | {drops['meaning']} | {drops['count']:,} | {examples} |"
    yield from ("", "## What it gives away", "", *_leaks(content), "")
    yield from ("## Examples", "", *_examples(content), "")
    yield from ("## Sources and licence", "", "| file | bytes | SHA-256 |", "| --- | --- | --- |")
    for file in chain(*content["inputs"].values()):
        yield f"| `{_escaped(file['file'])}` | {file['bytes']:,} | `{file['sha256']}` |"
    yield from ("", _LICENCE)


def _description(content: Mapping[str, Any]) -> Iterator[str]:
    languages = content["query_language"], content["document_language"]
    settings = content["settings"]
    databases = " and ".join(wiki["database"] for wiki in content["wikis"].values())
    redirects = " and its redirects" if settings["removed_words"] == "title_and_redirects" else ""
    is_same = languages[0] == languages[1]
    yield (
        f"Made by `clir wikipedia` of dumps of {databases}, as the WikiCLIR collections were (Sasaki et al. 2018). A "
        f"query is {_QUERIES[settings['queries']]} without the words of its title{redirects}; a document is the "
        f"beginning of a page's text, {settings['max_words']} words at most. {_GRADES[is_same]}"
    )
    files = [queries_file(languages[0]), documents_file(languages[1]), judgments_file(*languages)]
    files += [CANDIDATES_FILE if is_same else PAIRS_FILE]
    yield from ("", f"Files: {', '.join(f'`{name}`' for name in files)}, and `{MANIFEST_FILE}`, which has every count.")


def _leaks(content: Mapping[str, Any]) -> Iterator[str]:
    audit = content["audit"]
    queries = max(audit["queries"], 1)
    alike, redirects = audit["with_a_word_that_begins_like_one"], audit["with_a_word_of_a_redirect"]
    yield (
        f"Of {audit['queries']:,} queries, {audit['with_a_word_of_the_title']:,} hold a word of their page's title, "
        f"{alike:,} ({alike / queries:.1%}) a word that begins like a word of the title, and {redirects:,} "
        f"({redirects / queries:.1%}) a word of a redirect to the page."
    )
    pairs = "".join(f"; {_escaped(held_out)} and {_escaped(trained)}" for held_out, trained in audit["examples"][:3])
    yield (
        f"Of {audit['held_out_documents']:,} relevant documents of eval and test queries, "
        f"{audit['nearly_the_same_in_train']:,} are nearly the same as another document, which is the MR document of a "
        f"train query (five of six min-wise hashes of their word shingles agree){pairs}."
    )
    if content["query_language"] != content["document_language"]:
        yield (
            f"`{PAIRS_FILE}` leaves out the names of the pages of eval and test queries and of their relevant "
            "documents."
        )


def _examples(content: Mapping[str, Any]) -> Iterator[str]:
    for example in content["examples"][:_EXAMPLES]:
        more = example["somewhat_relevant_in_all"] - len(example["somewhat_relevant"])
        most_relevant = ", ".join(map(_escaped, example["most_relevant"][:_EXAMPLES]))
        somewhat = ", ".join(map(_escaped, example["somewhat_relevant"])) + (f" and {more:,} more" if more else "")
        yield f"- **{_escaped(example['title'])}**: {_escaped(example['query'])}"
        yield f"  Grade 2: {most_relevant}; grade 1: {somewhat or 'none'}."


def _figures(content: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    queries, documents = content["queries"], content["documents"]
    yield "queries", f"{queries['used']:,}, of {content['pages_with_queries']['used']:,} pages"
    yield "documents", f"{documents['used']:,}"
    for grade, count in content["judgments"].items():
        yield f"judgments of grade {grade}", f"{count:,} ({count / max(queries['used'], 1):.1f} a query)"
    yield "splits", ", ".join(f"{count:,} {split}" for split, count in content["splits"].items())
    for name, part in (("query", queries), ("document", documents)):
        if words := part["words"]:
            yield (
                f"words of a {name}",
                f"{words['mean']} on average, {words['median']} median, {words['longest']} at most",
            )
    if content["query_language"] != content["document_language"]:
        yield "title pairs", f"{content['title_pairs']:,}"


def _reports(content: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for wiki in content["wikis"].values():
        yield f"pages of {wiki['database']}", wiki["pages"]
    yield "pages with queries", content["pages_with_queries"]
    yield "documents", content["documents"]


def _escaped(text: str) -> str:
    """Escapes foreign text for Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|!~])", r"\\\1", text)

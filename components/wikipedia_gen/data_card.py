"""The data card of a collection that was made of dumps: a page in Markdown for people."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final

from schemas.wikiclir import (
    CANDIDATES_FILE,
    MANIFEST_FILE,
    PAIRS_FILE,
    documents_file,
    judgments_file,
    queries_file,
)

_EXAMPLES: Final = 5
_QUERIES: Final = {
    "first_sentence": "the first sentence of a page's lead",
    "sentences": "a sentence of a page's lead",
    "text": "the beginning of a page's text",
}

_GRADES: Final = {
    True: "Grade 2 is a page that the query's page links to and that links back, grade 1 one that it links to.",
    False: "Grade 2 is the page about the same thing in the other language, grade 1 one with mutual links to that.",
}
_LICENCE: Final = """\
The texts are Wikipedia's, by its contributors, under [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/).
Who passes them on, or what is made of them, names Wikipedia and the pages (their titles stand beside the texts, and ids
of documents are page ids), says that they were cut and cleaned, and gives the same licence."""


def data_card(manifest: Mapping[str, Any]) -> str:
    """The card, all of whose figures stand in the manifest, too."""
    return "\n".join(_lines(manifest)) + "\n"


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    languages = content["query_language"], content["document_language"]
    yield f"# {languages[0]} queries, {languages[1]} documents: a collection from Wikipedia"
    yield from ("", *_description(content), "")
    yield from ("| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in _figures(content)), "")
    yield from ("## What was left out", "", "| of | why | how many | such as |", "| --- | --- | --- | --- |")
    for name, report in _reports(content):
        for drops in report["drops"]:
            examples = ", ".join(_escaped(one["text"]) for one in drops["examples"][:3])
            yield f"| {name} | {drops['meaning']} | {drops['count']:,} | {examples} |"
    yield from ("", "## What it gives away", "", *_leaks(content), "")
    yield from ("## Examples", "", *_examples(content), "")
    yield from ("## Sources and licence", "", "| file | bytes | SHA-256 |", "| --- | --- | --- |")
    for one in chain(*content["inputs"].values()):
        yield f"| `{_escaped(one['file'])}` | {one['bytes']:,} | `{one['sha256']}` |"
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
        f"Of {audit['queries']:,} queries {audit['with_a_word_of_the_title']:,} hold a word of their page's title, "
        f"{alike:,} ({alike / queries:.1%}) one that begins like one, and {redirects:,} ({redirects / queries:.1%}) "
        "one of a redirect to the page."
    )
    pairs = "".join(f"; {_escaped(one)} and {_escaped(other)}" for one, other in audit["examples"][:3])
    yield (
        f"Of {audit['held_out_documents']:,} relevant documents of eval and test queries, "
        f"{audit['nearly_the_same_in_train']:,} are nearly the same as another document, which is the MR document of a "
        f"train query (five of six min-wise hashes of their word shingles agree){pairs}."
    )
    if content["query_language"] != content["document_language"]:
        yield (
            f"`{PAIRS_FILE}` holds no name of a page of eval and test lists: neither of their queries' pages nor of "
            "their relevant documents."
        )


def _examples(content: Mapping[str, Any]) -> Iterator[str]:
    for example in content["examples"][:_EXAMPLES]:
        more = example["somewhat_relevant_in_all"] - len(example["somewhat_relevant"])
        most = ", ".join(map(_escaped, example["most_relevant"][:_EXAMPLES]))
        slightly = ", ".join(map(_escaped, example["somewhat_relevant"])) + (f" and {more:,} more" if more else "")
        yield f"- **{_escaped(example['title'])}**: {_escaped(example['query'])}"
        yield f"  Grade 2: {most}; grade 1: {slightly or 'none'}."


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
    """Text of others in a Markdown page."""
    return re.sub(r"([\\`*_{}\[\]<>#|!~])", r"\\\1", text)

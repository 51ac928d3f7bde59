"""Derives the sample's WikiCLIR files from its wikitext pages, as the paper describes (section 5, Datasets).

Every sentence of an English lead is a query, without the words of its page's title. MR is the French page that the
English one links to across languages; SR are the pages with mutual links to MR. Run from the repository's root:

    .venv/bin/python tools/make_sample.py
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

SAMPLE = Path(__file__).parent.parent / "data" / "sample"


class Page(NamedTuple):
    """A page: its plain text, the pages it links to, and its counterpart in the other language."""

    title: str
    text: str
    links: frozenset[str]
    counterpart: str


def read_pages(folder: Path) -> dict[str, Page]:
    """Reads every page of a folder of `.wiki` files; a level-1 heading starts a page."""
    pages: dict[str, Page] = {}
    for file in sorted(folder.glob("*.wiki")):
        _, *parts = re.split(r"^= (.+?) =$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for title, body in zip(parts[::2], parts[1::2], strict=True):
            if title in pages:
                raise ValueError(f"{file}: a second page is called {title!r}")
            pages[title] = parse_page(title, body)
    return pages


def parse_page(title: str, body: str) -> Page:
    """Takes the links out of a page's wikitext."""
    (counterpart,) = re.findall(r"\[\[(?:en|fr):([^\]]+)\]\]", body)
    body = re.sub(r"\[\[(?:en|fr):[^\]]+\]\]", "", body)
    links = frozenset(capitalised(target) for target in re.findall(r"\[\[([^\]|]+)", body))
    text = re.sub(r"\[\[(?:[^\]|]+\|)?([^\]]+)\]\]", r"\1", body).replace("'''", "")
    return Page(title, " ".join(text.split()), links - {title}, counterpart)


def capitalised(title: str) -> str:
    """A link's target as a title: MediaWiki ignores the case of the first letter."""
    return title[:1].upper() + title[1:]


def sentences(text: str) -> list[str]:
    """The sentences of a lead; the sample's English has no full stop within a sentence."""
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def without_title(sentence: str, title: str) -> str:
    """A sentence without the words of a title."""
    words = "|".join(re.escape(word) for word in title.split())
    return " ".join(re.sub(rf"\b(?:{words})\b", "", sentence, flags=re.IGNORECASE).split())


def main() -> int:
    """Writes wiki_en.queries, wiki_fr.documents and en2fr.rel."""
    english, french = read_pages(SAMPLE / "en"), read_pages(SAMPLE / "fr")
    doc_ids = {title: str(number) for number, title in enumerate(french, 1)}
    queries, judgments = [], []
    for page in english.values():
        most_relevant = french[page.counterpart]
        mutual = [
            title for title in french if title in most_relevant.links and most_relevant.title in french[title].links
        ]
        for sentence in sentences(page.text):
            query_id = str(len(queries) + 1)
            queries.append((query_id, page.title, without_title(sentence, page.title)))
            judgments.append((query_id, doc_ids[most_relevant.title], "2"))
            judgments += [(query_id, doc_ids[title], "1") for title in mutual]
    documents = [(doc_ids[page.title], page.title, page.text) for page in french.values()]
    for name, rows in {"wiki_en.queries": queries, "wiki_fr.documents": documents, "en2fr.rel": judgments}.items():
        text = "".join("\t".join(row) + "\n" for row in rows)
        (SAMPLE / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(queries)} queries, {len(documents)} documents, {len(judgments)} judgments under {SAMPLE.name}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())

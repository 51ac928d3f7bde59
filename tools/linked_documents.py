"""Makes a collection of linked documents in one language from a cross-lingual one, as in Bai et al. 2009, section 4.1.

    .venv/bin/python -m tools.linked_documents data/collections/ntrex_en_fr data/collections/ntrex_fr_links

Each document becomes a query, whose relevant documents (grade 1) are those that it links to; the document itself is not
listed. A document links to the SR documents of every query whose MR document it is; the paper uses Wikipedia's links.

The links are divided among the splits, 60 : 10 : 30, so that a document may be in all of them: its queries are named
`document.train`, `document.eval` and `document.test`. With `--hold-out documents` the documents are divided instead;
documents that are linked, directly or through others, stay together: no training has seen a test document, and no list
holds a document of another split.

With `--train-lists N` a document has N train lists, the queries `document.train.1` to `document.train.N`, each with its
own NR documents: `data.query_words` then draws N times from its text. The paper has a million documents, so that a few
words of each suffice.
"""

import gzip
import hashlib
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from schemas.wikiclir import CANDIDATES_FILE, documents_file, judgments_file, queries_file

SHARES: Final = {"train": 0.6, "eval": 0.7, "test": 1.0}
"""The cumulative shares of the splits, of the links or of the documents."""

_Links = Mapping[str, Sequence[str]]
"""A document to those that it links to."""


def read_rows(path: Path) -> Iterator[list[str]]:
    """The tab-separated fields of a file's lines, gzipped or not."""
    with path.open("rb") as file:
        is_gzipped = file.read(2) == b"\x1f\x8b"
    with (gzip.open if is_gzipped else open)(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")


def collection_file(collection: Path, name: str) -> Path:
    """The path of a collection's file, gzipped or not."""
    plain = collection / name
    return plain if plain.exists() else collection / f"{name}.gz"


def links_of(judgments: Iterator[list[str]]) -> _Links:
    """Each document to the SR documents (grade 1) of the queries whose MR document (grade 2) it is, without itself.

    Example:
      >>> links_of(iter([["q", "a", "2"], ["q", "b", "1"], ["q", "c", "0"]]))
      {'a': ['b']}
    """
    graded: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for query_id, doc_id, grade, *_ in judgments:
        graded[query_id][grade].append(doc_id)
    linked: dict[str, set[str]] = defaultdict(set)
    for documents in graded.values():
        for doc_id in documents["2"]:
            linked[doc_id].update(target for target in documents["1"] if target != doc_id)
    return {doc_id: sorted(targets) for doc_id, targets in sorted(linked.items()) if targets}


def split_of(key: str, seed: int) -> str:
    """The split of a link or of a group of documents, by a seeded hash.

    Example:
      >>> [split_of(key, seed=1) for key in ("a b", "a c", "b c")]
      ['test', 'train', 'train']
    """
    digest = hashlib.sha256(f"{seed}/{key}".encode()).digest()
    position = int.from_bytes(digest[:8], "big") / 2**64
    return next(split for split, end in SHARES.items() if position < end)


def groups_of(doc_ids: Sequence[str], links: _Links) -> dict[str, str]:
    """Each document to the first document that is linked with it, directly or through others."""
    neighbours = defaultdict(set)
    for doc_id, targets in links.items():
        for target in targets:
            neighbours[doc_id].add(target)
            neighbours[target].add(doc_id)
    group: dict[str, str] = {}
    for first in doc_ids:
        waiting = [first]
        while waiting:
            doc_id = waiting.pop()
            if doc_id not in group:
                group[doc_id] = first
                waiting += neighbours[doc_id]
    return group


def lists_of(
    doc_ids: Sequence[str],
    links: _Links,
    held_out: str,
    train_negatives: int,
    test_negatives: int,
    seed: int,
    train_lists: int = 1,
) -> Iterator[tuple[str, str, str, Mapping[str, int]]]:
    """The lists: (query id, document, split, listed documents to grades).

    Args:
      doc_ids: all documents.
      links: see `links_of`.
      held_out: what is divided among the splits: `links` or `documents`.
      train_negatives, test_negatives: largest number of NR documents of a train list, and of an eval or test list.
      seed: seeds the splits and the draws.
      train_lists: number of train lists of a document.
    """
    splits: dict[str, str] = {}
    if held_out == "documents":
        splits = {doc_id: split_of(group, seed) for doc_id, group in groups_of(doc_ids, links).items()}
    for doc_id, targets in links.items():
        linked: dict[str, list[str]] = defaultdict(list)
        for target in targets:
            linked[splits.get(doc_id) or split_of(f"{doc_id} {target}", seed)].append(target)
        for split, relevant in linked.items():
            left_out = {doc_id, *targets}
            negatives = [
                nr_id for nr_id in doc_ids if nr_id not in left_out and splits.get(nr_id) == splits.get(doc_id)
            ]
            query_ids = [f"{doc_id}.{split}"]
            if split == "train" and train_lists > 1:
                query_ids = [f"{doc_id}.{split}.{number}" for number in range(1, train_lists + 1)]
            limit = train_negatives if split == "train" else test_negatives
            for query_id in query_ids:
                listed = negatives
                if len(negatives) > limit:
                    listed = random.Random(f"{seed}/{query_id}").sample(negatives, limit)
                yield query_id, doc_id, split, {**dict.fromkeys(relevant, 1), **dict.fromkeys(listed, 0)}


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("collection", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--language", default="fr", show_default=True, help="The documents' language.")
@click.option("--query-language", default="en", show_default=True, help="The language of the collection's queries.")
@click.option("--hold-out", "held_out", type=click.Choice(["links", "documents"]), default="links", show_default=True)
@click.option(
    "--most-trained", "train_negatives", default=10_000, show_default=True, help="NR documents of a train list."
)
@click.option("--most-listed", "test_negatives", default=10_000, show_default=True, help="NR documents of other lists.")
@click.option("--train-lists", default=1, show_default=True, help="Train lists of a document.")
@click.option("--seed", default=1, show_default=True)
def main(
    collection: Path,
    output: Path,
    language: str,
    query_language: str,
    held_out: str,
    train_negatives: int,
    test_negatives: int,
    train_lists: int,
    seed: int,
) -> None:
    """Writes queries, documents, judgments and candidates."""
    documents = {doc_id: fields for doc_id, *fields in read_rows(collection_file(collection, documents_file(language)))}
    links = links_of(read_rows(collection_file(collection, judgments_file(query_language, language))))
    lists = lists_of([*documents], links, held_out, train_negatives, test_negatives, seed, train_lists)
    output.mkdir(parents=True, exist_ok=True)
    with (
        (output / queries_file(language)).open("w", encoding="utf-8") as queries,
        (output / judgments_file(language, language)).open("w", encoding="utf-8") as judgments,
        (output / CANDIDATES_FILE).open("w", encoding="utf-8") as candidates,
    ):
        for query_id, doc_id, split, grades in lists:
            queries.write("\t".join([query_id, *documents[doc_id]]) + "\n")
            judgments.writelines(f"{query_id}\t{listed_id}\t{grade}\n" for listed_id, grade in grades.items() if grade)
            candidates.writelines(f"{query_id}\t{listed_id}\t{grade}\t{split}\n" for listed_id, grade in grades.items())
    with (output / documents_file(language)).open("w", encoding="utf-8") as file:
        file.writelines("\t".join([doc_id, *fields]) + "\n" for doc_id, fields in documents.items())
    number = sum(map(len, links.values()))
    click.echo(f"{output}: {len(documents):,} documents, {number:,} links, {held_out} divided among the splits")


if __name__ == "__main__":
    main()

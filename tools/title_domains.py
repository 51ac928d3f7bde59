"""Makes a file of domains of a collection whose queries have titles with a number at the end, such as `Genesis 1:3`.

    .venv/bin/python -m tools.title_domains data/collections/bible_en_tl data/collections/bible_books

The title without its number is the domain, such as a book of the Bible. The largest domains are taken, each with the
same number of train lists, those of the queries with the smallest hashes; their eval and test lists stay the same. The
other files of the collection are not copied: a configuration names them with the output's `candidates.tsv` and
`domains.tsv`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import click

from schemas.splits import stable_hash
from schemas.wikiclir import CANDIDATES_FILE, queries_file
from tools.linked_documents import collection_file, read_rows

_DOMAINS_FILE: Final = "domains.tsv"
_NUMBER: Final = re.compile(r"\s+\d+(:\d+)?$")


def domain_of(title: str) -> str | None:
    """The domain that a title names, or None.

    Example:
      >>> domain_of("1 Samuel 3:4"), domain_of("Genesis")
      ('1 Samuel', None)
    """
    name, replaced = _NUMBER.subn("", title)
    return name if replaced else None


def chosen_queries(
    domain_of_query: Mapping[str, str], split_of_query: Mapping[str, str], max_domains: int, train_lists: int
) -> set[str]:
    """The queries of the domains with the most train lists.

    Args:
      domain_of_query, split_of_query: query id to the name of its domain, and of its split.
      max_domains: number of domains; of equally large domains, the first by name.
      train_lists: number of train lists of a domain; smaller domains are left out.
    """
    domain_queries: dict[str, list[str]] = defaultdict(list)
    for query_id, split in split_of_query.items():
        if split == "train" and query_id in domain_of_query:
            domain_queries[domain_of_query[query_id]].append(query_id)
    large = [name for name, query_ids in domain_queries.items() if len(query_ids) >= train_lists]
    taken = sorted(large, key=lambda name: (-len(domain_queries[name]), name))[:max_domains]
    chosen = {
        query_id
        for name in taken
        for query_id in sorted(domain_queries[name], key=lambda query_id: stable_hash("train", query_id))[:train_lists]
    }
    return chosen | {
        query_id
        for query_id, split in split_of_query.items()
        if split != "train" and domain_of_query.get(query_id) in taken
    }


def _domains(queries: Iterable[list[str]]) -> dict[str, str]:
    named = ((query_id, domain_of(title)) for query_id, title, *_ in queries)
    return {query_id: name for query_id, name in named if name is not None}


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("collection", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--language", default="en", show_default=True, help="The queries' language.")
@click.option("--domains", "max_domains", default=16, show_default=True, help="Number of domains.")
@click.option("--train-lists", default=200, show_default=True, help="Train lists of a domain.")
def main(collection: Path, output: Path, language: str, max_domains: int, train_lists: int) -> None:
    """Writes candidates and domains."""
    domain_of_query = _domains(read_rows(collection_file(collection, queries_file(language))))
    candidates = collection_file(collection, CANDIDATES_FILE)
    split_of_query = {query_id: split for query_id, _, _, split in read_rows(candidates)}
    chosen = chosen_queries(domain_of_query, split_of_query, max_domains, train_lists)
    output.mkdir(parents=True, exist_ok=True)
    with (output / CANDIDATES_FILE).open("w", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in read_rows(candidates) if row[0] in chosen)
    with (output / _DOMAINS_FILE).open("w", encoding="utf-8") as file:
        file.writelines(f"{query_id}\t{name}\n" for query_id, name in domain_of_query.items() if query_id in chosen)
    counts = Counter((domain_of_query[query_id], split_of_query[query_id]) for query_id in chosen)
    for name in sorted({domain for domain, _ in counts}):
        click.echo(f"{name}: " + ", ".join(f"{counts[name, split]:,} {split}" for split in ("train", "eval", "test")))


if __name__ == "__main__":
    main()

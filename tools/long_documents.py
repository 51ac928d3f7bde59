"""Makes a collection of long documents from one of short documents that follow each other.

    .venv/bin/python -m tools.long_documents data/collections/bible_en_fr data/collections/bible_en_fr_long --size 30

Each long document is as many consecutive documents, or, with `--by-title`, all that have its title. The long document
that holds a query's MR document becomes the MR document; the others that hold an SR document become SR documents.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click

from schemas.relevance import NOT_RELEVANT
from tools.linked_documents import read_rows


def long_documents(documents: Sequence[Sequence[str]], size: int | None) -> Iterator[list[Sequence[str]]]:
    """Yields the short documents (id, title, text) of each long document.

    Args:
      documents: the short documents, in order.
      size: number of short documents in a long one; None joins those of equal titles.

    Example:
      >>> documents = [("1", "a", ""), ("2", "a", ""), ("3", "b", "")]
      >>> [[doc_id for doc_id, _, _ in parts] for parts in long_documents(documents, None)]
      [['1', '2'], ['3']]
    """
    if size is None:
        yield from (list(parts) for _, parts in groupby(documents, lambda document: document[1]))
    else:
        yield from (list(documents[start : start + size]) for start in range(0, len(documents), size))


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("collection", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--size", type=click.IntRange(2), help="Number of consecutive documents that are joined.")
@click.option("--by-title", is_flag=True, help="Join the documents of equal titles.")
def main(collection: Path, output: Path, size: int | None, by_title: bool) -> None:
    """Writes the queries, the long documents and their judgments."""
    if by_title == (size is not None):
        raise click.UsageError("give --size or --by-title, and not both.")
    queries, documents, judgments = (
        next(file for suffix in ("", ".gz") for file in sorted(collection.glob(f"*.{role}{suffix}")))
        for role in ("queries", "documents", "rel")
    )
    long = list(long_documents(list(read_rows(documents)), size))
    doc_id_of = {doc_id: parts[0][0] for parts in long for doc_id, _, _ in parts}
    grades: dict[tuple[str, str], int] = {}
    for query_id, doc_id, grade in read_rows(judgments):
        pair = query_id, doc_id_of[doc_id]
        grades[pair] = max(int(grade), grades.get(pair, NOT_RELEVANT))
    output.mkdir(parents=True)
    texts = ((parts[0][0], parts[0][1], " ".join(text for _, _, text in parts)) for parts in long)
    for source, rows in (
        (queries, read_rows(queries)),
        (documents, texts),
        (judgments, ((*pair, str(grade)) for pair, grade in grades.items())),
    ):
        lines = ("\t".join(row) + "\n" for row in rows)
        (output / source.name.removesuffix(".gz")).write_text("".join(lines), encoding="utf-8")
    click.echo(f"{len(long):,} long documents in {output}")


if __name__ == "__main__":
    main()

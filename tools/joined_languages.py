"""Joins collections that have the same queries and lists, and the documents of each in another language.

    .venv/bin/python -m tools.joined_languages data/collections/xquad_en_nine \
        es=data/collections/xquad_en_es_q de=data/collections/xquad_en_de_q ...

Each query becomes one for each language, which asks for the documents in it, so that the language is its domain. With
`--mixed` each document is in one language, which a hash of its id chooses, and the queries stay as they are.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from schemas.languages import LANGUAGE_FIELD
from schemas.wikiclir import CANDIDATES_FILE
from tools.linked_documents import read_rows

_Row = Sequence[str]


class Files(NamedTuple):
    """The rows of a collection's files."""

    queries: Sequence[_Row]
    documents: Sequence[_Row]
    judgments: Sequence[_Row]
    candidates: Sequence[_Row]

    def equal_parts(self) -> tuple[object, ...]:
        """The parts that joined collections must share."""
        return self.queries, [doc_id for doc_id, *_ in self.documents], self.judgments, self.candidates


def language_of(doc_id: str, languages: Sequence[str]) -> str:
    """Returns the language that a document's id chooses.

    Example:
      >>> [language_of(str(number), ["de", "es", "ru"]) for number in range(1, 5)]
      ['de', 'de', 'ru', 'de']
    """
    return languages[int(hashlib.sha256(doc_id.encode()).hexdigest(), 16) % len(languages)]


def joined(collections: Mapping[str, Files]) -> Iterator[tuple[str, list[_Row]]]:
    """Yields the name and the rows of each file; a query ID of the language de is ID.de, and so is a document."""
    yield (
        "queries.tsv",
        [(f"{row[0]}.{code}", *row[1:]) for code, files in collections.items() for row in files.queries],
    )
    documents = [(f"{row[0]}.{code}", *row[1:], code) for code, files in collections.items() for row in files.documents]
    yield "documents.tsv", [("id", "title", "text", LANGUAGE_FIELD), *documents]
    for name, role in (("judgments.tsv", "judgments"), (CANDIDATES_FILE, "candidates")):
        rows = ((code, row) for code, files in collections.items() for row in getattr(files, role))
        yield name, [(f"{query_id}.{code}", f"{doc_id}.{code}", *rest) for code, (query_id, doc_id, *rest) in rows]
    yield "domains.tsv", [(f"{row[0]}.{code}", code) for code, files in collections.items() for row in files.queries]


def mixed(collections: Mapping[str, Files]) -> Iterator[tuple[str, list[_Row]]]:
    """Yields the name and the rows of each file, with each document in one language."""
    languages, first = sorted(collections), next(iter(collections.values()))
    texts = {code: {row[0]: row for row in files.documents} for code, files in collections.items()}
    documents = []
    for doc_id, *_ in first.documents:
        code = language_of(doc_id, languages)
        documents.append((*texts[code][doc_id], code))
    yield "queries.tsv", [*first.queries]
    yield "documents.tsv", [("id", "title", "text", LANGUAGE_FIELD), *documents]
    yield "judgments.tsv", [*first.judgments]
    yield CANDIDATES_FILE, [*first.candidates]


def read_files(folder: Path) -> Files:
    """Reads the files of a collection that tools/make_collections.py has made."""
    paths = [
        next(file for end in ("", ".gz") for file in sorted(folder.glob(f"{pattern}{end}")))
        for pattern in ("*.queries", "*.documents", "*.rel", CANDIDATES_FILE)
    ]
    return Files(*([*read_rows(path)] for path in paths))


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("output", type=click.Path(path_type=Path))
@click.argument("collections", metavar="CODE=FOLDER...", nargs=-1, required=True)
@click.option("--mixed", "is_mixed", is_flag=True, help="Put each document in one language.")
def main(output: Path, collections: tuple[str, ...], is_mixed: bool) -> None:
    """Writes the files of the joined collection."""
    named = [value.partition("=") for value in collections]
    if not all(code and folder for code, _, folder in named) or len({code for code, *_ in named}) < len(named):
        raise click.UsageError(
            f"each argument must be CODE=FOLDER, with a code of its own; got {' '.join(collections)}"
        )
    files = {code: read_files(Path(folder)) for code, _, folder in named}
    first, *others = files.values()
    if any(other.equal_parts() != first.equal_parts() for other in others):
        raise click.ClickException(
            f"the collections must have the same queries and lists; got {', '.join(collections)}"
        )
    output.mkdir(parents=True)
    for name, rows in (mixed if is_mixed else joined)(files):
        (output / name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    click.echo(f"documents in {', '.join(files)} in {output}")


if __name__ == "__main__":
    main()

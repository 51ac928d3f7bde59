"""Makes a collection of the messages of LibreOffice, for pairs of languages without another collection.

    apt-get download libreoffice-l10n-th && dpkg-deb -x libreoffice-l10n-th_*.deb messages
    .venv/bin/python -m tools.message_collection messages en th data/collections/libreoffice_en_th

A query is an English message of at least six words, such as a question, a warning or help for a field. A document is
up to three consecutive messages of a dialog in the other language; dialogs with fewer than four messages are left out.
The MR document of a query holds its translation; up to eight other documents of the dialog are its SR documents, and 40
documents of other dialogs are drawn as NR documents. Queries are divided among train, eval and test 3:1:1. Several
queries share an MR document, so that training has seen those of the test queries. Translators of LibreOffice wrote the
messages, under the MPL 2.0.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import click
import numpy as np
from babel.messages.mofile import read_mo

_WORDS: Final = 6
_MESSAGES_OF_A_DOCUMENT: Final = 3
_SR_DOCUMENTS: Final = 8
_NR_DOCUMENTS: Final = 40
_SPLITS: Final = ("train", "train", "train", "eval", "test")


class Message(NamedTuple):
    """A message and its translation."""

    dialog: str
    text: str
    translation: str


def plain(text: str) -> str:
    """Removes mnemonics, placeholders and ends of lines.

    Example:
      >>> plain("Save ~As %PRODUCTNAME\\nfile")
      'Save As file'
    """
    return " ".join(re.sub(r"[~_]|%[A-Z_0-9]+|\$\([^)]*\)|<[^>]*>", "", text).split())


def messages_of(files: Sequence[Path]) -> list[Message]:
    """Reads the long messages of compiled catalogues, those of a dialog together, each text once.

    The context of a message is its dialog, the kind of the text and the field, between `|`.
    """
    messages: dict[str, Message] = {}
    for file in sorted(files):
        with file.open("rb") as opened:
            for message in read_mo(opened):
                text, translation = plain(str(message.id)), plain(str(message.string))
                dialog = f"{file.stem}/{(message.context or '').partition('|')[0]}"
                if len(text.split()) >= _WORDS and translation not in ("", text):
                    messages.setdefault(text, Message(dialog, text, translation))
    return sorted(messages.values(), key=lambda message: message.dialog)


def documents_of(messages: Sequence[Message]) -> Iterator[tuple[str, list[Message]]]:
    """Yields each document: its dialog and its messages."""
    for dialog, iterator in groupby(messages, key=lambda message: message.dialog):
        group = list(iterator)
        # A query of a dialog with one document would have no SR document.
        for start in range(0, len(group) if len(group) > _MESSAGES_OF_A_DOCUMENT else 0, _MESSAGES_OF_A_DOCUMENT):
            yield dialog, group[start : start + _MESSAGES_OF_A_DOCUMENT]


@click.command(help=(__doc__ or "").partition("\n\n")[0])
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("query_language")
@click.argument("document_language")
@click.argument("output", type=click.Path(file_okay=False, path_type=Path))
def main(folder: Path, query_language: str, document_language: str, output: Path) -> None:
    """Writes the three files of the collection and its fixed lists."""
    files = sorted(folder.rglob("*.mo"))
    # gettext's layout: LANGUAGE/LC_MESSAGES/NAME.mo.
    if len(languages := sorted({file.parent.parent.name for file in files})) > 1:
        raise click.ClickException(f"{folder}: must hold the catalogues of one language; got {', '.join(languages)}.")
    documents = list(documents_of(messages_of(files)))
    if not documents:
        raise click.ClickException(f"{folder}: must hold files *.mo with messages of {_WORDS} words or more; got none.")
    random = np.random.default_rng(1)
    queries: list[str] = []
    relations: list[str] = []
    lists: list[str] = []
    for position, (dialog, messages) in enumerate(documents):
        near = sorted(
            (abs(index - position), index) for index in range(max(0, position - 30), min(len(documents), position + 31))
        )
        related = [index for _, index in near if index != position and documents[index][0] == dialog][:_SR_DOCUMENTS]
        for message in messages:
            query = len(queries) + 1
            queries.append(f"{query}\t{dialog}\t{message.text}\n")
            split = _SPLITS[int.from_bytes(hashlib.sha256(message.text.encode()).digest()[:8], "big") % len(_SPLITS)]
            drawn = [document for document in random.permutation(len(documents)) if documents[document][0] != dialog]
            graded = [(position, 2), *((document, 1) for document in related)]
            relations += [f"{query}\t{document + 1}\t{grade}\n" for document, grade in graded]
            graded += [(int(document), 0) for document in drawn[:_NR_DOCUMENTS]]
            lists += [f"{query}\t{document + 1}\t{grade}\t{split}\n" for document, grade in graded]
    texts = [
        f"{position + 1}\t{dialog}\t{' '.join(message.translation for message in messages)}\n"
        for position, (dialog, messages) in enumerate(documents)
    ]
    output.mkdir(parents=True, exist_ok=True)
    contents = {
        f"wiki_{query_language}.queries": queries,
        f"wiki_{document_language}.documents": texts,
        f"{query_language}2{document_language}.rel": relations,
        "candidates.tsv": lists,
    }
    for name, lines in contents.items():
        (output / name).write_text("".join(lines), encoding="utf-8")
    click.echo(f"{output}: {len(queries):,} queries, {len(documents):,} documents")


if __name__ == "__main__":
    main()

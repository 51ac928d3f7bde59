"""Converts pairs of a query and its document into our files: the document is the relevant one of the query."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from models.translators.settings import CommandSettings, TranslatorSettings
from pipeline.conversion.convert import (
    CONVERSION,
    DOCUMENTS_FILE,
    JUDGMENTS_FILE,
    QUERIES_FILE,
    Conversion,
    empty_split_notes,
    open_for_writing,
    text_notes,
    write_config,
)
from pipeline.conversion.inputs import ConversionSettings, FileAccount
from pipeline.conversion.pair_files import Pair, read_pairs
from pipeline.made_folder import MadeFolder
from schemas.columns import own_columns
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.relevance import NOT_RELEVANT
from schemas.splits import SPLITS, split_of
from schemas.wikiclir import Reason, Text, excerpt_of

RELEVANT: Final = 1
"""The grade of a query's document, and so the top grade: pairs have no documents in between."""


def convert_pairs(paths: tuple[str, ...], settings: ConversionSettings, output: Path) -> Conversion:
    """Converts a file of pairs, or two aligned files: all files of the output are written, or none.

    Equal queries become one query, and equal documents one document. The id of a query or document is the number of
    the line where it occurs first; the further documents of a line have `LINE.NUMBER`. The caller holds the output
    (`pipeline.output_folder`).

    Raises:
      DataError: too many lines are bad, a file cannot be read to its end, fewer than two documents are left, or the
        output is not ours.
    """
    folder = MadeFolder(output, CONVERSION)
    columns = own_columns("pairs", settings.columns)
    with folder.staging() as staging:
        pairs = read_pairs(paths, settings.query_language, settings.document_language, columns)
        conversion = write_pairs(pairs, FileAccount("pairs", " and ".join(paths)), settings, staging)
        folder.publish(staging, conversion.as_dict())
    return conversion


def write_pairs(
    pairs: Iterable[Pair | Drop],
    account: FileAccount,
    settings: ConversionSettings,
    staging: Path,
    notes: Sequence[str] = (),
    translator: TranslatorSettings | None = None,
) -> Conversion:
    """Writes the files of a conversion of pairs into an empty folder.

    Args:
      pairs: the pairs, and those left out.
      account: counts all of them.
      settings: of the conversion.
      staging: the folder.
      notes: sentences for the user.
      translator: the translator that teaches the lexicon in a run, or None.

    Raises:
      DataError: too many lines are bad, or fewer than two documents are left.
    """
    grades: dict[str, dict[str, int]] = {}
    documents = _write_texts(_counted(pairs, account), account, grades, staging)
    if faults := account.faults(settings.max_bad_share):
        raise DataError("\n".join(faults))
    if documents < 2:
        read = account.report().describe()
        raise DataError(f"{account.path} must hold two different documents or more; got {documents} ({read}).")
    with open_for_writing(staging / JUDGMENTS_FILE) as stream:
        for query_id, judged in grades.items():
            stream.writelines(f"{query_id}\t{doc_id}\t{grade}\n" for doc_id, grade in judged.items())
    splits = Counter(map(split_of, grades))
    counts = {split: splits[split] for split in SPLITS}
    write_config(staging, settings, RELEVANT, {}, translator)
    notes = [
        *notes,
        f"{len(grades):,} queries and {documents:,} documents; equal texts are one",
        "queries go to the splits by a hash of their ids",
        *empty_split_notes(counts),
        *text_notes(staging, settings),
    ]
    written = tuple(sorted(path.name for path in staging.iterdir()))
    runs_commands = isinstance(translator, CommandSettings)
    files = {account.name: account.report()}
    return Conversion(files, counts, 0, RELEVANT, tuple(notes), written, runs_commands)


def _counted(pairs: Iterable[Pair | Drop], account: FileAccount) -> Iterator[Pair]:
    """Yields the pairs; the account counts all lines, and takes those left out."""
    for item in pairs:
        account.read += 1
        if isinstance(item, Drop):
            account.add(item)
        else:
            yield item


def _write_texts(pairs: Iterator[Pair], account: FileAccount, grades: dict[str, dict[str, int]], staging: Path) -> int:
    """Writes the queries and documents of pairs, and adds their judgments; returns the number of documents."""
    ids: dict[str, dict[bytes, str]] = {QUERIES_FILE: {}, DOCUMENTS_FILE: {}}
    with ExitStack() as stack:
        streams = {name: stack.enter_context(open_for_writing(staging / name)) for name in ids}

        def identify(name: str, text: str, new_id: str) -> str:
            """The id of a text, which is written where it is new."""
            identifier = ids[name].setdefault(hashlib.blake2b(text.encode(), digest_size=16).digest(), new_id)
            if identifier is new_id:
                streams[name].write(Text(new_id, "", text, 0).tsv() + "\n")
            return identifier

        for pair in pairs:
            judged = grades.setdefault(identify(QUERIES_FILE, pair.query, pair.id), {})
            texts = [*((text, RELEVANT) for text in pair.documents), *((text, NOT_RELEVANT) for text in pair.negatives)]
            before = dict(judged)
            for number, (text, grade) in enumerate(texts, 1):
                doc_id = identify(DOCUMENTS_FILE, text, pair.id if number == 1 else f"{pair.id}.{number}")
                judged[doc_id] = max(judged.get(doc_id, NOT_RELEVANT), grade)
            if judged == before:
                account.leave_out(Reason.REPEATED, pair.line, excerpt_of(f"{pair.query} | {pair.documents[0]}"))
            else:
                account.used += 1
    return len(ids[DOCUMENTS_FILE])

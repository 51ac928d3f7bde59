"""A first look at the input files of a configuration: the faults that their first lines show."""

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from pipeline.input_files import file_fault, files_of, files_of_dump, is_remote, missing_fault, scheme_fault
from pipeline.pair_direction import direction_fault
from schemas.columns import Columns, columns_hint, expected_form, own_columns, text_columns
from schemas.drops import Drop
from schemas.errors import DataError
from schemas.languages import LANGUAGE_FIELD
from schemas.lexicon_pairs import is_table, parse_pairs
from schemas.record_files import parse_role
from schemas.settings import PathSetting
from schemas.wikiclir import Judgment, QueryDomain, Reason, Text

_Record: TypeAlias = Text | Judgment | QueryDomain

_LINES: Final = 2000
_ANY_GRADE: Final = 1 << 30


def check_inputs(
    inputs: Sequence[PathSetting], width: int | None, fields: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Iterator[tuple[PathSetting, str]]:
    """Looks at the first lines of every input file, in well under a second; a pickle or a JSON table is read whole.

    Args:
      inputs: the paths of inputs in raw settings.
      width: number of numbers in a word vector; None skips files of word vectors.
      fields: the fields of queries and of documents, by role.

    Yields:
      a path and its fault.
    """
    collection = {setting.keys[-1]: setting for setting in inputs if setting.form == "collection"}
    for role, fault in check_collection({role: setting.path for role, setting in collection.items()}, fields=fields):
        yield collection[role], fault
    in_languages = any(LANGUAGE_FIELD in names for names in fields.values())
    for setting in inputs:
        if setting.form != "collection" and (head_fault := _input_fault(setting.path, setting.form, width)):
            yield setting, head_fault
        # The first texts of a file may be in one of several languages, and say nothing about the others.
        elif (
            setting.form == "pairs"
            and not in_languages
            and (order_fault := _swapped_columns_fault(setting.path, collection))
        ):
            yield setting, order_fault


def check_collection(
    paths: Mapping[str, str],
    names: Mapping[str, Sequence[str]] = MappingProxyType({}),
    fields: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[tuple[str, str]]:
    """Looks at the first lines of every file of a collection.

    Args:
      paths: the file of each role: queries, documents, judgments, and perhaps candidates and domains. Of the files of
        a pattern only the first is looked at.
      names: column to its names beside the usual ones.
      fields: the fields of queries and of documents, by role.

    Returns:
      (role, fault) for each fault.
    """
    faults: list[tuple[str, str]] = []
    heads: dict[str, list[_Record]] = {}
    for role, path in paths.items():
        files, fault = _find(path)
        if files and not fault:
            columns = text_columns(fields[role], role, names) if fields.get(role) else own_columns(role, names)
            heads[role], fault = _head(role, files[0], len(files) == 1, columns)
        if fault:
            faults.append((role, fault))
    return [*faults, *_swapped(paths, heads)]


def _input_fault(path: str, form: str | None, width: int | None) -> str | None:
    if form == "saved_model":
        return None if is_remote(path) else _saved_model_fault(path)
    if form == "text_vectors" and is_remote(path):
        return f"must be a local file, because vectors are not read from a bucket; got {path}. Copy it here."
    find = {"vectors": lambda file: [file], "dump": files_of_dump}.get(form or "", files_of)
    files, fault = _find(path, find)
    if fault or not files or form == "dump":
        return fault
    if form == "text_vectors":
        from models.encoders.vector_files import vectors_fault

        return vectors_fault(path)
    if form == "pairs":
        return _pairs_fault(files[0])
    return None if width is None else _vectors_fault(path, width)


def _saved_model_fault(path: str) -> str | None:
    if not os.path.isdir(path):
        finding = f"{path} is a file" if os.path.exists(path) else f"there is no folder {path}"
        return f"must be the folder of a SavedModel; {finding}."
    if not os.path.isfile(os.path.join(path, "saved_model.pb")):
        return f"must be the folder of a SavedModel; {path} holds no saved_model.pb."
    return None


def _find(path: str, find: Callable[[str], list[str]] = files_of) -> tuple[list[str], str | None]:
    """The files of a path, empty if it is remote; and the fault of the first file that cannot be read."""
    if (fault := scheme_fault(path)) or is_remote(path):
        return [], fault
    try:
        files = find(path)
    except DataError as error:
        return [], str(error)
    return files, next(filter(None, map(file_fault, files)), None) if files else missing_fault(path)


def _pairs_fault(path: str) -> str | None:
    with open(path, "rb") as stream:
        items = list(itertools.islice(parse_pairs(stream, path), _LINES))
    drops = [item for item in items if isinstance(item, Drop)]
    if not items:
        return f"{path} holds no {'entry' if is_table(path) else 'line'}."
    if drops and drops[-1].reason.is_fatal:
        return _described(drops[-1], path)
    if len(drops) < len(items):
        return None
    form = "lines of query-language text and document-language text, separated by a tab"
    return (
        f"{path} must hold {'entries with a weight' if is_table(path) else form}; its first {len(items)} hold none: "
        f"{_described(drops[0], path)}"
    )


def _swapped_columns_fault(path: str, collection: Mapping[str, PathSetting]) -> str | None:
    """Returns an error message for pairs with swapped columns, by the first texts of the collection, or None."""
    texts = {}
    for role in ("queries", "documents"):
        files, fault = _find(collection[role].path) if role in collection else ([], None)
        if fault or not files:
            return None
        texts[role] = [record.text for record in _head(role, files[0], is_whole=False)[0] if isinstance(record, Text)]
    for file in _find(path)[0]:
        with open(file, "rb") as stream:
            items = itertools.islice(parse_pairs(stream, file), _LINES)
            pairs = [item for item in items if not isinstance(item, Drop)]
        if fault := direction_fault(pairs, texts["queries"], texts["documents"]):
            return f"{file}: {fault}. Swap the columns."
    return None


def _vectors_fault(path: str, width: int) -> str | None:
    # Imported late: NumPy takes a tenth of a second.
    from schemas.word_vectors import WordVector, read_word_vectors

    try:
        entries = list(itertools.islice(read_word_vectors(path, width), _LINES))
    except DataError as error:
        return str(error)
    bad = [entry for entry in entries if not isinstance(entry, WordVector)]
    if not entries:
        return f"{path} holds no word."
    if len(bad) < len(entries):
        return None
    first = f"{path}:{bad[0].line}: {bad[0].reason.text}: {bad[0].excerpt}"
    return (
        f"{path} must hold lines of a word and {width} numbers (channels.towers.embedding_dim), separated by spaces; "
        f"its first {len(entries)} hold none: {first}"
    )


def _head(role: str, path: str, is_whole: bool, columns: Columns | None = None) -> tuple[list[_Record], str | None]:
    """The first records of a file, and its fault."""
    with open(path, "rb") as stream:
        items = list(itertools.islice(parse_role(role, stream, path, _ANY_GRADE, set(), columns), _LINES))
    if not items:
        return [], f"{path} holds no line."
    records = [item for item in items if not isinstance(item, Drop)]
    drops = [item for item in items if isinstance(item, Drop)]
    if drops and drops[-1].reason.is_fatal:
        hint = columns_hint(role) if drops[-1].reason is Reason.BAD_HEADER else ""
        return [], ". ".join(filter(None, [_described(drops[-1], path), hint]))
    if role == "documents" and is_whole and len(records) == 1 and len(items) < _LINES:
        return [], f"{path} must hold two documents or more, to rank one before another; got 1."
    if records:
        return records, None
    first = _described(drops[0], path)
    fault = f"{path} must hold {expected_form(role)}. Its first {len(items)} lines hold none: {first}"
    return [], ". ".join(filter(None, [fault, columns_hint(role)]))


def _described(drop: Drop, path: str) -> str:
    return f"{path}:{drop.line}: {drop.reason.text}: {drop.excerpt}"


def _swapped(paths: Mapping[str, str], heads: Mapping[str, list[_Record]]) -> Iterator[tuple[str, str]]:
    """Finds swapped files, by their form and by the ids that the judgments name."""
    for role in ("queries", "documents"):
        texts = [record for record in heads.get(role, []) if isinstance(record, Text)]
        if texts and all(text.text.isdigit() and not any(c.isspace() for c in text.title) for text in texts):
            yield role, f"{paths[role]} looks like judgments (id, id, grade); is it swapped with data.judgments?"
            return
    if not all(heads.get(role) for role in ("queries", "documents", "judgments")):
        return
    judged = [record for record in heads["judgments"] if isinstance(record, Judgment)]
    queries, documents = _ids(heads["queries"]), _ids(heads["documents"])
    if any(judgment.query_id in queries or judgment.doc_id in documents for judgment in judged):
        return
    if not any(judgment.query_id in documents or judgment.doc_id in queries for judgment in judged):
        return
    # Good files may begin like this, too. Only now the whole files are read.
    queries, documents = _all_ids(paths["queries"]), _all_ids(paths["documents"])
    if not _match(judged, queries, documents) and _match(judged, documents, queries):
        fault = (
            f"{paths['judgments']} has ids of {paths['documents']} as query ids, and ids of {paths['queries']} as "
            "document ids; are data.queries and data.documents swapped?"
        )
        yield "queries", fault


def _match(judged: list[Judgment], queries: set[str], documents: set[str]) -> bool:
    """Whether a judgment names a known query and a known document."""
    return any(judgment.query_id in queries and judgment.doc_id in documents for judgment in judged)


def _ids(records: list[_Record]) -> set[str]:
    return {record[0] for record in records}


def _all_ids(path: str) -> set[str]:
    return {item.id for item in _records("queries", path) if isinstance(item, Text)}


def domains_in(path: str) -> set[str]:
    """The domains that local files name."""
    return {item.domain for item in _records("domains", path) if isinstance(item, QueryDomain)}


def _records(role: str, path: str) -> Iterator[_Record | Drop]:
    """The records of a role's files."""
    for file in files_of(path):
        with open(file, "rb") as stream:
            yield from parse_role(role, stream, file, _ANY_GRADE, None)

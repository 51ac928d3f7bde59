"""The input files of a configuration: their paths, their digests, and a first look at their heads."""

import glob
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from models.encoders.settings import files_of_saved_model, files_of_vectors
from pipeline.pair_direction import direction_fault
from schemas import file_system
from schemas.byte_streams import input_digest, stream_sha256
from schemas.columns import expected_form
from schemas.drops import Drop
from schemas.errors import ConfigError, DataError
from schemas.lexicon_pairs import is_table, parse_pairs
from schemas.record_files import parse_role
from schemas.settings import PathSetting, Settings, path_settings
from schemas.wikiclir import Judgment, QueryDomain, Text
from smooth_clir.wikipedia.dumps.files import find_dump_files

Config = TypeVar("Config", bound=Settings)
_Record: TypeAlias = Text | Judgment | QueryDomain


def is_remote(path: str) -> bool:
    """Whether a path lies on Google Cloud Storage."""
    return path.startswith("gs://")


def scheme_fault(path: str) -> str | None:
    """Returns an error message for a path with a scheme that the pipeline cannot read, or None."""
    scheme = re.match(r"[A-Za-z][\w+.-]*://", path)
    if scheme is None or is_remote(path):
        return None
    return f"must be a local path, or one on Google Cloud Storage (gs://...); got {path!r}."


def files_of(path: str) -> list[str]:
    """The files of a path: itself, or all files that match it as a pattern, in the order of their names.

    The name of an existing local folder is never a pattern, whatever characters it holds.
    """
    if is_remote(path):
        from tfx.dsl.io import fileio  # takes seconds

        return sorted(fileio.glob(path)) if glob.has_magic(path) else [path]
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    folder = next(parent for parent in Path(path).parents if os.path.exists(parent))
    return sorted(str(folder / name) for name in glob.glob(str(Path(path).relative_to(folder)), root_dir=folder))


def files_of_dump(path: str) -> list[str]:
    """The files of a dump, in the order of their pages; of a table its one file.

    Raises:
      DataError: a pattern matches none, or files of two dumps.
    """
    return find_dump_files(path, files_of)


def sha256_of_file(path: str) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with file_system.open_file(path, "rb") as file:
        return stream_sha256(file)


def digest_of(path: str, expected: str | None = None) -> str:
    """The digest of an input's present content, whatever digest the configuration expects."""
    return input_digest([sha256_of_file(file) for file in files_of(path)])


def digests_of(content: Mapping[str, Any], setting: PathSetting) -> tuple[str, dict[str, Any], str]:
    """Finds the digest of an input in plain settings.

    It stands in the `sha256` of the nearest section that has one, by the key that follows that section's, and for a
    deeper setting in a table below it, by the keys that remain.

    Returns:
      the section's dotted name, the table, and the key.

    Example:
      >>> digests = {"pairs": "abc"}
      >>> setting = PathSetting({}, ("channels", "lexicon", "pairs"), "pairs")
      >>> digests_of({"channels": {"lexicon": {"pairs": "p.tsv", "sha256": digests}}}, setting)
      ('channels.lexicon', {'pairs': 'abc'}, 'pairs')
    """
    sections: list[Any] = [content]
    for key in setting.keys[:-1]:
        sections.append(sections[-1][key])
    depth = max(number for number, section in enumerate(sections) if "sha256" in section)
    name, *below = setting.keys[depth:]
    table = sections[depth]["sha256"]
    table, key = (table[name], ".".join(below)) if below else (table, name)
    return ".".join(setting.keys[:depth]), table, key


def resolve_digests(
    config: Config,
    find: Callable[[str, str | None], str] = digest_of,
    is_elsewhere: Callable[[str], bool] = lambda path: False,
) -> Config:
    """The configuration with the SHA-256 of every input: another content is another input, whatever its path.

    Args:
      config: not resolved. See `digests_of` for the digests.
      find: takes the path of an input and the digest that the configuration gives, and returns the digest that it has.
      is_elsewhere: whether a path cannot be seen here, so that `find` is asked for its digest as a whole.

    Raises:
      ConfigError: an input does not have the digest that the configuration gives, or `find` raises a DataError.
    """
    content = config.model_dump(mode="json")
    faults: list[str] = []
    for setting in path_settings(type(config), content):
        if setting.form is None:
            continue
        section, digests, key = digests_of(content, setting)
        expected = digests.get(key)
        try:
            if is_elsewhere(setting.path):
                actual = find(setting.path, expected)
            else:
                files = _files_in_order(setting)
                actual = input_digest([find(file, expected if len(files) == 1 else None) for file in files])
        except DataError as error:
            faults.append(f"{setting.name}: {error}")
            continue
        if expected not in (None, actual):
            faults.append(
                f"{setting.name}: {setting.path} must have the SHA-256 {expected}; got {actual}. "
                f"The file has changed: restore it, or remove {section}.sha256 from the configuration."
            )
        digests[key] = actual
    if faults:
        raise ConfigError(faults)
    return type(config).model_validate(content)


def digests_here(config: Settings) -> dict[str, str | None]:
    """The digest of the present content of every input, by its dotted setting; None of one that is not here."""
    digests: dict[str, str | None] = {}
    for path in path_settings(type(config), config.model_dump(mode="json")):
        if path.form:
            try:
                digests[path.name] = input_digest([digest_of(file) for file in _files_in_order(path)])
            except (DataError, OSError):
                digests[path.name] = None
    return digests


def _files_in_order(setting: PathSetting) -> list[str]:
    """The files of an input, whose digests in this order make its digest."""
    if setting.form == "dump":
        return sorted(files_of_dump(setting.path))
    if setting.form in ("saved_model", "text_vectors"):
        if setting.form == "text_vectors":
            return files_of_vectors(setting.path)
        if not is_remote(setting.path):
            return files_of_saved_model(setting.path)
        from tfx.dsl.io import fileio

        return files_of_saved_model(setting.path, fileio.walk)
    return [setting.path]


_LINES: Final = 2000
_ANY_GRADE: Final = 1 << 30


def check_inputs(inputs: Sequence[PathSetting], width: int | None) -> Iterator[tuple[PathSetting, str]]:
    """Looks at the head of every input file, in well under a second; a pickle or a JSON table is read whole.

    Args:
      inputs: the paths of inputs in raw settings.
      width: the numbers that a word vector must have; None does not look into files of word vectors.

    Yields:
      a path and its fault.
    """
    collection = {setting.keys[-1]: setting for setting in inputs if setting.form == "collection"}
    for role, fault in check_collection({role: setting.path for role, setting in collection.items()}):
        yield collection[role], fault
    for setting in inputs:
        if setting.form != "collection" and (head_fault := _input_fault(setting.path, setting.form, width)):
            yield setting, head_fault
        elif setting.form == "pairs" and (order_fault := _crossed_pairs_fault(setting.path, collection)):
            yield setting, order_fault


def check_collection(paths: Mapping[str, str]) -> list[tuple[str, str]]:
    """Looks at the head of every file of a collection.

    Args:
      paths: the file of each role: queries, documents, judgments, and perhaps candidates and domains; or a pattern of
        several, of which the first is looked at.

    Returns:
      (role, fault) for each fault.
    """
    faults: list[tuple[str, str]] = []
    heads: dict[str, list[_Record]] = {}
    for role, path in paths.items():
        files, fault = _find(path)
        if files and not fault:
            heads[role], fault = _head(role, files[0], is_whole=len(files) == 1)
        if fault:
            faults.append((role, fault))
    return [*faults, *_swapped(paths, heads)]


def _input_fault(path: str, form: str | None, width: int | None) -> str | None:
    if form == "saved_model":
        return None if is_remote(path) else _saved_model_fault(path)
    if form == "text_vectors" and is_remote(path):
        return f"must be a local file, for vectors are not read from a bucket; got {path}. Copy it to this machine."
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
    """The files of a path, and the fault of one that cannot be read; no files of a remote path."""
    if (fault := scheme_fault(path)) or is_remote(path):
        return [], fault
    try:
        files = find(path)
    except DataError as error:
        return [], str(error)
    return files, next(filter(None, map(file_fault, files)), None) if files else _nothing(path)


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


def _crossed_pairs_fault(path: str, collection: Mapping[str, PathSetting]) -> str | None:
    """The fault of pairs whose columns are in each other's place, by the heads of the collection's files."""
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
    # Not needed without vectors, and NumPy takes a tenth of a second.
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


def file_fault(path: str) -> str | None:
    """Returns an error message for a file that cannot be read, or None."""
    if os.path.isdir(path):
        return f"must be a file; {path} is a folder."
    if not os.path.exists(path):
        return _nothing(path)
    if not os.path.isfile(path):
        return f"must be a file that can be read more than once; {path} is a pipe or a device."
    if os.path.getsize(path) == 0:
        return f"{path} is empty."
    if not os.access(path, os.R_OK):
        return f"{path} cannot be read: permission denied."
    return None


def _nothing(path: str) -> str:
    return f"there is no file {path}."


def _head(role: str, path: str, is_whole: bool) -> tuple[list[_Record], str | None]:
    """The first records of a file, and a fault where there are too few or the rest cannot be read."""
    with open(path, "rb") as stream:
        parsed = parse_role(role, stream, path, _ANY_GRADE, set())
        items = list(itertools.islice(parsed, _LINES))
    if not items:
        return [], f"{path} holds no line."
    records = [item for item in items if not isinstance(item, Drop)]
    drops = [item for item in items if isinstance(item, Drop)]
    if drops and drops[-1].reason.is_fatal:
        return [], _described(drops[-1], path)
    if role == "documents" and is_whole and len(records) == 1 and len(items) < _LINES:
        return [], f"{path} must hold two documents or more, to rank one before another; got 1."
    if records:
        return records, None
    first = _described(drops[0], path)
    return [], f"{path} must hold {expected_form(role)}. Its first {len(items)} lines hold none: {first}"


def _described(drop: Drop, path: str) -> str:
    return f"{path}:{drop.line}: {drop.reason.text}: {drop.excerpt}"


def _swapped(paths: Mapping[str, str], heads: Mapping[str, list[_Record]]) -> Iterator[tuple[str, str]]:
    """Finds files in each other's place, by their form and by the ids that the judgments name."""
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
    # The heads of good files may look like this, too: only now the whole files are read.
    queries, documents = _all_ids(paths["queries"]), _all_ids(paths["documents"])
    if not _named(judged, queries, documents) and _named(judged, documents, queries):
        yield (
            "queries",
            (
                f"the ids that {paths['judgments']} names as queries stand in {paths['documents']}, and the other way "
                "round; are data.queries and data.documents swapped?"
            ),
        )


def _named(judged: list[Judgment], queries: set[str], documents: set[str]) -> bool:
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

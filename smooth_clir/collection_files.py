"""Queries, documents, judgments and pairs that a Python program holds, for the readers and conversions of files."""

import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from pipeline.conversion.convert import ACCOUNT_FILE, CONVERSION, convert
from pipeline.conversion.inputs import ConversionSettings, Sources, settings_faults
from pipeline.conversion.pairs import convert_pairs
from pipeline.input_files import file_fault
from pipeline.made_folder import made_fault
from pipeline.output_folder import run_lock, write_atomically
from schemas.columns import text_columns
from schemas.drops import Drop
from schemas.errors import ConfigError, DataError
from schemas.record_files import parse_texts
from schemas.wikiclir import Text
from smooth_clir.cli.documents import read_texts
from smooth_clir.cli.terminal import say


@runtime_checkable
class Frame(Protocol):
    """A table such as a DataFrame of pandas."""

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        """The rows as dictionaries, with the orientation `records`."""


Rows: TypeAlias = Iterable[Sequence[Any]] | Iterable[Mapping[str, Any]]
Texts: TypeAlias = str | Path | Frame | Mapping[str, str] | Rows
"""Id to text; (id, text), (id, title, text) or a dictionary of each query or document; a table; or a file's path."""
Judgments: TypeAlias = str | Path | Frame | Mapping[str, Mapping[str, float]] | Rows
"""Query id to document id to grade; (query_id, doc_id, grade) or a dictionary of each; a table; or a file's path."""
Pairs: TypeAlias = str | Path | tuple[str | Path, str | Path] | Frame | Rows
"""(query, document) or a dictionary of each; a table; or the path of a file, or of two aligned files."""

_COLUMNS = {
    "queries": (("id", "text"), ("id", "title", "text")),
    "documents": (("id", "text"), ("id", "title", "text")),
    "judgments": (("query_id", "doc_id", "grade"),),
    "pairs": (("query", "document"),),
}


def convert_content(content: Mapping[str, Any], settings: ConversionSettings, output: str) -> None:
    """Converts queries, documents and judgments, or pairs, and shows the account on stderr, as `clir convert` does.

    Args:
      content: queries, documents and judgments, or pairs.
      settings: of the conversion.
      output: a folder that is new, empty, or of an earlier conversion.

    Raises:
      ConfigError: the output, a setting or the combination of content is wrong: all faults.
      DataError: the content cannot be used.
    """
    if content.keys() not in ({"pairs"}, {"queries", "documents", "judgments"}):
        raise ConfigError([f"give queries, documents and judgments, or pairs; got {', '.join(content) or 'none'}."])
    with tempfile.TemporaryDirectory() as staging:
        files = {role: _files(role, part, Path(staging)) for role, part in content.items()}
        paths = [*chain(*files.values())]
        fault = made_fault(output, CONVERSION)
        file_faults = [*([f"output: {fault}"] if fault else []), *filter(None, map(file_fault, paths))]
        own_faults = settings_faults(settings, () if file_faults else paths, "pairs" not in content)
        if faults := [*file_faults, *(f"{name}: {fault}" for name, fault in own_faults)]:
            raise ConfigError(faults)
        try:
            with run_lock(Path(output)):
                if "pairs" in files:
                    conversion = convert_pairs(files["pairs"], settings, Path(output))
                else:
                    (queries,), (documents,), (judgments,) = (
                        files[role] for role in ("queries", "documents", "judgments")
                    )
                    sources = Sources(queries, documents, (("", judgments),))
                    conversion = convert(sources, settings, Path(output))
                account = Path(output, ACCOUNT_FILE)
                write_atomically(account, _without_folder(account.read_text(), json.dumps(staging)[1:-1]))
        except DataError as error:
            raise DataError(_without_folder(str(error), staging)) from None
        say(_without_folder("\n".join([*conversion.describe(), *conversion.notes]), staging))


def _files(role: str, content: Any, folder: Path) -> tuple[str, ...]:
    """Returns the paths of a role's file, or of two aligned files; writes a file, unless the content is paths."""
    paths = content if role == "pairs" and isinstance(content, tuple) and len(content) == 2 else (content,)
    if all(isinstance(path, str | Path) for path in paths):
        return tuple(map(str, paths))
    path = folder / role
    with path.open("wb") as stream:
        stream.writelines(_lines(role, content))
    return (str(path),)


def _without_folder(text: str, folder: str) -> str:
    """Names a written file by its role."""
    return text.replace(f"{folder}/", "")


def _lines(role: str, content: Any) -> Iterator[bytes]:
    """JSON lines. Numbers of NumPy are written as texts, which readers take as well."""
    for row in _rows(role, content):
        yield json.dumps(row, default=str).encode() + b"\n"


def _rows(role: str, content: Any) -> Iterator[Mapping[str, Any]]:
    """Yields the columns of each item; a dictionary names them itself."""
    if isinstance(content, Frame) and not isinstance(content, Mapping):
        yield from content.to_dict(orient="records")
        return
    items: Iterable[Any] = content
    if isinstance(content, Mapping):
        items = content.items()
        if role == "judgments":
            items = ((query_id, doc_id, grade) for query_id, grades in items for doc_id, grade in grades.items())
    names = {len(columns): columns for columns in _COLUMNS[role]}
    for number, item in enumerate(items, 1):
        if isinstance(item, Mapping):
            yield item
            continue
        if isinstance(item, str) or not hasattr(item, "__len__") or len(item) not in names:
            forms = " or ".join(f"({', '.join(columns)})" for columns in names.values())
            raise DataError(f"{role}: item {number:,} must be {forms}; got {item!r:.80}.")
        yield dict(zip(names[len(item)], item, strict=True))


def texts_of(role: str, content: Texts, fields: Sequence[str] = ()) -> list[Text]:
    """Returns queries or documents in memory, or those of a file; documents with the values of these fields.

    Raises:
      DataError: the content has another form or an unusable item, or the file cannot be read or holds no text.

    Example:
      >>> texts_of("documents", {"d1": "un loup"})
      [Text(id='d1', title='', text='un loup', line=1, fields=())]
    """
    if isinstance(content, str | Path):
        return [item for item in read_texts(role, str(content), fields) if not isinstance(item, Drop)]
    columns = text_columns(fields) if role == "documents" else None
    items = parse_texts(io.BytesIO(b"".join(_lines(role, content))), role, role=role, columns=columns)
    return [_text(role, item) for item in items]


def _text(role: str, item: Text | Drop) -> Text:
    if isinstance(item, Drop):
        raise DataError(f"{role}: item {item.line:,}: {item.reason.text}: {item.excerpt}")
    return item

"""Files of vectors that an encoder made elsewhere: Parquet, or .npy with the ids beside it."""

import tokenize
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow_hotfix  # noqa: F401 - without it, a Parquet file can make pyarrow 10 unpickle and so run its code

from schemas.drops import Drop
from schemas.errors import DataError
from schemas.wikiclir import excerpt_of, number_lines, visible_id

_MAGIC: Final = b"\x93NUMPY"
_ROWS: Final = 1024
"""Number of a Parquet file's rows that are held at once, beside the vectors."""
_NUMBERS: Final = 1 << 20
"""Number of numbers that are checked at once."""
_BUFFER: Final = 1 << 20
"""Bytes of a column that are read at once; pyarrow would read a whole row group."""
_HEAD: Final = 100
"""Number of rows that `vectors_fault` looks at."""


class VectorFile(NamedTuple):
    """The content of a file of vectors."""

    ids: list[str]
    """Ids of the rows, all different, without marks that nobody sees."""
    vectors: npt.NDArray[Any]
    """Float [rows, dim], each finite and not zero as float32: of a Parquet file float32 in memory, of an .npy file a
    read-only memory map of the file's own float16, float32 or float64."""


def read_vectors(path: str) -> VectorFile:
    """Reads a file of vectors, and checks all of it.

    Parquet comes from people who are trusted: pyarrow 10 can crash on bytes that were changed on purpose.

    Args:
      path: a local file. NAME.parquet has the columns `id` (string or integer) and `vector` (a list of float32 or
        float64); others are ignored. NAME.npy holds float [rows, dim], and NAME.ids beside it the ids, one a line.

    Raises:
      DataError: it is no such file, is remote, empty, damaged or too large for the memory, holds an id twice or one
        that is empty or has white space, or a vector that is not finite, is zero or is not as long as the others.
    """
    try:
        ids, vectors = _read_parquet(path) if _ending(path) == ".parquet" else _read_npy(path)
    except MemoryError:
        raise DataError(
            f"the vectors of {path} must fit into memory; they do not. Bring them as an .npy file."
        ) from None
    _check_ids(ids, path)
    _check_vectors(vectors, ids, path)
    return VectorFile(ids, vectors)


def vectors_fault(path: str) -> str | None:
    """Returns what is wrong with the head of a file of vectors, or None. It reads the same little of any file.

    Args:
      path: the file; see `read_vectors`.
    """
    try:
        if _ending(path) == ".parquet":
            with _parquet(path) as file:
                ids, vectors = next(_parquet_rows(file, path, _HEAD), ([], np.empty((0, 0))))
        else:
            vectors = _npy(path)[:_HEAD]
            ids = _read_ids(path, len(vectors))
            if len(ids) < len(vectors):
                raise DataError(f"{_ids_path(path)} must hold one id for each vector of {path}; it holds {len(ids)}.")
        _check_ids(ids, path)
        _check_vectors(vectors, ids, path)
    except DataError as error:
        return str(error)
    return None


def _ending(path: str) -> str:
    """The ending of a local file's path, .parquet or .npy."""
    if "://" in path:
        raise DataError(f"{path} must be a local file: vectors are not read from a bucket. Copy it to this machine.")
    if not path.endswith((".parquet", ".npy")):
        raise DataError(f"the name of a file of vectors must end in .parquet or .npy; got {path}.")
    if not Path(path).is_file():
        raise DataError(f"{path} must be a file of vectors; there is no such file.")
    return Path(path).suffix


def _read_parquet(path: str) -> tuple[list[str], npt.NDArray[np.float32]]:
    ids: list[str] = []
    with _parquet(path) as file:
        vectors = np.empty((0, 0), np.float32)
        for some_ids, part in _parquet_rows(file, path, _ROWS):
            if not ids:  # now the width is known
                vectors = np.empty((file.metadata.num_rows, part.shape[1]), np.float32)
            if part.shape[1] != vectors.shape[1]:
                raise _wrong_width(path, len(ids), vectors.shape[1], part.shape[1])
            with np.errstate(over="ignore"):  # `_check_vectors` refuses the infinite number
                vectors[len(ids) : len(ids) + len(part)] = part[: len(vectors) - len(ids)]
            ids += some_ids
        if len(ids) != len(vectors):
            raise DataError(f"{path} must hold {len(vectors)} rows by its footer; it holds {len(ids)}. Write it again.")
    return ids, vectors


@contextmanager
def _parquet(path: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file with at least one row and the right columns, whose faults are DataErrors while it is open."""
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER) as file:
            if not file.metadata.num_rows:
                raise _empty(path)
            _check_columns(file.schema_arrow, path)
            yield file
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        remedy = "Write it again, with vectors of float32: float16 cannot be read."
        raise DataError(f"{path} must be a whole Parquet file: {excerpt_of(str(error))}. {remedy}") from None
    except RuntimeError:  # of `pyarrow_hotfix`
        raise DataError(
            f"{path} must hold no pickled Python type, which could run any code. Write plain columns."
        ) from None


def _check_columns(schema: pa.Schema, path: str) -> None:
    for name, form in (("id", "strings or integers"), ("vector", "lists of floats")):
        types = [field.type for field in schema if field.name == name]
        if len(types) != 1:
            got = excerpt_of(", ".join(schema.names))
            raise DataError(f"{path} must have one column {name} of {form}; its columns are {got}.")
        if not (_is_id_type if name == "id" else _is_vector_type)(types[0]):
            raise DataError(f"the column {name} of {path} must hold {form}; it holds {excerpt_of(str(types[0]))}.")


def _is_id_type(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_integer(plain))


def _is_vector_type(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(is_list and pa.types.is_floating(kind.value_type))


def _parquet_rows(file: pq.ParquetFile, path: str, rows: int) -> Iterator[tuple[list[str], npt.NDArray[Any]]]:
    """The ids and the vectors, float [rows, dim], of some rows after others."""
    done = 0
    for batch in file.iter_batches(rows, columns=["id", "vector"]):
        if not len(batch):
            continue
        ids, vectors = batch.column("id"), batch.column("vector")
        for name, column in (("id", ids), ("vector", vectors)):
            if column.null_count:
                row = done + column.is_null().to_pylist().index(True) + 1
                raise DataError(f"{path} must hold a value of {name} in each row; row {row} holds none.")
        numbers = vectors.flatten()
        lengths = _lengths(vectors)
        if different := np.flatnonzero(lengths != lengths[0]).tolist():
            raise _wrong_width(path, done + different[0], lengths[0], lengths[different[0]])
        if numbers.null_count:
            row = done + numbers.is_null().to_pylist().index(True) // lengths[0] + 1
            raise DataError(f"the vectors of {path} must hold numbers; row {row} holds an empty place.")
        shape = (len(vectors), lengths[0])
        plain = ids.dictionary_decode() if pa.types.is_dictionary(ids.type) else ids
        yield plain.cast(pa.string()).to_pylist(), numbers.to_numpy(zero_copy_only=False).reshape(shape)
        done += len(vectors)


def _lengths(vectors: pa.Array) -> npt.NDArray[Any]:
    """Number of numbers of each vector, [rows]."""
    if pa.types.is_fixed_size_list(vectors.type):
        return np.full(len(vectors), vectors.type.list_size)
    lengths: npt.NDArray[Any] = pc.list_value_length(vectors).to_numpy()
    return lengths


def _read_npy(path: str) -> tuple[list[str], npt.NDArray[Any]]:
    vectors = _npy(path)
    ids = _read_ids(path, len(vectors) + 1)
    if len(ids) != len(vectors):
        got = f"{len(ids)}" if len(ids) < len(vectors) else "more"
        raise DataError(f"{_ids_path(path)} must hold one id for each of {len(vectors)} vectors of {path}; got {got}.")
    return ids, vectors


def _npy(path: str) -> npt.NDArray[Any]:
    """The memory map of an .npy file."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(len(_MAGIC))
        if head != _MAGIC:
            raise DataError(f"{path} must be a file of numpy.save; its first bytes are others. Save it again.")
        vectors: np.memmap[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        if vectors.dtype.kind != "f" or vectors.dtype.itemsize > 8 or vectors.ndim != 2:
            got = f"{excerpt_of(str(vectors.dtype))} in {vectors.ndim} dimensions"
            raise DataError(f"{path} must hold float16, float32 or float64 [rows, dim]; got {got}.")
        if not vectors.size:
            raise _empty(path)
        needed, found = vectors.offset + vectors.nbytes, Path(path).stat().st_size
    # A damaged header is parsed as Python's literals, which fails in each of these ways.
    except (OSError, ValueError, TypeError, SyntaxError, OverflowError, tokenize.TokenError) as error:
        raise DataError(
            f"{path} must be a whole .npy file of floats: {excerpt_of(str(error))}. Save it again."
        ) from None
    if found != needed:
        raise DataError(f"{path} must have {needed:,} bytes by its header; it has {found:,}. Save it again.")
    return vectors


def _read_ids(path: str, most: int) -> list[str]:
    """At most so many of the first ids of the file beside an .npy file."""
    ids: list[str] = []
    try:
        with open(_ids_path(path), "rb") as stream:
            for item in number_lines(stream, _ids_path(path)):
                if isinstance(item, Drop):
                    raise DataError(f"{_place(path, len(ids))}: an id cannot be read: {item.excerpt}.")
                ids.append(item[1].decode())
                if len(ids) == most:
                    break
    except UnicodeDecodeError:
        raise DataError(f"{_place(path, len(ids))}: an id must be UTF-8; got other bytes.") from None
    except OSError as error:
        raise DataError(
            f"the ids of {path} must stand in {_ids_path(path)}, one a line, which cannot be read: {error.strerror}."
        ) from None
    return ids


def _ids_path(path: str) -> str:
    return str(Path(path).with_suffix(".ids"))


def _check_ids(ids: list[str], path: str) -> None:
    """Removes the marks that nobody sees, in place, and raises an error for an id that is none, or not the only one."""
    for row, identifier in enumerate(ids):
        ids[row] = visible = visible_id(identifier)
        if visible.split() != [visible] or "\x00" in visible:
            raise DataError(
                f"{_place(path, row)}: an id must not be empty, and hold no white space and no NUL byte; "
                f"got {excerpt_of(visible)!r}."
            )
    if (repeated := _first_repeated(ids)) is not None:
        first, second = _place(path, ids.index(ids[repeated])), _place(path, repeated)
        raise DataError(f"each id must occur once; {excerpt_of(ids[repeated])!r} stands at {first} and at {second}.")


def _first_repeated(ids: Iterable[str]) -> int | None:
    seen: set[str] = set()
    for row, identifier in enumerate(ids):
        if identifier in seen:
            return row
        seen.add(identifier)
    return None


def _check_vectors(vectors: npt.NDArray[Any], ids: list[str], path: str) -> None:
    """Raises an error for a vector that has no cosine in float32."""
    if not vectors.size:
        raise _empty(path)
    step = max(1, _NUMBERS // max(1, vectors.shape[1]))
    for start in range(0, len(vectors), step):
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(vectors[start : start + step].astype(np.float32, copy=False), axis=1)
        if (bad := np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))).size:
            row = start + int(bad[0])
            must, got = ("not be zero", "zeros") if norms[bad[0]] == 0 else ("be finite", "NaN, infinity or too much")
            raise DataError(f"{path}: the vector of {excerpt_of(ids[row])!r} (row {row + 1}) must {must}; got {got}.")


def _place(path: str, row: int) -> str:
    """Where the id of a row stands."""
    return f"{path}, row {row + 1}" if path.endswith(".parquet") else f"{_ids_path(path)}:{row + 1}"


def _empty(path: str) -> DataError:
    return DataError(f"{path} must hold vectors; it is empty.")


def _wrong_width(path: str, row: int, width: int, got: int) -> DataError:
    return DataError(
        f"the vectors of {path} must be equally long; the first has {width} numbers, row {row + 1} has {got}."
    )

"""Files of vectors that an encoder made elsewhere: Parquet, or .npy with a file of ids."""

import tokenize
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow_hotfix  # noqa: F401 - otherwise a Parquet file can make pyarrow 10 unpickle, and thus run, its code

from schemas.drops import Drop
from schemas.errors import DataError
from schemas.wikiclir import excerpt_of, number_lines, visible_id

_ROWS: Final = 1024
"""Number of a Parquet file's rows that are decoded at once."""
_NUMBERS: Final = 1 << 20
"""Number of vectors' components that are checked at once."""
_BUFFER: Final = 1 << 20
"""Bytes of a column that are read at once; pyarrow's default is a whole row group."""
_HEAD: Final = 100
"""Number of rows that `vectors_fault` checks."""


class VectorFile(NamedTuple):
    """The content of a file of vectors."""

    ids: list[str]
    """Distinct ids of the rows, without invisible characters."""
    vectors: npt.NDArray[Any]
    """Float [rows, dim], finite and not zero as float32: float32 in memory for Parquet, a read-only memory map of
    float16, float32 or float64 for .npy."""


def read_vectors(path: str) -> VectorFile:
    """Reads and checks a file of vectors.

    Parquet must come from trusted people: pyarrow 10 can crash on maliciously changed bytes.

    Args:
      path: a local file. NAME.parquet has the columns `id` (strings or integers) and `vector` (lists of numbers), and
        maybe others. NAME.npy holds float [rows, dim], and NAME.ids in the same folder an id in each line.

    Raises:
      DataError: the file is missing, remote, empty, damaged or too large for the memory, or has an id that is repeated,
        empty or with white space, or a vector that is not finite, is zero or differs in length.
    """
    try:
        ids, vectors = _read_parquet(path) if _ending(path) == ".parquet" else _read_npy(path)
    except MemoryError:
        raise DataError(f"the vectors of {path} do not fit into memory. Store them as an .npy file.") from None
    return _checked(path, ids, vectors)


def vectors_fault(path: str) -> str | None:
    """Returns an error message for the first rows of a file of vectors (see `read_vectors`), or None."""
    try:
        if _ending(path) == ".parquet":
            _, ids, vectors = next(_parquet_parts(path, _HEAD))
        else:
            ids, vectors = _read_npy(path, _HEAD)
        _checked(path, ids, vectors)
    except DataError as error:
        return str(error)
    return None


def _ending(path: str) -> str:
    """The ending of a local file's path, .parquet or .npy."""
    if "://" in path:
        raise DataError(f"{path} must be a local file, because files of vectors are memory-mapped. Copy it here.")
    if not path.endswith((".parquet", ".npy")):
        raise DataError(f"the name of a file of vectors must end in .parquet or .npy; got {path}.")
    if not Path(path).is_file():
        raise DataError(f"{path} must be a file of vectors; there is no such file.")
    return Path(path).suffix


def _read_parquet(path: str) -> tuple[list[str], npt.NDArray[np.float32]]:
    ids: list[str] = []
    vectors = np.empty((0, 0), np.float32)
    for rows, part_ids, part in _parquet_parts(path, _ROWS):
        if not ids:  # the first part shows the width
            vectors = np.empty((rows, part.shape[1]), np.float32)
        vectors[len(ids) : len(ids) + len(part)] = part[: rows - len(ids)]
        ids += part_ids
    if len(ids) != len(vectors):
        raise DataError(f"{path} must hold {len(vectors)} rows by its footer; it holds {len(ids)}. Write it again.")
    return ids, vectors


def _parquet_parts(path: str, size: int) -> Iterator[tuple[int, list[str], npt.NDArray[np.float32]]]:
    """Yields, for up to `size` rows at a time, the number of all rows, and these rows' ids and vectors [rows, dim]."""
    done = width = 0
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER) as file:
            if not file.metadata.num_rows:
                raise _empty(path)
            for batch in filter(len, file.iter_batches(size, columns=["id", "vector"])):
                ids, vectors = batch.column("id").cast(pa.string()), batch.column("vector")
                lengths = pc.list_value_length(vectors).fill_null(0).to_numpy()
                width = width or int(lengths[0])
                if not width:
                    raise DataError(f"{path} must hold a vector in each row; row {done + 1} holds none.")
                if different := np.flatnonzero(lengths != width).tolist():
                    raise DataError(
                        f"the vectors of {path} must be equally long; the first has {width} numbers, row "
                        f"{done + different[0] + 1} has {lengths[different[0]]}."
                    )
                # A missing number becomes NaN, and a missing id empty: `_checked` refuses both.
                numbers = vectors.flatten().cast(pa.float32()).to_numpy(zero_copy_only=False)
                yield file.metadata.num_rows, ids.fill_null("").to_pylist(), numbers.reshape(len(batch), width)
                done += len(batch)
    except (OSError, KeyError, pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(
            f"{path} must be a whole Parquet file with a column id of strings or integers, and a column vector of "
            f"lists of numbers: {excerpt_of(str(error))}."
        ) from None
    except RuntimeError:  # of `pyarrow_hotfix`
        raise DataError(
            f"{path} must not hold a pickled Python type, which could run any code. Write plain columns."
        ) from None


def _read_npy(path: str, limit: int | None = None) -> tuple[list[str], npt.NDArray[Any]]:
    """Reads the ids and maps the vectors of an .npy file, or of its first rows."""
    try:
        # Unlike `np.load`, this reads neither archives nor pickles.
        vectors: np.memmap[Any, Any] = np.lib.format.open_memmap(path, mode="r")  # type: ignore[no-untyped-call]
        size, header_size = Path(path).stat().st_size, vectors.offset + vectors.nbytes
    # The header is parsed as Python literals, which fails in all these ways if it is damaged.
    except (OSError, ValueError, TypeError, SyntaxError, OverflowError, tokenize.TokenError) as error:
        raise DataError(
            f"{path} must be a whole .npy file of floats: {excerpt_of(str(error))}. Save it again."
        ) from None
    if vectors.dtype.kind != "f" or vectors.dtype.itemsize > 8 or vectors.ndim != 2:
        got = f"{excerpt_of(str(vectors.dtype))} in {vectors.ndim} dimensions"
        raise DataError(f"{path} must hold float16, float32 or float64 [rows, dim]; got {got}.")
    if size != header_size:
        raise DataError(f"{path} must have {header_size:,} bytes by its header; it has {size:,}. Save it again.")
    rows = len(vectors)
    ids = _read_ids(path, limit or rows + 1)
    if len(ids) != min(rows, limit or rows):
        got = f"{len(ids)}" if len(ids) < rows else "more"
        raise DataError(f"{_ids_path(path)} must hold one id for each of {rows} vectors of {path}; it holds {got}.")
    return ids, vectors[:limit]


def _read_ids(path: str, limit: int) -> list[str]:
    """Reads at most `limit` ids of an .npy file."""
    ids: list[str] = []
    try:
        with open(_ids_path(path), "rb") as stream:
            for item in islice(number_lines(stream, _ids_path(path)), limit):
                if isinstance(item, Drop):
                    raise DataError(f"{_position(path, len(ids))}: an id cannot be read: {item.excerpt}.")
                ids.append(item[1].decode())
    except UnicodeDecodeError:
        raise DataError(f"{_position(path, len(ids))}: an id must be UTF-8; got other bytes.") from None
    except OSError as error:
        raise DataError(f"cannot read the ids of {path} from {_ids_path(path)}: {error.strerror}.") from None
    return ids


def _checked(path: str, ids: list[str], vectors: npt.NDArray[Any]) -> VectorFile:
    """Returns the rows with visible ids; raises a DataError for an unusable id or vector."""
    row_by_id: dict[str, int] = {}
    for row, identifier in enumerate(map(visible_id, ids)):
        shown, position = excerpt_of(identifier), _position(path, row)
        if identifier.split() != [identifier] or "\x00" in identifier:
            raise DataError(f"{position}: an id must not be empty, or hold white space or a NUL byte; got {shown!r}.")
        if (first := row_by_id.setdefault(identifier, row)) != row:
            raise DataError(f"each id must occur once; {shown!r} stands at {_position(path, first)} and at {position}.")
    if not vectors.size:
        raise _empty(path)
    step = max(1, _NUMBERS // vectors.shape[1])
    for start in range(0, len(vectors), step):
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(vectors[start : start + step].astype(np.float32, copy=False), axis=1)
        if (bad := np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))).size:
            row = start + int(bad[0])
            must, got = ("not be zero", "zeros") if norms[bad[0]] == 0 else ("be finite", "NaN, infinity or too much")
            raise DataError(f"{path}: the vector of {excerpt_of(ids[row])!r} (row {row + 1}) must {must}; got {got}.")
    return VectorFile([*row_by_id], vectors)


def _ids_path(path: str) -> str:
    return str(Path(path).with_suffix(".ids"))


def _position(path: str, row: int) -> str:
    """The position of a row's id, for messages."""
    return f"{path}, row {row + 1}" if path.endswith(".parquet") else f"{_ids_path(path)}:{row + 1}"


def _empty(path: str) -> DataError:
    return DataError(f"{path} must hold vectors; it is empty.")

"""Reads Polyglot's pickles of word vectors (Al-Rfou et al. 2013) without running any code that they name."""

import io
import pickle
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from schemas.errors import DataError

HEADS: Final = (b"\x80", b"((l", b"(]q")
"""The first bytes of a pickle: the mark of a protocol, or in protocols 0 and 1 the start of a tuple or list."""

_MAX_BYTES = 1 << 32
_FLOATS = frozenset({"f2", "f4", "f8"})


def read_polyglot(stream: BinaryIO, file: str) -> tuple[list[str | bytes], npt.NDArray[Any]]:
    """Reads a pickled tuple (words, vectors), as Python 2 or 3 wrote it.

    The pickle is interpreted in Python, because the unpickler in C allocates as much memory as a pickle asks for. The
    few names that rebuild an array are replaced by our own functions, so that NumPy never sees unchecked data.

    Args:
      stream: the unpacked pickle.
      file: its name, for messages.

    Returns:
      the words (`bytes` where Python 2 wrote plain strings) and float [words, width].

    Raises:
      DataError: the pickle names something else, is cut off, or does not hold words and a vector of floats for each.
    """
    try:
        content = _Unpickler(_whole(stream), encoding="bytes").load()
    except _Refused as error:
        raise DataError(
            f"{file} must be a Polyglot pickle, which names only functions that rebuild an array; got {error}. It was "
            "not run, because a pickle can run any command. Download it from its publisher."
        ) from None
    except Exception as error:  # noqa: BLE001  a broken pickle may raise any type
        raise DataError(
            f"{file} cannot be read as a Polyglot pickle ({type(error).__name__}: {error}). It may be cut off: "
            "download it again."
        ) from None
    if not (isinstance(content, (tuple, list)) and len(content) == 2 and isinstance(content[0], (tuple, list))):
        raise DataError(f"{file} must hold a tuple (words, vectors), as Polyglot's pickles; got {_shown(content)}.")
    words, array = content
    vectors = array.to_numpy() if isinstance(array, _Array) else None
    if vectors is None or len(vectors) != len(words):
        raise DataError(
            f"{file} must hold a matrix of floats with a row for each of its {len(words):,} words; got {_shown(array)}."
        )
    for word in words:
        if not isinstance(word, (str, bytes)):
            raise DataError(f"{file} must hold words that are strings; got {_shown(word)}.")
    return list(words), vectors


class _Refused(Exception):
    """The pickle names something that no array needs."""


class _Type:
    """Stands for `numpy.dtype`."""

    def __init__(self, name: Any, *_: Any) -> None:
        self.name = name.decode("latin-1") if isinstance(name, bytes) else name
        self.order = "="

    def __setstate__(self, state: Any) -> None:
        order = state[1]
        self.order = order.decode("latin-1") if isinstance(order, bytes) else order


class _Array:
    """Stands for `numpy.ndarray`, whose state is (version, shape, dtype, by columns, bytes)."""

    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def to_numpy(self) -> npt.NDArray[Any] | None:
        """Returns the matrix, or None where the state is not a matrix of floats."""
        if not (isinstance(self.state, tuple) and len(self.state) == 5):
            return None
        _, shape, dtype, by_columns, content = self.state
        if not (isinstance(dtype, _Type) and dtype.name in _FLOATS and dtype.order in ("<", ">", "=", "|")):
            return None
        if not (isinstance(shape, tuple) and len(shape) == 2 and all(type(n) is int and n >= 0 for n in shape)):
            return None
        kind = np.dtype((">" if dtype.order == ">" else "<") + dtype.name)
        if not isinstance(content, bytes) or len(content) != shape[0] * shape[1] * kind.itemsize:
            return None
        return np.frombuffer(content, kind).reshape(shape, order="F" if by_columns else "C")


def _encode(text: Any, encoding: Any) -> bytes:
    """Stands for `_codecs.encode`, with which Python 3 writes bytes for Python 2."""
    if not isinstance(text, str) or encoding not in ("latin1", b"latin1"):
        raise pickle.UnpicklingError("bytes must be written as latin1")
    return text.encode("latin-1")


class _Unpickler(pickle._Unpickler):
    """Finds stand-ins for the names that an array needs, and refuses every other name.

    Python's unpickler in Python has only a private name; this module's tests would notice a change.
    """

    def find_class(self, module: Any, name: Any) -> Any:
        # New stand-ins each time: a pickle may change them.
        stand_ins: dict[tuple[str, str], Any] = {
            ("numpy", "dtype"): lambda *arguments: _Type(*arguments),
            ("numpy", "ndarray"): None,
            ("_codecs", "encode"): lambda *arguments: _encode(*arguments),
            ("numpy.core.multiarray", "_reconstruct"): lambda *_: _Array(),
            ("numpy._core.multiarray", "_reconstruct"): lambda *_: _Array(),
        }
        if (module, name) not in stand_ins:
            raise _Refused(f"{module}.{name}"[:80])
        return stand_ins[module, name]


def _whole(stream: BinaryIO) -> io.BytesIO:
    """Reads the whole stream, within no more memory than its content."""
    content = io.BytesIO()
    while part := stream.read(1 << 20):
        if content.tell() + len(part) > _MAX_BYTES:
            raise pickle.UnpicklingError(f"it holds more than {_MAX_BYTES >> 30} GiB")
        content.write(part)
    content.seek(0)
    return content


def _shown(content: Any) -> str:
    """A description of a value without its content, which may be anything."""
    if isinstance(content, _Array):
        if not (isinstance(content.state, tuple) and len(content.state) == 5):
            return "an array without content"
        _, shape, dtype, *_ = content.state
        return f"an array of shape {str(shape)[:40]} and type {str(getattr(dtype, 'name', dtype))[:20]}"
    return type(content).__name__

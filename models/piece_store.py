"""Divides long work on many texts, such as encoding, into pieces whose results survive a kill. Never imports TFX."""

import hashlib
import io
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.text_vectors import Keys, text_keys
from models.time_left import TimeLeft
from schemas.apply import Apply

log = logging.getLogger("clir.data")
progress_log = logging.getLogger("clir.progress")


class PieceStore:
    """The results of pieces, kept for later runs.

    Args:
      folder: the folder of all results of the same kind of work, local or remote; need not exist.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def write(self, group: str, keys: Keys, **results: npt.NDArray[Any]) -> None:
        """Writes a piece atomically; its name has the digest of its content.

        Args:
          group: the group of the piece.
          keys: the keys of the piece's texts.
          results: arrays by name.
        """
        buffer = io.BytesIO()
        np.savez(buffer, keys=keys, **results)
        content = buffer.getvalue()
        tf.io.gfile.makedirs(self.folder)
        path = f"{self.folder}/{group}.{_digest(content)}.npz"
        with tf.io.gfile.GFile(f"{path}.part", "wb") as file:
            file.write(content)
        tf.io.gfile.rename(f"{path}.part", path, overwrite=True)

    def read(self, group: str) -> Iterator[Mapping[str, npt.NDArray[Any]]]:
        """Reads all pieces of a group, the newest last; removes damaged pieces, whose work is then repeated."""
        paths = tf.io.gfile.glob(f"{self.folder}/{group}.*.npz")
        for path in sorted(paths, key=lambda path: (tf.io.gfile.stat(path).mtime_nsec, path)):
            with tf.io.gfile.GFile(path, "rb") as file:
                content = file.read()
            if path.split(".")[-2] != _digest(content):
                log.warning("%s is damaged and is removed; the work on its texts is repeated", path)
                tf.io.gfile.remove(path)
                continue
            yield np.load(io.BytesIO(content), allow_pickle=False)

    def keys(self, group: str) -> Keys:
        """The keys of a group's texts, sorted and distinct."""
        keys: Keys = np.unique(np.concatenate([text_keys([]), *(piece["keys"] for piece in self.read(group))]))
        return keys


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Piece(Protocol):
    @property
    def keys(self) -> Keys: ...


_P = TypeVar("_P", bound=_Piece)


def in_pieces(rows: npt.NDArray[np.int64], size: int) -> list[npt.NDArray[np.int64]]:
    """Divides rows into pieces of a size; the last may be smaller."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def work_on_pieces(work: Callable[[_P], object], pieces: Sequence[_P], apply: Apply, noun: str) -> None:
    """Applies work to pieces, and logs the progress.

    Args:
      work: works on a piece, and writes the result to a store.
      pieces: the pieces.
      apply: applies a function to items, possibly in other processes.
      noun: the word for the texts, in the plural.
    """
    done, total = 0, sum(len(piece.keys) for piece in pieces)
    left = TimeLeft(0, total)
    for piece, _ in zip(pieces, apply(work, pieces), strict=True):
        done += len(piece.keys)
        progress_log.info("%s of %s %s, %s left", f"{done:,}", f"{total:,}", noun, left.after(done))

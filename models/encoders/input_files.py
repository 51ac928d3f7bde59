"""The files of an encoder that a configuration names, and their digests."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from models.encoders.settings import EncoderSettings
from schemas.byte_streams import check_content, stream_sha256


def files_of_saved_model(folder: str, walk: Callable[[str], Iterable[Any]] = os.walk) -> list[str]:
    """The files of a SavedModel in the order of their paths, whose digests in this order make its digest."""
    return sorted(os.path.join(path, name) for path, _, names in walk(folder) for name in names)


def files_of_vectors(path: str) -> list[str]:
    """A file of vectors, and that of its ids if it is beside it; see `models.encoders.vector_files`."""
    return [path, f"{path.removesuffix('.npy')}.ids"] if path.endswith(".npy") else [path]


def check_files(settings: EncoderSettings) -> None:
    """Compares the encoder's files with the digests in its settings.

    Raises:
      DataError: a file has changed since the run began.
    """
    setting_files: dict[str, list[str]] = {}
    if settings.path:
        setting_files["path"] = files_of_saved_model(settings.path, tf.io.gfile.walk)
    for key in ("query_vectors", "document_vectors"):
        if path := getattr(settings, key):
            setting_files[key] = files_of_vectors(path)
    for key, files in setting_files.items():
        check_content(f"encoder.{key}", files, [_sha256(file) for file in files], getattr(settings.sha256, key))


def _sha256(path: str) -> str:
    with tf.io.gfile.GFile(path, "rb") as file:
        return stream_sha256(file)

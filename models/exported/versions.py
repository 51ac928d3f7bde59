"""Exported models by their content, and the whole versions in a serving folder."""

import hashlib
import os
from collections.abc import Mapping

import tensorflow as tf

from schemas.byte_streams import stream_sha256
from schemas.errors import DataError
from schemas.served_versions import CARD_FILE, EXTRA_FOLDER, GRAPH_FILE, SUMS_FILE, served_versions


def write_sums(root: str) -> None:
    """Writes `SHA256SUMS` into an exported model, in the form of `sha256sum`, which people can check it with."""
    with tf.io.gfile.GFile(os.path.join(root, SUMS_FILE), "wb") as file:
        file.write(_sums(_digests(root)).encode())


def model_fingerprint(root: str) -> str:
    """Returns a SHA-256 of an exported model's content, whatever its folder, without the files that a push adds.

    Args:
      root: the model's folder, local or remote.
    """
    return _fingerprint(_digests(root))


def checked_fingerprint(root: str) -> str:
    """Returns the `model_fingerprint` of a model whose files are as they were exported.

    Raises:
      DataError: a file changed or is missing. A model without `SHA256SUMS`, exported by an earlier release, is not
        checked.
    """
    digests = _digests(root)
    if SUMS_FILE in digests:
        with tf.io.gfile.GFile(os.path.join(root, SUMS_FILE), "rb") as file:
            sums = file.read().decode("utf-8", "replace")
        now = {*_sums(digests).splitlines()}
        wrong = [line.partition("  ")[2] or line for line in sums.splitlines() if line not in now]
        if wrong or not sums:
            names = ", ".join(wrong) or SUMS_FILE
            raise DataError(
                f"{root} must hold a whole SavedModel: missing, or not as its {SUMS_FILE} says: {names}. Restore "
                "it from a copy, or remove this folder and run again, which makes the model again."
            )
    return _fingerprint(digests)


def _digests(root: str) -> dict[str, str]:
    """SHA-256 of every file of a model, by its path there."""
    digests = {}
    for folder, _, names in tf.io.gfile.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            inner = os.path.relpath(path, root)
            if _is_beside_model(inner):
                continue
            with tf.io.gfile.GFile(path, "rb") as file:
                digests[inner] = stream_sha256(file)
    return digests


def _is_beside_model(inner: str) -> bool:
    """Whether a file is one that a push adds to a model, or a backup that an editor made of one."""
    return inner.startswith(EXTRA_FOLDER) or (CARD_FILE in inner and "/" not in inner)


def _sums(digests: Mapping[str, str]) -> str:
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))


def _fingerprint(digests: Mapping[str, str]) -> str:
    return hashlib.sha256(_sums(digests).encode()).hexdigest()


def is_in_object_store(path: str) -> bool:
    """Returns whether a path is in an object store, where no folder can be renamed in one step."""
    return "://" in path


def whole_versions(serving: str) -> list[str]:
    """Returns the whole versions of a serving folder, in the order of their numbers.

    On a disk a version appears by one rename, and is whole. In an object store it grows file by file, and is whole once
    it has its graph.

    Args:
      serving: the folder; it need not exist.
    """
    if not tf.io.gfile.exists(serving):
        return []
    versions = served_versions(tf.io.gfile.listdir(serving))
    if not is_in_object_store(serving):
        return versions
    return [version for version in versions if tf.io.gfile.exists(os.path.join(serving, version, GRAPH_FILE))]

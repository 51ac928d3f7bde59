"""Exported models by their content, and the whole versions in a serving folder."""

import hashlib
import os

import tensorflow as tf

from schemas.byte_streams import stream_sha256
from schemas.served_versions import BESIDE_MODEL, GRAPH_FILE, served_versions


def model_fingerprint(root: str) -> str:
    """Returns a SHA-256 of an exported model's content, whatever its folder, without the files that a push adds.

    Args:
      root: the model's folder, local or remote.
    """
    digests = {}
    for folder, _, names in tf.io.gfile.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            inner = os.path.relpath(path, root)
            if inner in BESIDE_MODEL:
                continue
            with tf.io.gfile.GFile(path, "rb") as file:
                digests[inner] = stream_sha256(file)
    lines = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()


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

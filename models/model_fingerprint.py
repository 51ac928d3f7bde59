"""Tells one exported model from another."""

import hashlib
import os

import tensorflow as tf

from schemas.served_versions import BESIDE_MODEL
from schemas.stream_sha256 import stream_sha256


def file_digests(root: str) -> dict[str, str]:
    """SHA-256 of every file of an exported model, by its path there; without what a push adds to it.

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
    return digests


def model_fingerprint(root: str) -> str:
    """A SHA-256 of all that a model is, wherever it lies and whatever it is called."""
    digests = file_digests(root)
    lines = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()

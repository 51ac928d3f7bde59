"""Whether two exported models are the same, byte for byte."""

import hashlib
import os

import tensorflow as tf

from schemas.served_versions import CARD_FILE


def same_files(one: str, other: str) -> bool:
    """Whether two folders hold the same files with the same content; a version's card is no part of its model."""
    return _digests(one) == _digests(other)


def _digests(root: str) -> dict[str, str]:
    """SHA-256 of every file under a folder, by its path there."""
    digests = {}
    for folder, _, names in tf.io.gfile.walk(root):
        for name in names:
            if name == CARD_FILE:
                continue
            digest = hashlib.sha256()
            with tf.io.gfile.GFile(os.path.join(folder, name), "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            digests[os.path.relpath(os.path.join(folder, name), root)] = digest.hexdigest()
    return digests

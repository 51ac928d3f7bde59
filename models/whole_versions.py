"""The versions in a serving folder that are whole, on a disk or in an object store."""

import os
from typing import Final

import tensorflow as tf

from schemas.served_versions import served_versions

GRAPH_FILE: Final = "saved_model.pb"
"""The file without which no folder is a SavedModel: in an object store it is written last."""


def is_in_object_store(path: str) -> bool:
    """Whether files lie where a folder cannot be renamed in one step."""
    return "://" in path


def whole_versions(serving: str) -> list[str]:
    """The versions of a serving folder, in the order of their numbers.

    On a disk a version appears by one rename, and is whole. In an object store it grows file by file, and is whole once
    it has its graph.

    Args:
      serving: the folder; it need not be there.
    """
    if not tf.io.gfile.exists(serving):
        return []
    versions = served_versions(tf.io.gfile.listdir(serving))
    if not is_in_object_store(serving):
        return versions
    return [version for version in versions if tf.io.gfile.exists(os.path.join(serving, version, GRAPH_FILE))]

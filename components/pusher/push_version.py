"""Puts a model into a serving folder, as a version that appears whole.

On a disk a version's folder appears by one rename. An object store has no folders, and renames file by file: there the
graph, without which nobody takes a folder for a SavedModel, is written last, when all that belongs to it is there.
"""

import os
from collections.abc import Mapping

import tensorflow as tf

from models.exported.versions import is_in_object_store, whole_versions
from schemas.served_versions import GRAPH_FILE, served_versions

_STAGING = ".incoming"  # no number, so that TF Serving does not take it for a version


def push_version(model: str, serving: str, newest: str | None, beside: Mapping[str, bytes]) -> str:
    """Makes a model the newest version.

    Its number is the time in seconds at which the model was exported, so that a version that someone deleted comes back
    under its own; and higher than every version's, or it would be hidden.

    Args:
      model: folder of a SavedModel.
      serving: folder of the versions.
      newest: the newest version there is, if any.
      beside: what is added to the model's own files (see `schemas.served_versions.BESIDE_MODEL`): path to content.

    Returns:
      the version's number.
    """
    exported = tf.io.gfile.stat(os.path.join(model, GRAPH_FILE)).mtime_nsec // 10**9
    version = str(max(exported, int(newest or 0) + 1))
    target = os.path.join(serving, version)
    if is_in_object_store(serving):
        _remove_unfinished(serving)
        _copy(model, target, beside)
        return version
    staging = os.path.join(serving, _STAGING)
    if tf.io.gfile.exists(staging):
        tf.io.gfile.rmtree(staging)
    _copy(model, staging, beside)
    tf.io.gfile.rename(staging, target)
    return version


def add_file(serving: str, version: str, name: str, content: bytes) -> None:
    """Puts a file, whole, into a version that lacks it.

    Args:
      serving: folder of the versions.
      version: the version's number.
      name: the file's path in the version.
      content: the file's.
    """
    staging = os.path.join(serving, f"{_STAGING}.file")
    _write(staging, content)
    path = os.path.join(serving, version, name)
    tf.io.gfile.makedirs(os.path.dirname(path))
    tf.io.gfile.rename(staging, path, overwrite=True)


def _remove_unfinished(serving: str) -> None:
    """Removes what killed pushes left in an object store, which a server would try to load again and again."""
    if tf.io.gfile.exists(serving):
        for version in set(served_versions(tf.io.gfile.listdir(serving))) - set(whole_versions(serving)):
            tf.io.gfile.rmtree(os.path.join(serving, version))


def _copy(model: str, target: str, beside: Mapping[str, bytes]) -> None:
    """Copies a model, and writes what stands beside it; the graph comes last."""
    inner = [
        os.path.normpath(os.path.join(os.path.relpath(folder, model), name))
        for folder, _, names in tf.io.gfile.walk(model)
        for name in names
    ]
    tf.io.gfile.makedirs(target)
    for name, content in beside.items():
        path = os.path.join(target, name)
        tf.io.gfile.makedirs(os.path.dirname(path))
        _write(path, content)
    for name in sorted(inner, key=GRAPH_FILE.__eq__):
        path = os.path.join(target, name)
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(os.path.join(model, name), path)


def _write(path: str, content: bytes) -> None:
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(content)

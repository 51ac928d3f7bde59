"""Puts a model into a serving folder, as a version that appears whole."""

import os
from collections.abc import Mapping

import tensorflow as tf

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
    exported = tf.io.gfile.stat(os.path.join(model, "saved_model.pb")).mtime_nsec // 10**9
    version = str(max(exported, int(newest or 0) + 1))
    _place(model, os.path.join(serving, version), beside)
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


def _place(model: str, path: str, beside: Mapping[str, bytes]) -> None:
    """Copies a model to a version's folder, and what stands beside it; the folder appears whole, by one rename."""
    staging = os.path.join(os.path.dirname(path), _STAGING)
    if tf.io.gfile.exists(staging):
        tf.io.gfile.rmtree(staging)
    for folder, _, names in tf.io.gfile.walk(model):
        target = os.path.join(staging, os.path.relpath(folder, model))
        tf.io.gfile.makedirs(target)
        for name in names:
            tf.io.gfile.copy(os.path.join(folder, name), os.path.join(target, name))
    for name, content in beside.items():
        tf.io.gfile.makedirs(os.path.dirname(os.path.join(staging, name)))
        _write(os.path.join(staging, name), content)
    tf.io.gfile.rename(staging, path)


def _write(path: str, content: bytes) -> None:
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(content)

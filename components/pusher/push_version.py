"""Puts a model into a serving folder as a version that appears whole.

On a disk a version's folder appears by one rename. An object store renames file by file; there the graph is written
last, because a server loads no folder without it.
"""

import os
from collections.abc import Mapping

import tensorflow as tf

from components.pusher.model_card import is_of_same_run
from models.exported.versions import is_in_object_store, whole_versions
from schemas.served_versions import CARD_FILE, GRAPH_FILE, served_versions

_STAGING = ".incoming"  # not a number, so that TF Serving does not take it for a version


def push_version(model: str, serving: str, newest: str | None, extra_files: Mapping[str, bytes]) -> str:
    """Makes a model the newest version.

    The version's number is the time of the model's export in seconds, so that a deleted version gets its own number
    back. If the newest version's number is not smaller, the number is one above that.

    Args:
      model: folder of a SavedModel.
      serving: folder of the versions.
      newest: the newest version, if any.
      extra_files: path to content of the files to add: the card, and those of `assets.extra`.

    Returns:
      the version's number.
    """
    exported = tf.io.gfile.stat(os.path.join(model, GRAPH_FILE)).mtime_nsec // 10**9
    version = str(max(exported, int(newest or 0) + 1))
    target = os.path.join(serving, version)
    if is_in_object_store(serving):
        _remove_unfinished(serving)
        _copy(model, target, extra_files)
        return version
    staging = os.path.join(serving, _STAGING)
    _remove_link(staging)
    if tf.io.gfile.exists(staging):
        tf.io.gfile.rmtree(staging)
    _copy(model, staging, extra_files)
    tf.io.gfile.rename(staging, target)
    return version


def renew_card(serving: str, version: str, card: str) -> None:
    """Gives a pushed version the card of the run that judged it last; on a disk the new card replaces the old at once.

    A repetition of the same run keeps the old card, which compares the model with the version before it.
    """
    path = os.path.join(serving, version, CARD_FILE)
    if tf.io.gfile.exists(path):
        with tf.io.gfile.GFile(path, "rb") as file:
            if is_of_same_run(file.read().decode("utf-8", "replace"), card):
                return
    # Outside the version: a file that a killed run leaves inside would change the model's fingerprint.
    staging = os.path.join(serving, f"{_STAGING}.md")
    _remove_link(staging)
    with tf.io.gfile.GFile(staging, "wb") as file:
        file.write(card.encode())
    tf.io.gfile.rename(staging, path, overwrite=True)


def _remove_link(path: str) -> None:
    """Removes a link at the path of a staging: TensorFlow would empty the folder or file that the link names."""
    if os.path.islink(path):
        os.unlink(path)


def _remove_unfinished(serving: str) -> None:
    """Removes unfinished versions of killed pushes from an object store: a server would keep trying to load them."""
    if tf.io.gfile.exists(serving):
        for version in set(served_versions(tf.io.gfile.listdir(serving))) - set(whole_versions(serving)):
            tf.io.gfile.rmtree(os.path.join(serving, version))


def _copy(model: str, target: str, extra_files: Mapping[str, bytes]) -> None:
    """Writes a model's additional files, then copies the model, its graph last."""
    inner = [
        os.path.normpath(os.path.join(os.path.relpath(folder, model), name))
        for folder, _, names in tf.io.gfile.walk(model)
        for name in names
    ]
    tf.io.gfile.makedirs(target)
    for name, content in extra_files.items():
        path = os.path.join(target, name)
        tf.io.gfile.makedirs(os.path.dirname(path))
        with tf.io.gfile.GFile(path, "wb") as file:
            file.write(content)
    for name in sorted(inner, key=GRAPH_FILE.__eq__):
        path = os.path.join(target, name)
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(os.path.join(model, name), path)

"""Puts a model into a serving folder, as a version that appears whole."""

import os

import tensorflow as tf

from schemas.served_versions import CARD_FILE

_STAGING = ".incoming"  # no number, so that TF Serving does not take it for a version


def push_version(model: str, serving: str, newest: str | None, card: str) -> str:
    """Makes a model the newest version.

    Its number is the time in seconds at which the model was exported, so that a version that someone deleted comes back
    under its own; and higher than every version's, or it would be hidden.

    Args:
      model: folder of a SavedModel.
      serving: folder of the versions.
      newest: the newest version there is, if any.
      card: the model's, which stands beside it (see `components.pusher.model_card`).

    Returns:
      the version's number.
    """
    exported = tf.io.gfile.stat(os.path.join(model, "saved_model.pb")).mtime_nsec // 10**9
    version = str(max(exported, int(newest or 0) + 1))
    _place(model, os.path.join(serving, version), card)
    return version


def add_card(serving: str, version: str, card: str) -> None:
    """Puts a card, whole, into a version that has none.

    Args:
      serving: folder of the versions.
      version: the version's number.
      card: the model's.
    """
    staging = os.path.join(serving, f"{_STAGING}.card")
    with tf.io.gfile.GFile(staging, "w") as file:
        file.write(card)
    tf.io.gfile.rename(staging, os.path.join(serving, version, CARD_FILE), overwrite=True)


def _place(model: str, path: str, card: str) -> None:
    """Copies a model and its card to a version's folder, which appears whole, by one rename."""
    staging = os.path.join(os.path.dirname(path), _STAGING)
    if tf.io.gfile.exists(staging):
        tf.io.gfile.rmtree(staging)
    for folder, _, names in tf.io.gfile.walk(model):
        target = os.path.join(staging, os.path.relpath(folder, model))
        tf.io.gfile.makedirs(target)
        for name in names:
            tf.io.gfile.copy(os.path.join(folder, name), os.path.join(target, name))
    with tf.io.gfile.GFile(os.path.join(staging, CARD_FILE), "w") as file:
        file.write(card)
    tf.io.gfile.rename(staging, path)

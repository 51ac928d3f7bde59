"""The numbered versions of a model in a serving folder, as TF Serving watches it."""

import hashlib
import os
import re
import time

import tensorflow as tf

_STAGING = ".incoming"  # no number, so that TF Serving does not take it for a version


def latest_version(serving: str) -> str | None:
    """The highest number of a version; None where there is none."""
    names = tf.io.gfile.listdir(serving) if tf.io.gfile.exists(serving) else []
    versions = [name for name in (name.rstrip("/") for name in names) if re.fullmatch("0|[1-9][0-9]*", name)]
    return max(versions, key=int, default=None)


def push_version(model: str, serving: str) -> str:
    """Makes a model the latest version.

    Its number is the time in seconds, and higher than every version's: two pushes within a second, or a clock set
    back, must not hide this one. A model that is the latest version already (a run was killed after its push) stays
    that.

    Args:
      model: folder of a SavedModel.
      serving: folder of the versions.

    Returns:
      the version's number.
    """
    latest = latest_version(serving)
    if latest is not None and same_files(model, os.path.join(serving, latest)):
        return latest
    version = str(max(int(time.time()), int(latest or 0) + 1))
    place_version(model, os.path.join(serving, version))
    return version


def place_version(model: str, path: str) -> None:
    """Copies a model to a version's folder, which appears whole, by one rename."""
    serving = os.path.dirname(path)
    staging = os.path.join(serving, _STAGING)
    for folder in (staging, path):
        if tf.io.gfile.exists(folder):
            tf.io.gfile.rmtree(folder)
    for folder, _, names in tf.io.gfile.walk(model):
        target = os.path.join(staging, os.path.relpath(folder, model))
        tf.io.gfile.makedirs(target)
        for name in names:
            tf.io.gfile.copy(os.path.join(folder, name), os.path.join(target, name))
    tf.io.gfile.rename(staging, path)


def same_files(one: str, other: str) -> bool:
    """Whether two folders hold the same files with the same content."""
    return _digests(one) == _digests(other)


def _digests(root: str) -> dict[str, str]:
    """SHA-256 of every file under a folder, by its path there."""
    digests = {}
    for folder, _, names in tf.io.gfile.walk(root):
        for name in names:
            digest = hashlib.sha256()
            with tf.io.gfile.GFile(os.path.join(folder, name), "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            digests[os.path.relpath(os.path.join(folder, name), root)] = digest.hexdigest()
    return digests

"""Where what a kill leaves unfinished is kept: TFX removes all folders of an execution that fails."""

import os

import tensorflow as tf


def unfinished_work(folder: str, key: str, removes: bool = True) -> tuple[str, bool]:
    """The folder of a piece of work; those of others, whatever they were, are of no more use.

    Args:
      folder: of all unfinished work of one kind, local or remote, there or not.
      key: a digest of all that decides the work.
      removes: whether those of others are removed.

    Returns:
      its path, which may be there, and whether others' were removed.
    """
    others = [
        path
        for name in (tf.io.gfile.listdir(folder) if removes and tf.io.gfile.exists(folder) else [])
        if (path := os.path.join(folder, name.rstrip("/"))) != os.path.join(folder, key)
    ]
    for path in others:
        tf.io.gfile.rmtree(path)
    return os.path.join(folder, key), bool(others)

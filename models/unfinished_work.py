"""Folders of work that a kill left unfinished: TFX removes all folders of an execution that fails."""

import os

import tensorflow as tf


def unfinished_work(folder: str, key: str, removes: bool = True) -> tuple[str, bool]:
    """Returns the folder of a piece of unfinished work, and removes the folders of other work, which are of no more
    use.

    Args:
      folder: folder of all unfinished work of one kind, local or remote; it need not exist.
      key: digest of everything that decides the work.
      removes: whether the folders of other work are removed.

    Returns:
      the folder's path, which may exist, and whether other folders were removed.
    """
    obsolete = [
        path
        for name in (tf.io.gfile.listdir(folder) if removes and tf.io.gfile.exists(folder) else [])
        if (path := os.path.join(folder, name.rstrip("/"))) != os.path.join(folder, key)
    ]
    for path in obsolete:
        tf.io.gfile.rmtree(path)
    return os.path.join(folder, key), bool(obsolete)

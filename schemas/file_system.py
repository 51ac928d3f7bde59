"""The files of this machine and of remote file systems. All other modules open files here."""

import errno
import os
from typing import Any


def open_file(path: str, mode: str = "r") -> Any:
    """Opens a file: a local path as Python does, with texts in UTF-8; a path with `://` by TensorFlow.

    Raises:
      FileNotFoundError: the file to read does not exist. TensorFlow itself would raise another type, and only when
        reading.
    """
    if "://" not in path:
        return open(path, mode, encoding=None if "b" in mode else "utf-8")
    import tensorflow as tf  # takes seconds

    if "r" in mode and not tf.io.gfile.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return tf.io.gfile.GFile(path, mode)

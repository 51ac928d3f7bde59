"""Loads exported models into this process: each content once, from any path, and never in a forked process."""

import os
from functools import cache, lru_cache
from typing import Any, Final

import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that an exported model holds)

from models.exported.versions import checked_fingerprint
from schemas.errors import DataError

_PATTERN_SIGNS: Final = frozenset("[]*?\\")


@cache
def _process() -> int:
    """The process that loads the first model: TensorFlow starts its threads there."""
    return os.getpid()


def check_process() -> None:
    """Refuses a forked process, in which TensorFlow would wait for its threads for ever."""
    if os.getpid() != _process():
        raise RuntimeError(
            f"a model must be used in the process that loaded the first model ({_process()}), because TensorFlow's "
            f"threads do not survive a fork; got process {os.getpid()}. Load it in processes that are started by "
            "spawn, or before any model is loaded."
        )


def expect_few_calls() -> None:
    """Leaves graphs as they are in this process: to optimize a graph takes as long as hundreds of calls save."""
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


def load_saved_model(path: str) -> Any:
    """Loads a SavedModel; loaded again with the same files, it is the same object.

    Raises:
      DataError: a file changed since the export, or changes now.
      Exception: TensorFlow cannot load it.
    """
    return _load(path, checked_fingerprint(path))


# Most stages after a Trainer read the same model, and loading takes a second.
@lru_cache(maxsize=1)
def _load(path: str, fingerprint: str) -> Any:
    if os.path.isdir(path) and _PATTERN_SIGNS.intersection(path):
        # TensorFlow takes the path of the weights for a pattern; the path of a file descriptor has no signs.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            loaded = tf.saved_model.load(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)
    else:
        loaded = tf.saved_model.load(path)
    if checked_fingerprint(path) != fingerprint:
        raise DataError(f"{path} must not change while it is loaded. Load it again once it stays as it is.")
    return loaded

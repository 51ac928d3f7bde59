"""Loads what `models.export` writes."""

from typing import Any

import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that an exported model holds)

from schemas.errors import DataError


def load_model(path: str, *signatures: str) -> Any:
    """An exported model.

    Args:
      path: folder of a SavedModel.
      signatures: those that it must have.

    Raises:
      DataError: it is damaged, or lacks a signature.
    """
    try:
        model = tf.saved_model.load(path)
        missing = set(signatures) - set(model.signatures)
    except (OSError, ValueError, LookupError, AttributeError, tf.errors.OpError) as error:
        raise DataError(f"{path} must hold a whole SavedModel: {str(error).splitlines()[0].rstrip('.')}.") from None
    if missing:
        raise DataError(f"{path} must hold a SavedModel of this project; it lacks the signature {min(missing)}.")
    return model

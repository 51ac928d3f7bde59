"""An exported model that was loaded into this process, as a `CallableModel`."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf


class LoadedModel:
    """See `models.callable_model.CallableModel`.

    Args:
      model: what `models.exported.load_model` gives.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def signatures(self) -> frozenset[str]:
        """The names that `call` takes."""
        return frozenset(self._model.signatures)

    def call(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """What a signature gives."""
        tensors = {name: tf.constant(array, _dtype(array)) for name, array in inputs.items()}
        found = self._model.signatures[signature](**tensors)
        return {name: np.asarray(tensor.numpy(), _array_dtype(tensor)) for name, tensor in found.items()}


def _dtype(array: npt.NDArray[Any]) -> tf.DType | None:
    """An array without texts does not show that it would have texts."""
    return tf.string if np.asarray(array).dtype.kind in "OSU" else None


def _array_dtype(tensor: tf.Tensor) -> type | None:
    """A single text is no array of NumPy's."""
    return object if tensor.dtype == tf.string else None

"""An exported model behind one call, wherever it runs."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy.typing as npt

from models.exported.model import CallableModel, LoadedModel, load_model

Arrays = Mapping[str, npt.NDArray[Any]]
"""Tensors by the names of a signature's inputs or outputs; strings are arrays of `bytes` objects."""


class ServedModel(CallableModel, Protocol):
    """A model in this process or in a TF Serving; `call` raises DataError where the TF Serving cannot be reached."""

    @property
    def version(self) -> str:
        """The number of the pushed version that answers every call."""


class LocalModel(LoadedModel):
    """A `ServedModel` in this process.

    Args:
      path: folder of a pushed version; its name is the version's number.

    Raises:
      DataError: see `models.exported.model.load_model`.
    """

    def __init__(self, path: str) -> None:
        super().__init__(load_model(path, "score"))
        self.version = path.rstrip("/").rpartition("/")[2]

"""An exported model behind one call, wherever it runs: what explanations and searches need of it."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy.typing as npt


class CallableModel(Protocol):
    """A model that answers its signatures."""

    @property
    def signatures(self) -> frozenset[str]:
        """The names that `call` takes."""

    def call(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """What a signature (see `models.export.export_ranker`) gives, by the names of its inputs and outputs."""

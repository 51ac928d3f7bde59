"""What comes back of a list's own documents."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from serving.served_model import Arrays

_SCORING: Final = ("score", "serving_default")


def own_columns(signature: str, inputs: Arrays, outputs: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The outputs without columns of documents that were not asked for.

    A TF Serving that forms batches pads a shorter list to the longest one of its batch, and gives the scores of what it
    has added, too.

    Example:
      >>> query, documents, scores = np.array(["q"]), np.array([["d", "e"]]), np.array([[0.5, 0.25, 0.5]])
      >>> own_columns("score", {"query": query, "documents": documents}, {"scores": scores})
      {'scores': array([[0.5 , 0.25]])}
    """
    if signature not in _SCORING:
        return outputs
    size = np.shape(inputs["documents"])[1]
    return {name: scores[:, :size] for name, scores in outputs.items()}

"""An exported model: loading it, and calling its signatures."""

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that an exported model holds)

from models.exported.versions import model_fingerprint
from schemas import features as f
from schemas.errors import DataError


class CallableModel(Protocol):
    """A model that answers its signatures."""

    @property
    def signatures(self) -> frozenset[str]:
        """The names that `call` takes."""

    def call(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """Returns the outputs of a signature (see `models.exported.export`), by their names."""


_TABLES: Final = {
    f.QUERY_VOCABULARY: "query_encoder/table",
    f.DOCUMENT_VOCABULARY: "document_encoder/table",
    f.QUERY_STEM_VOCABULARY: "query_encoder/stem_table",
    f.DOCUMENT_STEM_VOCABULARY: "document_encoder/stem_table",
}
"""The weight that has a row for each line of a vocabulary."""
_PREAMBLE: Final = ("Graph execution error", "Detected at node", "<stack traces")
"""How TensorFlow's messages begin, before they tell what happened."""


def load_model(path: str, *signatures: str) -> Any:
    """An exported model; asked for again, with its files as they were, it is not loaded again.

    Args:
      path: folder of a SavedModel.
      signatures: those that it must have.

    Raises:
      DataError: it is damaged, or lacks a signature.
    """
    try:
        model = _load(path, model_fingerprint(path))
        missing = set(signatures) - set(model.signatures)
    except (OSError, ValueError, LookupError, AttributeError, tf.errors.OpError) as error:
        raise DataError(f"{path} must hold a whole SavedModel: {_told(error)}.") from None
    if missing and missing <= {"encode_query", "encode_document"} and "score" in model.signatures:
        raise DataError(
            f"{path} has no {max(missing)}: its score is no inner product of two vectors, so that there is nothing to "
            "encode or to index. Its signature score ranks documents."
        )
    if missing == {"own_terms"}:
        raise DataError(
            f"{path} must have a channel of words that match, which has the weights of words by which feedback "
            "compares documents; a run with lexicon.kind lexicon, bm25 or tfidf makes one."
        )
    if missing:
        raise DataError(f"{path} must hold a SavedModel of this project; it lacks the signature {min(missing)}.")
    _check_vocabularies(path, model)
    return model


# Most stages after a Trainer read the same model, which takes a second each time.
@lru_cache(maxsize=1)
def _load(path: str, _: str) -> Any:
    return tf.saved_model.load(path)


def words_channel(model: Any) -> str | None:
    """The name of an exported model's channel of words that match, if it has one."""
    signature = model.signatures.get("words_channel")
    return signature()["name"].numpy().decode() if signature else None


def _check_vocabularies(path: str, model: Any) -> None:
    """Every row of an embedding table has a word: a vocabulary that is cut off would load, and know fewer words."""
    for vocabulary, table in _TABLES.items():
        file = os.path.join(path, "assets", vocabulary)
        rows = [weight.shape[0] for weight in getattr(model, "weights", []) if f"{table}:" in weight.name]
        if not rows or not tf.io.gfile.exists(file):
            continue
        with tf.io.gfile.GFile(file, "rb") as stream:
            words = stream.read().count(b"\n")  # none after half a word
        if words != rows[0]:
            raise DataError(
                f"{path} must hold a whole SavedModel: {file} must hold {rows[0]:,} words, a line each, as its "
                f"embeddings do; got {words:,} whole lines."
            )


def _told(error: Exception) -> str:
    """What happened: the first line that says so."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = (line for line in lines if line and not line.startswith(_PREAMBLE))
    return next(said, type(error).__name__).rstrip(".")


class LoadedModel:
    """See `models.exported.model.CallableModel`.

    Args:
      model: what `models.exported.model.load_model` gives.
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

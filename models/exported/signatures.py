"""Calls the signatures of an exported model, with the vectors of a pre-trained encoder where they need them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from models.choices import WITH_VECTORS
from models.encoders.load_encoder import EndpointLimits, served_encoder
from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors
from models.encoders.text_vectors import EncoderRecord
from schemas.errors import DataError

Arrays = Mapping[str, npt.NDArray[Any]]
"""Arrays by the names of a signature's inputs or outputs; a text is an object, `bytes` in outputs."""


class ModelSignatures(ABC):
    """The signatures of an exported model (see `models.exported.export`).

    A model that does not hold its pre-trained encoder needs the vectors of a call's texts. They come from `encoder`,
    else from the encoder that the model names.

    Attributes:
      signatures: the names of the model's signatures.
      encoder: gives the vectors of texts instead of the model's own encoder; None for the model's own.
      endpoint_limits: a service's limits where the model's encoder is an endpoint; None for its settings' own. To be
        set before the first call.
    """

    signatures: frozenset[str]
    encoder: PretrainedEncoder | None = None
    endpoint_limits: EndpointLimits | None = None

    def call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        """Returns the outputs of a signature, by their names.

        Raises:
          DataError: a text has no vector of the pre-trained encoder.
        """
        return self._call(*self._with_vectors(signature, inputs))

    @abstractmethod
    def _call(self, signature: str, inputs: Arrays) -> dict[str, npt.NDArray[Any]]:
        """Calls a signature by its exact name."""

    def has(self, signature: str) -> bool:
        """Whether `call` takes a signature, with the vectors of a pre-trained encoder or without."""
        return signature in self.signatures or f"{signature}{WITH_VECTORS}" in self.signatures

    @cached_property
    def encoder_record(self) -> EncoderRecord | None:
        """The record of the model's pre-trained encoder; None without one."""
        if "text_encoder" not in self.signatures:
            return None
        record: bytes = np.asarray(self._call("text_encoder", {})["record"]).item()
        try:
            return EncoderRecord.from_json(record.decode())
        except ValueError as error:
            raise DataError(
                f"the model's record of its encoder must be what a run wrote: {error}. Export the model again."
            ) from None

    @cached_property
    def own_encoder(self) -> PretrainedEncoder | None:
        """The pre-trained encoder that the model holds or names; None without one."""
        if self.encoder_record is None:
            return None
        if "query_text_vectors" in self.signatures:
            return _EncoderInGraph(self)
        return served_encoder(self.encoder_record, self.endpoint_limits)

    def _with_vectors(self, signature: str, inputs: Arrays) -> tuple[str, Arrays]:
        """Returns the signature and the inputs of a call, with an encoder's vectors if the model needs them."""
        name = f"{signature}{WITH_VECTORS}"
        if name not in self.signatures or (self.encoder is None and signature in self.signatures):
            return signature, inputs
        encoder, added = self.encoder or self.own_encoder, dict(inputs)
        if encoder is None:
            raise DataError(f"The REST API cannot say which encoder {self} needs. Use gRPC.")
        for side, texts in inputs.items():
            role: Role = "query" if side == "query" else "document"
            array = np.asarray(texts, object)
            # Empty texts fill shorter lists.
            rows = [row for row, text in enumerate(array.flat) if text]
            known = [text.decode() if isinstance(text, bytes) else text for text in array.flat if text]
            no_vectors = np.zeros([0, self.encoder_record.dim if self.encoder_record else 0], np.float32)
            known_vectors = encoder.encode(known, role) if known else no_vectors
            vectors = np.zeros([array.size, known_vectors.shape[1]], np.float32)
            vectors[rows] = known_vectors
            added[f"{role}_vectors"] = vectors.reshape([*array.shape, vectors.shape[1]])
        return name, added


class _EncoderInGraph(PretrainedEncoder):
    """The pre-trained encoder in a model's graph."""

    def __init__(self, model: ModelSignatures) -> None:
        self._model = model

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts: float32 [texts, dim]."""
        return self._model.call(f"{role}_text_vectors", {role: as_texts(texts)})["vectors"]


def as_texts(texts: Any) -> npt.NDArray[Any]:
    """Returns a text, or lists of texts, as `call` takes them."""
    return np.array(texts, object)

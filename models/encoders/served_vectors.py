"""The vectors of new texts for an exported model whose encoder is not in its graph."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from models.encoders.endpoint import EndpointEncoder
from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors
from models.encoders.text_vectors import EncoderRecord, stored_form
from schemas.errors import DataError


class EndpointLimits(NamedTuple):
    """How a service, for which people wait, asks an endpoint; see `EndpointEncoder`."""

    retries: int
    timeout_s: float
    """The longest wait for an answer, in seconds."""
    answers_per_probe: int


class _TrainedEndpoint(PretrainedEncoder):
    """Asks the endpoint that the model was trained with; its vectors are rounded as those of the training."""

    def __init__(self, record: EncoderRecord, limits: EndpointLimits | None) -> None:
        if not record.probes:
            raise DataError(
                f"the model must hold the fingerprint of the endpoint {record.encoder.address}; it holds none, so that "
                "another encoder there would not be noticed. Train again."
            )
        settings = record.encoder.model_copy(update={"probes": record.probes})
        if limits:
            settings = settings.model_copy(update={"timeout_s": min(limits.timeout_s, settings.timeout_s)})
        # New texts have the form of those that the model was trained with, and that its indexes hold.
        self._encoder = EndpointEncoder(
            settings, limits and limits.retries, record.text_form, limits and limits.answers_per_probe
        )

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts: float32 [texts, dim].

        Raises:
          DataError: the endpoint fails, or its vectors are others than those of the training.
        """
        return stored_form(self._encoder.encode(texts, role)).astype(np.float32)


class _VectorsInFiles(PretrainedEncoder):
    """Refuses new texts: the vectors came in files."""

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Raises DataError."""
        raise DataError(
            f"a new {role} must be encoded, but this model's vectors came in files (encoder.kind vectors): only the "
            "run's own queries and documents have any. Train with encoder.kind endpoint, or with an encoder in the "
            "model, to rank or search other texts."
        )


def served_encoder(record: EncoderRecord, limits: EndpointLimits | None = None) -> PretrainedEncoder:
    """Returns the encoder of new texts for an exported model without an encoder in its graph.

    Args:
      record: the record of the model's encoder.
      limits: a service's, where it is an endpoint; None for those of its settings.
    """
    return _TrainedEndpoint(record, limits) if record.encoder.kind == "endpoint" else _VectorsInFiles()

"""From settings, or from the record of an exported model, to a pre-trained encoder."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from models.encoders.endpoint import EndpointEncoder
from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors
from models.encoders.settings import EncoderSettings, EndpointSettings
from models.encoders.text_vectors import EncoderRecord, stored_form
from schemas.errors import DataError

_MAX_HELD: Final = 1 << 16
"""Number of vectors that a `CachedEncoder` holds: 128 MB of 512 numbers each."""


def load_encoder(settings: EncoderSettings) -> PretrainedEncoder:
    """Loads the encoder that settings name; files of vectors are none.

    Raises:
      DataError: it cannot be loaded.
      AttributeError: the kind is vectors.
    """
    encoder: PretrainedEncoder = settings.load()(settings)
    return encoder


class EndpointLimits(NamedTuple):
    """How a service, for which people wait, asks an endpoint; see `EndpointEncoder`."""

    retries: int
    timeout_s: float
    """The longest wait for an answer, in seconds."""
    answers_per_probe: int


def served_encoder(record: EncoderRecord, limits: EndpointLimits | None = None) -> PretrainedEncoder:
    """Returns the encoder of new texts for an exported model without an encoder in its graph.

    Args:
      record: the record of the model's encoder.
      limits: a service's, where it is an endpoint; None for those of its settings.
    """
    settings = record.encoder
    return _ServedEndpoint(record, settings, limits) if isinstance(settings, EndpointSettings) else _NoNewTexts()


class _ServedEndpoint(PretrainedEncoder):
    """Asks the endpoint that the model was trained with; its vectors are rounded as those of the training."""

    def __init__(self, record: EncoderRecord, settings: EndpointSettings, limits: EndpointLimits | None) -> None:
        if not record.probes:
            raise DataError(
                f"the model must hold the fingerprint of the endpoint {settings.address}; it holds none, so that "
                "another encoder there would not be noticed. Train again."
            )
        settings = settings.model_copy(update={"probes": record.probes})
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


class _NoNewTexts(PretrainedEncoder):
    """Refuses new texts: the vectors came in files."""

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Raises DataError."""
        raise DataError(
            f"a new {role} must be encoded, but this model's vectors came in files (an encoder of the kind vectors): "
            "only the run's own queries and documents have any. Train with an encoder of the kind endpoint, or with "
            "one in the model, to rank or search other texts."
        )


class CachedEncoder(PretrainedEncoder):
    """Holds the vectors of the texts that were encoded, and forgets all of them when they are many.

    Args:
      encoder: encodes the texts that are not held.
    """

    def __init__(self, encoder: PretrainedEncoder) -> None:
        self._encoder = encoder
        self._held: dict[tuple[Role, str], npt.NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts, each distinct one once: float32 [texts, dim]."""
        if len(self._held) > _MAX_HELD:
            self._held.clear()
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self._held]
        if new:
            self._held |= zip([(role, text) for text in new], self._encoder.encode(new, role), strict=True)
        return np.stack([self._held[role, text] for text in texts])

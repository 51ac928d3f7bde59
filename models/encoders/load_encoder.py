"""Loads pre-trained encoders from settings or from the record of an exported model."""

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
"""Number of vectors that a `CachedEncoder` holds: 128 MB for vectors of 512 numbers."""


def load_encoder(settings: EncoderSettings) -> PretrainedEncoder:
    """Loads the encoder that settings name.

    Raises:
      DataError: the encoder cannot be loaded.
      AttributeError: the kind is vectors, which has files instead of an encoder.
    """
    encoder: PretrainedEncoder = settings.load()(settings)
    return encoder


class EndpointLimits(NamedTuple):
    """The limits of a service, for which people wait, on requests to an endpoint; see `EndpointEncoder`."""

    retries: int
    timeout_s: float
    """The longest wait for an answer, in seconds."""
    answers_per_probe: int


def served_encoder(record: EncoderRecord, limits: EndpointLimits | None = None) -> PretrainedEncoder:
    """Returns the encoder of new texts for an exported model without an encoder in its graph.

    Args:
      record: the record of the model's encoder.
      limits: a service's limits on requests to an endpoint; None for those of the encoder's settings.
    """
    settings = record.encoder
    return _ServedEndpoint(record, settings, limits) if isinstance(settings, EndpointSettings) else _NoNewTexts()


class _ServedEndpoint(PretrainedEncoder):
    """Asks the endpoint that the model was trained with; its vectors are rounded as those of the training."""

    def __init__(self, record: EncoderRecord, settings: EndpointSettings, limits: EndpointLimits | None) -> None:
        if not record.probes:
            raise DataError(
                f"the model must hold the fingerprint of the endpoint {settings.address}, which would show a changed "
                "encoder; it holds none. Train again."
            )
        settings = settings.model_copy(update={"probes": record.probes})
        if limits:
            settings = settings.model_copy(update={"timeout_s": min(limits.timeout_s, settings.timeout_s)})
        # New texts have the form of the texts of the training and of its indexes.
        self._encoder = EndpointEncoder(
            settings, limits and limits.retries, record.text_form, limits and limits.answers_per_probe
        )

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts: float32 [texts, dim].

        Raises:
          DataError: the endpoint fails, or its vectors have changed since the training.
        """
        return stored_form(self._encoder.encode(texts, role)).astype(np.float32)


class _NoNewTexts(PretrainedEncoder):
    """Refuses new texts: the vectors came in files."""

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Raises DataError."""
        raise DataError(
            f"a new {role} cannot be encoded: this model's vectors came in files (an encoder of the kind vectors), and "
            "only the run's queries and documents have vectors. To rank or search other texts, train with an encoder "
            "of the kind endpoint, or with one that is part of the model."
        )


class CachedEncoder(PretrainedEncoder):
    """Caches the vectors of texts, and forgets all of them when there are too many.

    Args:
      encoder: encodes new texts.
    """

    def __init__(self, encoder: PretrainedEncoder) -> None:
        self._encoder = encoder
        self._held: dict[tuple[Role, str], npt.NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes each distinct text once: float32 [texts, dim]."""
        if len(self._held) > _MAX_HELD:
            self._held.clear()
        new = [text for text in dict.fromkeys(texts) if (role, text) not in self._held]
        if new:
            self._held |= zip([(role, text) for text in new], self._encoder.encode(new, role), strict=True)
        return np.stack([self._held[role, text] for text in texts])

"""The vectors of new texts for an exported model whose encoder is not in its graph."""

import threading
from collections.abc import Sequence

import numpy as np

from models.encoders.endpoint import EndpointEncoder
from models.encoders.fingerprint import fingerprint, fingerprint_fault
from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors
from models.encoders.text_vectors import EncoderRecord, stored_form
from schemas.errors import DataError


class _OfEndpoint(PretrainedEncoder):
    """Asks the endpoint that the model was trained with; its vectors are rounded as those of the training.

    Args:
      record: of the model.
      retries, timeout_s: number of further tries, and the longest wait; None for those of the settings.
    """

    def __init__(self, record: EncoderRecord, retries: int | None, timeout_s: float | None) -> None:
        self._record = record
        limits = {} if timeout_s is None else {"timeout_s": min(timeout_s, record.encoder.timeout_s)}
        # New texts have the form of those that the model was trained with, and that its indexes hold.
        self._encoder = EndpointEncoder(record.encoder.model_copy(update=limits), retries, record.text_form)
        self._is_checked, self._lock = False, threading.Lock()

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts: float32 [texts, dim].

        Raises:
          DataError: the endpoint fails, or its vectors are others than those of the training.
        """
        self._check()
        return stored_form(self._encoder.encode(texts, role)).astype(np.float32)

    def _check(self) -> None:
        """Compares the endpoint with that of the training, once."""
        with self._lock:
            if not self._is_checked and (
                fault := fingerprint_fault(self._record.probes, fingerprint(self._encoder.probe()))
            ):
                raise DataError(
                    f"the endpoint {self._record.encoder.address} must give the vectors that this model was trained "
                    f"with: {fault}. Start the endpoint with that model, or train again."
                )
            self._is_checked = True


class _OfFiles(PretrainedEncoder):
    """Refuses new texts: the vectors came in files."""

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Raises DataError."""
        raise DataError(
            f"a new {role} must be encoded, but this model's vectors came in files (encoder.kind vectors): only the "
            "run's own queries and documents have any. Train with encoder.kind endpoint, or with an encoder in the "
            "model, to rank or search other texts."
        )


def served_encoder(
    record: EncoderRecord, retries: int | None = None, timeout_s: float | None = None
) -> PretrainedEncoder:
    """Returns the encoder of new texts for an exported model without an encoder in its graph.

    Args:
      record: the record of the model's encoder.
      retries, timeout_s: number of further tries, and the longest wait in seconds, where it is an endpoint; None for
        those of its settings.
    """
    return _OfEndpoint(record, retries, timeout_s) if record.encoder.kind == "endpoint" else _OfFiles()

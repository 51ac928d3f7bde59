"""A text encoder behind an OpenAI-compatible HTTP endpoint, and a probe that shows whether its model was replaced."""

import json
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors, checked_vectors, encoder_texts
from models.encoders.settings import TEXT_FORM, EndpointSettings, TextForm
from models.json_endpoint import JsonEndpoint
from schemas.errors import DataError
from schemas.json_files import parse_json

PROBES: Final = (
    "A volcano is a rupture in the crust through which lava escapes.",
    "La photosynthèse transforme la lumière en énergie chimique.",
    "東京は日本の首都である。",
)
"""The texts of `EndpointEncoder.probe`. Never change them: models hold the fingerprint of their vectors."""

_TEXTS: Final = 256
"""Largest number of a request's texts, whatever `batch` is: its answer then has at most about 50 MB."""
_NUMBERS: Final = 8192
"""The longest vector; the largest encoders in use have vectors of 4,096 numbers, a few of 8,192."""
_BYTES_OF_TEXT: Final = _NUMBERS * 24 + 1000
"""The size of the largest vector in JSON: -1.2345678901234567e-05 takes 24 bytes with a comma and a space."""
_FORM: Final = '{"data": [{"index": 0, "embedding": [numbers]}, ...]}'
_TOLERANCE: Final = 0.003
"""The largest difference of a number in two fingerprints of the same encoder, which may be rounded differently."""
_REMEDIES: Final = {
    400: "If a text is too long, lower channels.encoder.max_characters or channels.encoder.batch.",
    404: "Check channels.encoder.address and the models' names.",
}


class EndpointEncoder(PretrainedEncoder):
    """Asks an endpoint that answers `POST {address}/v1/embeddings`, such as Text Embeddings Inference or vLLM.

    Several threads may use it at once. If the settings hold a fingerprint, vectors are accepted only between two probes
    that match it. Probes are requests of their own, because in a batch with other texts their vectors would be rounded
    differently.

    Args:
      settings: the address, the models, the limits and the expected fingerprint.
      retries: number of further tries, instead of the settings' number; a service for which people wait sets 0.
      form: the form of the texts that are sent.
      answers_per_probe: number of answers after which a new probe is due, as after each new connection; None for a
        probe after each call of `encode`.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        retries: int | None = None,
        form: TextForm = TEXT_FORM,
        answers_per_probe: int | None = None,
    ) -> None:
        self._settings, self._form, self._answers_per_probe = settings, form, answers_per_probe
        self._endpoint = JsonEndpoint(
            "channels.encoder",
            settings.address,
            "/v1/embeddings",
            settings.key_variable,
            settings.timeout_s,
            settings.retries if retries is None else retries,
            _REMEDIES,
        )
        self._dim: int | None = None
        self._probed: tuple[int, int] | None = None
        """Numbers of connections and answers before the last probe; None before the first probe and after a failed
        one."""
        self._dim_lock = threading.Lock()

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts in requests of `batch` texts; see `PretrainedEncoder.encode`.

        Args:
          texts: at least one.
          role: chooses the model and the prefix.

        Raises:
          EndpointError: the endpoint is down, slow or busy, after all retries.
          DataError: it refuses or redirects the request, its answer is missing, malformed or too large, a vector is not
            finite, is zero, or differs in length from the first one, its fingerprint is not that of the settings, or
            the key's variable holds no key for it.
        """
        if self._settings.probes and self._probed is None:
            self._check()
        vectors = self._encode(texts, role)
        if self._settings.probes and self._is_probe_due():
            self._check()
        return vectors

    def probe(self) -> Vectors:
        """The vectors of `PROBES` as queries, then as documents: float32 [6, dim]; raises what `encode` raises."""
        return np.concatenate([self._encode(PROBES, "query"), self._encode(PROBES, "document")])

    def _is_probe_due(self) -> bool:
        if self._answers_per_probe is None or self._probed is None:
            return True
        connections, answers = self._probed
        client = self._endpoint.client
        return client.connections != connections or client.answers - answers > self._answers_per_probe

    def _check(self) -> None:
        """Compares the endpoint's fingerprint with that of the settings."""
        self._probed, before = None, (self._endpoint.client.connections, self._endpoint.client.answers)
        if fault := fingerprint_fault(self._settings.probes, fingerprint(self.probe())):
            self._dim = None
            raise DataError(
                f"the vectors of the endpoint {self._settings.address} changed since this run began, or since the "
                f"model's training: {fault}. Start it with the same encoder again, or train with the new one."
            )
        self._probed = before

    def _encode(self, texts: Sequence[str], role: Role) -> Vectors:
        size = min(self._settings.batch, _TEXTS)
        return np.concatenate([self._batch(texts[at : at + size], role) for at in range(0, len(texts), size)])

    def _batch(self, texts: Sequence[str], role: Role) -> Vectors:
        settings, size = self._settings, len(texts)
        content = {
            "model": (settings.document_model if role == "document" else None) or settings.query_model,
            "input": [text.decode() for text in encoder_texts(tf.constant(texts), role, settings, self._form).numpy()],
            "encoding_format": "float",
        }
        numbers = self._endpoint.ask(
            json.dumps(content).encode(), size * _BYTES_OF_TEXT, f"{size} texts", partial(_read_vectors, size)
        )
        vectors = checked_vectors(numbers, texts, settings.shown_name)
        with self._dim_lock:
            self._dim = self._dim or vectors.shape[1]
        return checked_vectors(vectors, texts, settings.shown_name, self._dim)


def _read_vectors(texts: int, body: bytearray) -> npt.NDArray[Any] | str:
    """Returns the vectors [texts, dim] in an answer, or what the answer must be and is not."""
    # Bounds the memory before parsing: a Python float takes 32 bytes in a list.
    if sum(map(body.count, (b",", b"[", b"{"))) > texts * (_NUMBERS + 100):
        return f"must hold at most {_NUMBERS} numbers a text"
    return _ordered_vectors(parse_json(body), texts)


def _ordered_vectors(content: Any, texts: int) -> npt.NDArray[Any] | str:
    """Returns the numbers [texts, dim] in an answer, in the texts' order, or what the answer must be and is not."""
    entries = content.get("data") if isinstance(content, dict) else None
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("embedding"), list) for entry in entries
    ):
        return f"must be JSON of the form {_FORM}"
    if len(entries) != texts:
        return f"must hold one vector for each of {texts} texts; got {len(entries)}"
    by_index = {entry["index"]: entry["embedding"] for entry in entries if type(entry.get("index")) is int}
    if by_index.keys() != set(range(texts)):
        return f"must hold each index from 0 to {texts - 1} once; {texts - len(by_index)} are missing, double or wrong"
    try:
        vectors = np.asarray([by_index[index] for index in range(texts)])
    except (ValueError, OverflowError):
        return "must hold vectors of the same length, with only numbers"
    if vectors.ndim != 2 or (vectors.size and vectors.dtype.kind not in "fiu"):
        return "must hold vectors of the same length, with only numbers"
    with np.errstate(over="ignore"):  # `checked_vectors` refuses the infinite number
        return vectors.astype(np.float32)


def fingerprint(vectors: Vectors) -> tuple[float, ...]:
    """Returns an encoder's fingerprint: a few numbers that show whether another model has the same address.

    They are the length of the vectors, the cosines of all pairs of vectors, and each vector's first component divided
    by its norm. The cosines alone would not show rotated vectors, which cannot be compared with stored ones.

    Args:
      vectors: the vectors of fixed texts, see `EndpointEncoder.probe`.

    Returns:
      numbers, rounded to four decimals.

    Example:
      >>> fingerprint(np.array([[1.0, 0.0], [1.0, 1.0]], np.float32))
      (2.0, 0.7071, 1.0, 0.7071)
    """
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return float(vectors.shape[1]), *np.round([*cosines, *unit[:, 0]], 4).tolist()


def fingerprint_fault(expected: Sequence[float], current: Sequence[float]) -> str | None:
    """Returns how a fingerprint differs from that of the expected encoder, or None.

    Example:
      >>> fingerprint_fault((2.0, 0.7), (2.0, 0.9))
      'its vectors of fixed texts differ by 0.2000'
    """
    if len(expected) != len(current):
        return f"its fingerprint must have {len(expected)} numbers; got {len(current)}"
    if expected[0] != current[0]:
        return f"its vectors must have {expected[0]:.0f} numbers; got {current[0]:.0f}"
    difference = max(abs(before - now) for before, now in zip(expected[1:], current[1:], strict=True))
    return f"its vectors of fixed texts differ by {difference:.4f}" if difference > _TOLERANCE else None

"""A text encoder behind an OpenAI-compatible HTTP endpoint, and a probe that shows whether it is still the same one."""

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
"""The texts of `EndpointEncoder.probe`; never to be changed: models hold the fingerprint of their vectors."""

_TEXTS: Final = 256
"""The most texts of a request, whatever `batch` is: the limits below bound its answer to about 50 MB."""
_NUMBERS: Final = 8192
"""The longest vector; those of the largest encoders in use have 4,096 numbers, of few 8,192."""
_BYTES_OF_TEXT: Final = _NUMBERS * 24 + 1000
"""The largest vector in JSON: -1.2345678901234567e-05 takes 24 bytes with a comma and a space."""
_FORM: Final = '{"data": [{"index": 0, "embedding": [numbers]}, ...]}'
_TOLERANCE: Final = 0.003
"""The largest difference of one number in two fingerprints of the same encoder, which may round differently."""
_REMEDIES: Final = {
    400: "If a text is too long, lower channels.encoder.max_characters or channels.encoder.batch.",
    404: "Check channels.encoder.address and the models' names.",
}


class EndpointEncoder(PretrainedEncoder):
    """Asks an endpoint that answers `POST {address}/v1/embeddings`, such as Text Embeddings Inference or vLLM.

    Several threads may use it at once. Where the settings have the fingerprint of its probe, vectors count only between
    two probes that show it. Probes are requests of their own: among other texts their vectors are rounded otherwise.

    Args:
      settings: of the kind endpoint.
      retries: number of further tries, instead of the settings' number; a service that someone waits for sets 0.
      form: the form of the texts that it is sent.
      answers_per_probe: after so many answers, and after each new connection, a probe must follow before vectors count;
        None for a probe after each call of `encode`.
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
        """Numbers of connections and answers before the last probe; None where that failed, or before the first."""
        self._dim_lock = threading.Lock()

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts, `batch` of them a request; see `PretrainedEncoder.encode`.

        Args:
          texts: at least one.
          role: chooses the model and the prefix.

        Raises:
          EndpointError: the endpoint is down, slow or busy, after all retries.
          DataError: it refuses the request or redirects, its answer is none or too large, a vector is not finite, is
            zero, or has another length than this object's first one, it has not the fingerprint of the settings, or
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
                f"the endpoint {self._settings.address} must give the vectors that it gave before, to this run or in "
                f"the model's training: {fault}. Start it with that encoder again, or train with the new one."
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
    """The vectors [texts, dim] as the endpoint gave them, or what its answer must be and is not."""
    # A Python float takes 32 bytes in a list; commas and brackets say how many there can be.
    if sum(map(body.count, (b",", b"[", b"{"))) > texts * (_NUMBERS + 100):
        return f"must hold at most {_NUMBERS} numbers a text"
    return _ordered_vectors(parse_json(body), texts)


def _ordered_vectors(content: Any, texts: int) -> npt.NDArray[Any] | str:
    """The numbers [texts, dim] in an answer, in the texts' order, or what the answer must be and is not."""
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
        return "must hold vectors of one length, of numbers alone"
    if vectors.ndim != 2 or (vectors.size and vectors.dtype.kind not in "fiu"):
        return "must hold vectors of one length, of numbers alone"
    with np.errstate(over="ignore"):  # `checked_vectors` refuses the infinite number
        return vectors.astype(np.float32)


def fingerprint(vectors: Vectors) -> tuple[float, ...]:
    """Returns the fingerprint of an encoder, few numbers by which another model behind the same address is noticed.

    They are the length of the vectors, the cosine of each two of them, and the first component of each over its norm.

    The cosines alone would be the same for vectors that are turned, beside which no stored vector could stand.

    Args:
      vectors: of fixed texts, see `EndpointEncoder.probe`.

    Returns:
      numbers rounded to four decimals.

    Example:
      >>> fingerprint(np.array([[1.0, 0.0], [1.0, 1.0]], np.float32))
      (2.0, 0.7071, 1.0, 0.7071)
    """
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return float(vectors.shape[1]), *np.round([*cosines, *unit[:, 0]], 4).tolist()


def fingerprint_fault(expected: Sequence[float], current: Sequence[float]) -> str | None:
    """Returns the reason why a fingerprint is not that of the same encoder, or None.

    Example:
      >>> fingerprint_fault((2.0, 0.7), (2.0, 0.9))
      'its vectors of fixed texts differ by 0.2000'
    """
    if len(expected) != len(current):
        return f"its fingerprint has {len(current)} numbers and must have {len(expected)}"
    if expected[0] != current[0]:
        return f"its vectors have {current[0]:.0f} numbers and must have {expected[0]:.0f}"
    difference = max(abs(before - now) for before, now in zip(expected[1:], current[1:], strict=True))
    return f"its vectors of fixed texts differ by {difference:.4f}" if difference > _TOLERANCE else None

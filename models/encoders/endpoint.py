"""A text encoder behind an OpenAI-compatible HTTP endpoint, and a probe that shows whether it is still the same one."""

import email.utils
import json
import logging
import re
import threading
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import count
from time import sleep
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.fingerprint import fingerprint, fingerprint_fault
from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors, checked_vectors, encoder_texts
from models.encoders.settings import TEXT_FORM, EncoderSettings, TextForm
from models.http_client import Answer, HttpClient
from schemas.errors import DataError
from schemas.json_files import parse_json
from schemas.wording import printable

PROBES: Final = (
    "A volcano is a rupture in the crust through which lava escapes.",
    "La photosynthèse transforme la lumière en énergie chimique.",
    "東京は日本の首都である。",
)
"""The texts of `EndpointEncoder.probe`; never to be changed: models hold the fingerprint of their vectors."""

log = logging.getLogger("clir.progress")

_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0
"""Seconds before the first retry, and before any."""
_TRANSIENT: Final = frozenset({429, 500, 502, 503, 504})
_TEXTS: Final = 256
"""The most texts of a request, whatever `encoder.batch` is: the limits below bound its answer to about 50 MB."""
_NUMBERS: Final = 8192
"""The longest vector; those of the largest encoders in use have 4,096 numbers, of few 8,192."""
_BYTES_OF_TEXT: Final = _NUMBERS * 24 + 1000
"""The largest vector in JSON: -1.2345678901234567e-05 takes 24 bytes with a comma and a space."""
_BYTES_OF_MESSAGE: Final = 4000
_SHOWN: Final = 200
"""Number of characters of a server's message that an error shows."""
_FORM: Final = '{"data": [{"index": 0, "embedding": [numbers]}, ...]}'


class EndpointError(DataError):
    """The endpoint is down, slow or busy: the same request may succeed later.

    Args:
      message: the sentence.
      retry_after: seconds after which the endpoint wants to be asked again; None where it does not say so.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


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
        settings: EncoderSettings,
        retries: int | None = None,
        form: TextForm = TEXT_FORM,
        answers_per_probe: int | None = None,
    ) -> None:
        self._settings, self._form, self._answers_per_probe = settings, form, answers_per_probe
        self._retries = settings.retries if retries is None else retries
        self._client = HttpClient(settings.address or "", settings.key_variable)
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
        return self._client.connections != connections or self._client.answers - answers > self._answers_per_probe

    def _check(self) -> None:
        """Compares the endpoint's fingerprint with that of the settings."""
        self._probed, before = None, (self._client.connections, self._client.answers)
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
        settings = self._settings
        content = {
            "model": (settings.document_model if role == "document" else None) or settings.query_model,
            "input": [text.decode() for text in encoder_texts(tf.constant(texts), role, settings, self._form).numpy()],
            "encoding_format": "float",
        }
        vectors = checked_vectors(self._try_often(json.dumps(content).encode(), len(texts)), texts, settings.shown_name)
        with self._dim_lock:
            self._dim = self._dim or vectors.shape[1]
        return checked_vectors(vectors, texts, settings.shown_name, self._dim)

    def _try_often(self, content: bytes, texts: int) -> npt.NDArray[Any]:
        for tries in count(1):
            try:
                return self._try(content, texts, tries)
            except EndpointError as error:
                if tries > self._retries:
                    raise
                wait = min(error.retry_after or _FIRST_WAIT * 2 ** (tries - 1), _LONGEST_WAIT)
                log.warning("%s Next try in %.1f s.", error, wait)
            sleep(wait)
        raise AssertionError  # for the type checker

    def _try(self, content: bytes, texts: int, tries: int) -> npt.NDArray[Any]:
        """The vectors [texts, dim] as the endpoint gave them."""
        seconds = self._settings.timeout_s
        in_tries = "in one try" if tries == 1 else f"in {tries} tries"
        try:
            answer = self._client.request("/v1/embeddings", content, seconds, texts * _BYTES_OF_TEXT)
        except TimeoutError:
            got = f"it did not, {in_tries}. Check it, or raise encoder.timeout_s."
            raise EndpointError(f"{self._name} must answer within {seconds:g} s; {got}") from None
        except ConnectionError as error:
            raise EndpointError(f"{self._name} must answer; it did not, {in_tries}: {error}. Is it running?") from None
        except ValueError as error:
            raise DataError(f"{self._name} cannot be asked: {error}. Check encoder.address.") from None
        outcome = self._outcome(answer, texts, in_tries)
        del answer  # it may repeat the key, and a traceback may show it
        if isinstance(outcome, DataError):
            raise outcome
        return outcome

    def _outcome(self, answer: Answer, texts: int, in_tries: str) -> npt.NDArray[Any] | DataError:
        if not 200 <= answer.status < 300:
            return self._refusal(answer, in_tries)
        if answer.is_cut:
            megabytes = texts * _BYTES_OF_TEXT / 1e6
            return DataError(f"{self._name} must answer {texts} texts with at most {megabytes:.1f} MB; it sent more.")
        outcome: npt.NDArray[Any] | str = f"must hold at most {_NUMBERS} numbers a text"
        try:
            # A Python float takes 32 bytes in a list; commas and brackets say how many there can be.
            if sum(map(answer.body.count, (b",", b"[", b"{"))) <= texts * (_NUMBERS + 100):
                outcome = _ordered_vectors(parse_json(answer.body), texts)
        except ValueError:
            outcome = "must be JSON"
            if not answer.is_whole:
                return EndpointError(f"the answer of {self._name} {outcome}; it broke off, {in_tries}.")
        if isinstance(outcome, str):
            return DataError(f"the answer of {self._name} {outcome}. It begins: {self._said(answer)}")
        return outcome

    @property
    def _name(self) -> str:
        return f"the endpoint {self._settings.address}/v1/embeddings{self._client.route}"

    def _refusal(self, answer: Answer, in_tries: str) -> DataError:
        """The error of an answer with another status than 200."""
        status, settings = answer.status, self._settings
        if 300 <= status < 400:
            where = "" if self._client.is_secret else f" to {printable(answer.headers.get('location', ''), _SHOWN)}"
            return DataError(
                f"{self._name} must answer itself; it redirects ({status}){where}, which is not followed. "
                "Set encoder.address to the last address."
            )
        said = self._said(answer)
        if status in _TRANSIENT:
            problem = "must not be too busy" if status == 429 else "must work"
            sentence = f"{self._name} {problem}; it refused with {status} {in_tries}: {said}"
            return EndpointError(sentence, _seconds_until(answer.headers.get("retry-after", "")))
        if status in (401, 403):
            variable = settings.key_variable
            remedy = f"Check the key in {variable}." if variable else "Name its key's variable in encoder.key_variable."
        elif status == 404:
            remedy = "Check encoder.address and the models' names."
        elif status == 407:
            remedy = "Check the proxy of the environment, its user and its password."
        else:
            remedy = "If a text is too long, lower encoder.max_characters or encoder.batch."
        return DataError(f"{self._name} must answer with 200; it refused with {status}: {said} {remedy}")

    def _said(self, answer: Answer) -> str:
        """The start of a server's text; no word of one that may repeat a key in some form."""
        if self._client.is_secret or answer.status in (401, 403, 407):
            return "(the server's words, which may repeat the key, are not shown)"
        text = answer.body[:_BYTES_OF_MESSAGE].decode("utf-8", "replace").strip()
        return printable(text, _SHOWN) or "(no message)"


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


def _seconds_until(retry_after: str) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or a date; None without a time in the future."""
    text = retry_after.strip()
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text) or None
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    seconds = (when.replace(tzinfo=when.tzinfo or timezone.utc) - datetime.now(timezone.utc)).total_seconds()
    return seconds if seconds > 0 else None

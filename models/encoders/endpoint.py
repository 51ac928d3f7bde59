"""A text encoder behind an OpenAI-compatible HTTP endpoint, and a probe that shows whether it is still the same one."""

import email.utils
import http.client
import json
import logging
import os
import re
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import datetime, timezone
from time import monotonic, sleep
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from models.encoders.pretrained_encoder import PretrainedEncoder, Role, Vectors, checked_vectors, encoder_texts
from models.encoders.settings import TEXT_FORM, EncoderSettings, TextForm
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
_BYTES_OF_VECTOR: Final = 16_384 * 32
"""The largest vector in JSON: four times the numbers of large encoders, each with 17 digits and white space."""
_BYTES_OF_MESSAGE: Final = 1 << 16
_SHOWN: Final = 200
"""Number of characters of a server's message that an error shows."""
_KEY_PIECE: Final = 8
"""A message that holds this many consecutive characters of the key is not shown."""
_FORM: Final = '{"data": [{"index": 0, "embedding": [numbers]}, ...]}'


class EndpointError(DataError):
    """The endpoint is down, slow or busy: the same request may succeed later."""


class EndpointEncoder(PretrainedEncoder):
    """Asks an endpoint that answers `POST {address}/v1/embeddings`, such as Text Embeddings Inference or vLLM.

    Several threads may use it at once. It follows no redirect, because the key must not travel on. It uses the proxies
    of the environment (`HTTPS_PROXY`, `NO_PROXY`), but no `.netrc`. Each request has a connection of its own.

    Args:
      settings: of the kind endpoint.
      retries: number of further tries, instead of the settings' number; a service that someone waits for sets 0.
      form: the form of the texts that it is sent.
    """

    def __init__(self, settings: EncoderSettings, retries: int | None = None, form: TextForm = TEXT_FORM) -> None:
        self._settings, self._form = settings, form
        self._retries = settings.retries if retries is None else retries
        self._url = f"{settings.address}/v1/embeddings"
        handlers: list[urllib.request.BaseHandler] = [_EveryAnswer()]
        if self._url.startswith("https:"):
            # Reads the certificates once, not for each request.
            handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context()))
        self._opener = urllib.request.build_opener(*handlers)
        self._dim: int | None = None
        self._dim_lock = threading.Lock()

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Encodes texts, `batch` of them a request; see `PretrainedEncoder.encode`.

        Args:
          texts: at least one.
          role: chooses the model and the prefix.

        Raises:
          EndpointError: the endpoint is down, slow or busy, after all retries.
          DataError: it refuses the request or redirects, its answer is none or too large, a vector is not finite, is
            zero, or has another length than this object's first one, or the key's variable holds no key.
        """
        size = self._settings.batch
        return np.concatenate([self._batch(texts[at : at + size], role) for at in range(0, len(texts), size)])

    def probe(self) -> Vectors:
        """The vectors of `PROBES` as queries, then as documents: float32 [6, dim]; raises what `encode` raises."""
        return np.concatenate([self.encode(PROBES, "query"), self.encode(PROBES, "document")])

    def _batch(self, texts: Sequence[str], role: Role) -> Vectors:
        settings = self._settings
        content = {
            "model": (settings.document_model if role == "document" else None) or settings.query_model,
            "input": [text.decode() for text in encoder_texts(tf.constant(texts), role, settings, self._form).numpy()],
            "encoding_format": "float",
        }
        outcome = self._try_often(json.dumps(content).encode(), len(texts))
        # Raised here, not in `_try`, whose frame would carry the key into the traceback.
        if isinstance(outcome, DataError):
            raise outcome
        vectors = checked_vectors(outcome, texts, settings.shown_name)
        with self._dim_lock:
            self._dim = self._dim or vectors.shape[1]
        return checked_vectors(vectors, texts, settings.shown_name, self._dim)

    def _try_often(self, content: bytes, texts: int) -> npt.NDArray[Any] | DataError:
        for tries in range(1, self._retries + 2):
            outcome, retry_after = self._try(content, texts, tries)
            if not isinstance(outcome, EndpointError) or tries > self._retries:
                break
            wait = min(retry_after or _FIRST_WAIT * 2 ** (tries - 1), _LONGEST_WAIT)
            log.warning("%s Next try in %.1f s.", outcome, wait)
            sleep(wait)
        return outcome

    def _try(self, content: bytes, texts: int, tries: int) -> tuple[npt.NDArray[Any] | DataError, float | None]:
        """The vectors as the endpoint gave them, or the error, and the seconds until it wants to be asked again."""
        key = _key(self._settings.key_variable)
        try:
            answer = self._post(content, key, texts * _BYTES_OF_VECTOR)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return self._without_answer(error, key, tries), None
        if answer.status in _TRANSIENT:
            return self._refusal(answer, key, tries), answer.retry_after
        if not 200 <= answer.status < 300:
            return self._refusal(answer, key, tries), None
        if answer.is_cut:
            most = texts * _BYTES_OF_VECTOR / 1e6
            return DataError(f"{self._name} must answer {texts} texts with at most {most:.0f} MB; it sent more."), None
        outcome = _ordered_vectors(answer.body, texts)
        if isinstance(outcome, str):
            shown = _without_key(answer.body.decode("utf-8", "replace"), key)
            return DataError(f"the answer of {self._name} {outcome}. It begins: {shown}"), None
        return outcome, None

    def _post(self, content: bytes, key: str, most: int) -> "_Answer":
        """Asks once, and reads at most about `most` bytes of the answer."""
        timeout = self._settings.timeout_s
        # Some gateways refuse urllib's own User-Agent.
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "smooth-clir"}
        request = urllib.request.Request(self._url, content, headers)
        if key:
            request.add_unredirected_header("Authorization", f"Bearer {key}")
        deadline = monotonic() + timeout
        with self._opener.open(request, timeout=timeout) as answer:
            is_good = 200 <= answer.status < 300
            body, is_cut = _read(answer, most if is_good else _BYTES_OF_MESSAGE, deadline)
            retry_after = _seconds_until(answer.headers.get("Retry-After"))
            return _Answer(answer.status, body, is_cut, answer.headers.get("Location", ""), retry_after)

    @property
    def _name(self) -> str:
        return f"the endpoint {self._url}"

    def _without_answer(self, error: Exception, key: str, tries: int) -> DataError:
        """The error of a request that got no whole answer."""
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, TimeoutError):
            got = f"it did not, in {_count(tries)}. Check it, or raise encoder.timeout_s."
            return EndpointError(f"{self._name} must answer within {self._settings.timeout_s:g} s; {got}")
        reason = _without_key(str(cause) or type(cause).__name__, key).rstrip(".")
        if isinstance(cause, (ValueError, http.client.InvalidURL)):  # also a certificate that is not trusted
            return DataError(f"{self._name} cannot be asked: {reason}. Check encoder.address.")
        return EndpointError(f"{self._name} must answer; it did not, in {_count(tries)}: {reason}. Is it running?")

    def _refusal(self, answer: "_Answer", key: str, tries: int) -> DataError:
        """The error of an answer with another status than 200."""
        status, settings = answer.status, self._settings
        if 300 <= status < 400:
            where = _without_key(answer.location, key) or "nowhere"
            return DataError(
                f"{self._name} must answer itself; it redirects ({status}) to {where}, which is not followed. "
                "Set encoder.address to the last address."
            )
        said = _without_key(answer.body.decode("utf-8", "replace"), key) or "(no message)"
        if status in _TRANSIENT:
            problem = "must not be too busy" if status == 429 else "must work"
            return EndpointError(f"{self._name} {problem}; it refused with {status} in {_count(tries)}: {said}")
        if status in (401, 403):
            variable = settings.key_variable
            remedy = f"Check the key in {variable}." if variable else "Name its key's variable in encoder.key_variable."
        elif status == 404:
            remedy = "Check encoder.address and the models' names."
        else:
            remedy = "If a text is too long, lower encoder.max_characters or encoder.batch."
        return DataError(f"{self._name} must answer with 200; it refused with {status}: {said} {remedy}")


class _EveryAnswer(urllib.request.HTTPErrorProcessor):
    """Returns an answer of any status as it is, so that no redirect is followed."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


class _Answer(NamedTuple):
    status: int
    body: bytes
    is_cut: bool
    """Whether the body was larger than was read."""
    location: str
    retry_after: float | None


def _read(answer: http.client.HTTPResponse, most: int, deadline: float) -> tuple[bytes, bool]:
    """The first bytes of a body, and whether there are more than `most`.

    The deadline is checked as often as bytes come: the socket's timeout alone never ends a slow answer.
    """
    parts, size = [], 0
    while part := answer.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > most:
            return b"".join(parts), True
        if monotonic() > deadline:
            raise TimeoutError
    if answer.length:  # `read1` ends quietly where the connection does
        raise ConnectionError("the connection ended in the middle of the answer")
    return b"".join(parts), False


def _ordered_vectors(body: bytes, texts: int) -> npt.NDArray[Any] | str:
    """The numbers [texts, dim] in an answer, in the texts' order, or what the answer must be and is not."""
    try:
        content = parse_json(body)
    except ValueError:
        return "must be JSON"
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


def _key(variable: str | None) -> str:
    """The key in an environment variable; empty where none is named."""
    if variable is None:
        return ""
    # No local variable holds the key here: a traceback may show those.
    if not re.fullmatch("[!-~]+", os.environ.get(variable, "").strip()):
        got = "it holds other characters" if os.environ.get(variable, "").strip() else "it is missing or empty"
        raise DataError(
            f"the environment variable {variable} (encoder.key_variable) must hold the endpoint's key, visible ASCII "
            f"characters; {got}. Set it in each process that asks the endpoint."
        )
    return os.environ[variable].strip()


def _without_key(text: str, key: str) -> str:
    """The start of a server's text for an error message, or a substitute where the text repeats a piece of the key."""
    start = text.strip()[: 20 * _SHOWN]
    visible, secret = re.sub("[^!-~]", "", start).casefold(), key.casefold()
    pieces = {secret[at : at + _KEY_PIECE] for at in range(max(1, len(secret) - _KEY_PIECE + 1))}
    if secret and any(piece in visible for piece in pieces):
        return "(a text with the key, which is not shown)"
    return printable(start, _SHOWN)


def _seconds_until(retry_after: str | None) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or a date; None without a time in the future."""
    text = (retry_after or "").strip()
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text) or None
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    seconds = (when.replace(tzinfo=when.tzinfo or timezone.utc) - datetime.now(timezone.utc)).total_seconds()
    return seconds if seconds > 0 else None


def _count(tries: int) -> str:
    return "one try" if tries == 1 else f"{tries} tries"

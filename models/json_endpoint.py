"""A JSON service behind an HTTP address, with retries while it is down, slow or busy."""

import email.utils
import logging
import re
from collections.abc import Callable
from datetime import datetime, timezone
from itertools import count
from time import sleep
from typing import Any, Final, TypeVar

from models.http_client import Answer, HttpClient
from schemas.errors import DataError
from schemas.wording import printable

_Outcome = TypeVar("_Outcome")

_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 30.0
"""Seconds before the first retry, and the upper bound before later ones."""
_TRANSIENT: Final = frozenset({429, 500, 502, 503, 504})
_BYTES_OF_MESSAGE: Final = 4000
_SHOWN: Final = 200
"""Number of characters of a server's message that an error shows."""

log = logging.getLogger("clir.progress")


class EndpointError(DataError):
    """The endpoint is down, slow or busy: the same request may succeed later.

    Args:
      message: the sentence.
      retry_after: seconds after which the endpoint wants to be asked again; None if unknown.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class JsonEndpoint:
    """Asks an endpoint that answers `POST {address}{path}` with JSON. Threads may share it.

    Args:
      section: the section of the endpoint's settings, for messages.
      address, key_variable, timeout_s, retries: the endpoint's settings.
      path: follows the address.
      key_field: see `HttpClient`.
      remedies: what to do about a refusal, by status; that of 400 is for all other statuses.

    Attributes:
      client: the connections.
    """

    def __init__(
        self,
        section: str,
        address: str,
        path: str,
        key_variable: str | None,
        timeout_s: float,
        retries: int,
        remedies: dict[int, str],
        key_field: str | None = None,
    ) -> None:
        self.client = HttpClient(address, key_variable, key_field)
        self._section, self._address, self._path, self._key_variable = section, address, path, key_variable
        self._seconds, self._retries, self._remedies = timeout_s, retries, remedies

    def ask(self, content: bytes, max_bytes: int, subject: str, read: Callable[[Any], _Outcome | str]) -> _Outcome:
        """Sends JSON, and returns the outcome that a function reads from the answer.

        Args:
          content: JSON.
          max_bytes: the largest answer.
          subject: the content in words, such as "64 texts".
          read: reads the undecoded answer; returns the outcome, or what the answer must be. A ValueError means that the
            answer is not JSON.

        Raises:
          EndpointError: the endpoint is down, slow or busy, after all retries.
          DataError: it refuses or redirects the request, its answer is malformed or too large, or the key's variable
            holds no key for it.
        """
        for tries in count(1):
            try:
                return self._try(content, max_bytes, subject, read, tries)
            except EndpointError as error:
                if tries > self._retries:
                    raise
                wait = min(error.retry_after or _FIRST_WAIT * 2 ** (tries - 1), _LONGEST_WAIT)
                log.warning("%s Next try in %.1f s.", error, wait)
            sleep(wait)
        raise AssertionError  # for the type checker

    def _try(
        self, content: bytes, max_bytes: int, subject: str, read: Callable[[Any], _Outcome | str], tries: int
    ) -> _Outcome:
        seconds = self._seconds
        in_tries = "in one try" if tries == 1 else f"in {tries} tries"
        try:
            answer = self.client.request(self._path, content, seconds, max_bytes)
        except TimeoutError:
            remedy = f"Check it, or raise {self._section}.timeout_s."
            raise EndpointError(f"{self.name} did not answer within {seconds:g} s, {in_tries}. {remedy}") from None
        except ConnectionError as error:
            raise EndpointError(f"{self.name} did not answer, {in_tries}: {error}. Is it running?") from None
        except ValueError as error:
            raise DataError(f"{self.name} cannot be asked: {error}. Check {self._section}.address.") from None
        outcome = self._outcome(answer, max_bytes, subject, read, in_tries)
        del answer  # it may repeat the key, and a traceback may show it
        if isinstance(outcome, DataError):
            raise outcome
        return outcome

    def _outcome(
        self, answer: Answer, max_bytes: int, subject: str, read: Callable[[Any], _Outcome | str], in_tries: str
    ) -> _Outcome | DataError:
        if not 200 <= answer.status < 300:
            return self._refusal(answer, in_tries)
        if answer.is_cut:
            return DataError(f"{self.name} must answer {subject} with at most {max_bytes / 1e6:.1f} MB; it sent more.")
        try:
            outcome: _Outcome | str = read(answer.body)
        except ValueError:
            outcome = "must be JSON"
            if not answer.is_whole:
                return EndpointError(f"the answer of {self.name} {outcome}; it broke off, {in_tries}.")
        if isinstance(outcome, str):
            return DataError(f"the answer of {self.name} {outcome}. It begins: {self._said(answer)}")
        return outcome

    @property
    def name(self) -> str:
        """The endpoint in words, with the proxy."""
        return f"the endpoint {self._address}{self._path}{self.client.route}"

    def _refusal(self, answer: Answer, in_tries: str) -> DataError:
        """The error of an answer with a status that is not 200."""
        status = answer.status
        if 300 <= status < 400:
            where = "" if self.client.is_secret else f" to {printable(answer.headers.get('location', ''), _SHOWN)}"
            return DataError(
                f"{self.name} redirects ({status}){where}, and redirects are not followed. Set {self._section}.address "
                "to the final address."
            )
        said = self._said(answer)
        if status in _TRANSIENT:
            problem = "is too busy" if status == 429 else "failed"
            sentence = f"{self.name} {problem}: it refused with {status} {in_tries}: {said}"
            return EndpointError(sentence, _seconds_until(answer.headers.get("retry-after", "")))
        if status in (401, 403):
            missing = f"Name its key's variable in {self._section}.key_variable."
            remedy = f"Check the key in {self._key_variable}." if self._key_variable else missing
        elif status == 407:
            remedy = "Check the proxy of the environment, its user and its password."
        else:
            remedy = self._remedies.get(status, self._remedies[400])
        return DataError(f"{self.name} refused the request with {status}: {said} {remedy}")

    def _said(self, answer: Answer) -> str:
        """The start of a server's text, unless the text may repeat a key."""
        if self.client.is_secret or answer.status in (401, 403, 407):
            return "(the server's message is not shown, because it may repeat the key)"
        text = answer.body[:_BYTES_OF_MESSAGE].decode("utf-8", "replace").strip()
        return printable(text, _SHOWN) or "(no message)"


def _seconds_until(retry_after: str) -> float | None:
    """Parses the number or date of a Retry-After header to seconds; None without a time in the future."""
    text = retry_after.strip()
    if re.fullmatch("[0-9]{1,9}", text):
        return float(text) or None
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    seconds = (when.replace(tzinfo=when.tzinfo or timezone.utc) - datetime.now(timezone.utc)).total_seconds()
    return seconds if seconds > 0 else None

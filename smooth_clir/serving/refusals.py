"""Errors that the service answers with a status and a sentence instead of a result."""

from collections.abc import Mapping
from typing import ClassVar, Final

from starlette.exceptions import HTTPException

RETRY_AFTER: Final = 5
"""Seconds until a client may ask again if the service cannot answer at all."""


class Refusal(HTTPException):
    """An answer without a result.

    Args:
      sentence: the reason, and what to do.
      headers: headers of the answer.
    """

    status: ClassVar[int]

    def __init__(self, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(self.status, sentence, headers)


class TooLate(Refusal):
    """The request did not arrive in time."""

    status = 408


class TooLarge(Refusal):
    """The request's body is too large."""

    status = 413


class Misdirected(Refusal):
    """The request is for another server."""

    status = 421


class HungUp(Refusal):
    """The client has hung up: nobody reads this answer, and only the log shows its status."""

    status = 499


class Busy(Refusal):
    """The service cannot answer now.

    Args:
      sentence: see `Refusal`.
      retry_after: seconds after which the client may ask again.
    """

    status = 503

    def __init__(self, sentence: str, retry_after: int = RETRY_AFTER) -> None:
        super().__init__(sentence, {"retry-after": str(retry_after)})


class TooSlow(Refusal):
    """The answer was not ready in time."""

    status = 504

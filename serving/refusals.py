"""What the service may answer instead of a result: each has a status and a sentence."""

from typing import ClassVar


class Refusal(Exception):
    """An answer without a result.

    Args:
      sentence: what must hold, what came, what to do.
    """

    status: ClassVar[int]

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class NotThere(Refusal):
    """The request is for something that does not exist, here or now."""

    status = 404


class TooLate(Refusal):
    """The request did not arrive in time."""

    status = 408


class TooLarge(Refusal):
    """The request's body is too large."""

    status = 413


class WrongType(Refusal):
    """The request's body is of a type that the service does not read."""

    status = 415


class Misdirected(Refusal):
    """The request is for another server."""

    status = 421


class HungUp(Refusal):
    """The client has gone; nobody reads this answer, and its status is only seen in the log."""

    status = 499


class Busy(Refusal):
    """The service cannot answer now.

    Args:
      sentence: as above.
      retry_after: seconds after which it may.
    """

    status = 503

    def __init__(self, sentence: str, retry_after: int) -> None:
        super().__init__(sentence)
        self.retry_after = retry_after


class TooSlow(Refusal):
    """The answer did not come in time."""

    status = 504

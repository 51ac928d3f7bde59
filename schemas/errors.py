"""Errors that a user's files or settings cause; the command line prints them without a traceback."""

from collections.abc import Sequence


class DataError(Exception):
    """A user's data cannot be used. The message says what must hold, what came, where, and what to do."""


class ConfigError(Exception):
    """A user's configuration is at fault.

    Args:
      faults: a sentence for each fault, with its place.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class WorkerDied(DataError):
    """A training lost one of its processes, which is no fault of its data or settings."""

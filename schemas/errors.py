"""Errors that a user's files or settings cause; the command line prints them without a traceback."""

from collections.abc import Sequence


class DataError(Exception):
    """A user's data cannot be used: what must hold, what was found, where, and what to do."""


class ConfigError(Exception):
    """A user's configuration is at fault.

    Args:
      faults: every fault found, one sentence each, with its place.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class WorkerDied(DataError):
    """A process of a training is gone: nothing that the data or settings of the training could tell of."""

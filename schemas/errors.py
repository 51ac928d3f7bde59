"""Errors that a user's files or settings cause; the command line prints them without a traceback."""

from collections.abc import Sequence


class DataError(Exception):
    """An error in a user's data. The message says what is wrong, where, and what to do."""


class ConfigError(Exception):
    """A configuration with faults.

    Args:
      faults: a sentence for each fault, with the setting that has it.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


class WorkerDied(DataError):
    """The death of a process of a training, whose data and settings may be right."""

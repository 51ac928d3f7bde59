"""The error of a training that lost one of its workers."""

from schemas.errors import DataError


class WorkerDied(DataError):
    """A process of a training is gone: nothing that the data or settings of the training could tell of."""

"""Tells of swaps, in the log and in the metrics."""

from schemas.errors import DataError
from serving.engine import Engine
from serving.event_log import EventLog
from serving.service_metrics import ServiceMetrics


class SwapLog:
    """A `SwapWatch` of the service.

    Args:
      log: that gets the events.
      metrics: that count them.
    """

    def __init__(self, log: EventLog, metrics: ServiceMetrics) -> None:
        self._log, self._metrics = log, metrics

    def swapped(self, engine: Engine, seconds: float) -> None:
        """An engine answers from now on."""
        self._metrics.swapped(engine)
        self._log.tell(
            "loaded",
            model_version=engine.model_version,
            index_version=engine.index_version,
            documents=engine.documents,
            seconds=round(seconds, 3),
        )

    def drained(self, engine: Engine, seconds: float) -> None:
        """An engine has answered its last request."""
        self._log.tell(
            "drained",
            model_version=engine.model_version,
            index_version=engine.index_version,
            seconds=round(seconds, 3),
        )

    def failed(self, name: str, error: Exception) -> None:
        """A pair could not be loaded."""
        self._metrics.failed()
        if isinstance(error, DataError):
            self._log.warn("not loaded", name=name, error=str(error))
        else:
            self._log.fail("not loaded", error, name=name)

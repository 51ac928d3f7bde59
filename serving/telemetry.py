"""The service's log and its metrics."""

import logging
from typing import Any, Final, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from schemas.errors import DataError
from serving.engine import Engine
from serving.work_queue import WorkQueue


class EventLog:
    """Writes events.

    No text of a query is among them: what people search for is about them.

    Args:
      stream: that the lines go to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._log: Any = structlog.wrap_logger(
            structlog.WriteLogger(stream),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
                structlog.processors.format_exc_info,
                structlog.processors.EventRenamer("event"),
                structlog.processors.JSONRenderer(ensure_ascii=True, default=str),
            ],
        )

    def tell(self, event: str, **values: Any) -> None:
        """An event as it should be."""
        self._log.info(event, **values)

    def warn(self, event: str, **values: Any) -> None:
        """An event that someone should look at."""
        self._log.warning(event, **values)

    def fail(self, event: str, error: BaseException | None = None, **values: Any) -> None:
        """An event that is our fault, with the traceback of the error."""
        self._log.error(event, exc_info=error, **values)

    def handler(self) -> logging.Handler:
        """What makes events of a library's warnings."""
        return _Handler(self)


class _Handler(logging.Handler):
    def __init__(self, log: EventLog) -> None:
        super().__init__(logging.WARNING)
        self._events = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error:
            self._events.fail("server", error, told=record.getMessage().strip())
        else:
            self._events.warn("server", told=record.getMessage().strip())


_SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
_DRIFT: Final = {
    "model_documents": "Documents that the model keeps statistics of.",
    "length_ratio": "Mean length of the index's documents over that of the model's.",
    "unknown_share": "Share of the documents' terms that the model does not know.",
    "divergence": "Jensen-Shannon divergence of the documents' terms from the model's, in bits.",
}
"""Figures of `schemas.index_manifest`; one that is not available has no row."""
NO_ROUTE: Final = "none"
"""The route of a request for a path that there is not: the path itself would make a row for everything ever asked."""


class ServiceMetrics:
    """The metrics of one service.

    Args:
      queue: whose length is measured.
    """

    content_type: Final = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, queue: WorkQueue) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "clir_requests", "Requests that were answered.", ["route", "method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "clir_request_seconds",
            "From a request's head to the end of its answer.",
            ["route"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.in_flight = Gauge("clir_requests_in_flight", "Requests that are not answered yet.", registry=registry)
        at_work = Gauge("clir_requests_at_work", "Requests that have a thread.", registry=registry)
        at_work.set_function(lambda: queue.at_work)
        waiting = Gauge("clir_requests_waiting", "Requests that wait for a thread.", registry=registry)
        waiting.set_function(lambda: queue.waiting)
        self._engine = Gauge(
            "clir_engine_info", "1 for what answers now.", ["model_version", "index_version"], registry=registry
        )
        self._documents = Gauge("clir_index_documents", "Documents that can be found.", registry=registry)
        self._drift = {
            name: Gauge(f"clir_index_{name}", told, ["index_version"], registry=registry)
            for name, told in _DRIFT.items()
        }
        self._swaps = Counter("clir_engine_swaps", "Models and indexes that were put in place.", registry=registry)
        self._failures = Counter("clir_engine_failures", "Those that could not be loaded.", registry=registry)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts an answer."""
        self._requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def swapped(self, engine: Engine) -> None:
        """Names what answers now."""
        self._engine.clear()
        self._engine.labels(engine.model_version, engine.index_version).set(1)
        self._documents.set(engine.documents)
        for name, gauge in self._drift.items():
            gauge.clear()
            if (value := getattr(engine.drift, name, None)) is not None:
                gauge.labels(engine.index_version).set(value)
        self._swaps.inc()

    def failed(self) -> None:
        """Counts what could not be loaded."""
        self._failures.inc()

    def text(self) -> bytes:
        """All of them, in Prometheus's text format."""
        return generate_latest(self._registry)


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

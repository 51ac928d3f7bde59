"""Writes the service's log, a line of JSON for each event, and its metrics for Prometheus."""

import logging
from collections.abc import Callable
from typing import Final, TextIO, TypeAlias

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from structlog.typing import FilteringBoundLogger

from schemas.errors import DataError
from smooth_clir.retrieval.engine import Engine
from smooth_clir.serving.work_queue import WorkQueue

NO_ROUTE: Final = "none"
"""The route of a request for an unknown path, so that unknown paths share a row of the metrics."""
_SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
_DRIFT: Final = {
    "model_documents": "Documents that the model keeps statistics of.",
    "length_ratio": "Mean length of the index's documents over that of the model's.",
    "unknown_share": "Share of the documents' terms that the model does not know.",
    "divergence": "Jensen-Shannon divergence of the documents' terms from the model's, in bits.",
}
"""Figures of `schemas.index_manifest`; a figure that is not available has no row."""


EventLog: TypeAlias = FilteringBoundLogger
"""A log of events, without any text of a query: what people search for is personal."""


class LogStream:
    """A stream for a log, which ends at the first line that cannot be written.

    Args:
      stream: the stream for the lines.
      on_failure: called once, with the error.
    """

    def __init__(self, stream: TextIO, on_failure: Callable[[Exception], object]) -> None:
        self._stream, self._on_failure = stream, on_failure
        self._has_failed = False

    def write(self, text: str) -> None:
        """Writes a line, or nothing after a failure."""
        self._try(lambda: self._stream.write(text))

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, act: Callable[[], object]) -> None:
        if self._has_failed:
            return
        try:
            act()
        except (OSError, ValueError) as error:  # ValueError: the stream is closed
            self._has_failed = True
            self._on_failure(error)


def event_log(stream: LogStream) -> EventLog:
    """Makes a log of events, a line of JSON each."""
    log: EventLog = structlog.wrap_logger(
        structlog.WriteLogger(stream),  # type: ignore[arg-type]  # uses only these two methods
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("event"),
            structlog.processors.JSONRenderer(ensure_ascii=True, default=str),
        ],
    )
    return log


class WarningsAsEvents(logging.Handler):
    """Writes a library's warnings into a log of events."""

    def __init__(self, log: EventLog) -> None:
        super().__init__(logging.WARNING)
        self._events = log

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a warning, or an error if the record has an exception."""
        error = record.exc_info[1] if record.exc_info else None
        write = self._events.error if error else self._events.warning
        write("server", message=record.getMessage().strip(), exc_info=error)


class ServiceMetrics:
    """The metrics of a service.

    Args:
      queue: the work queue, whose length is measured.

    Attributes:
      in_flight: a gauge of the unanswered requests.
      failures: a counter of engines that could not be loaded.
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
            "Seconds from a request's head to the end of its answer.",
            ["route"],
            registry=registry,
            buckets=_SECONDS,
        )
        self.in_flight = Gauge("clir_requests_in_flight", "Unanswered requests.", registry=registry)
        at_work = Gauge("clir_requests_at_work", "Requests that have a thread.", registry=registry)
        at_work.set_function(lambda: queue.at_work)
        waiting = Gauge("clir_requests_waiting", "Requests that wait for a thread.", registry=registry)
        waiting.set_function(lambda: queue.waiting)
        self._engine = Gauge(
            "clir_engine_info",
            "1 for the current versions.",
            ["model_version", "index_version"],
            registry=registry,
        )
        self._documents = Gauge("clir_index_documents", "Documents in the index.", registry=registry)
        self._drift = {
            name: Gauge(f"clir_index_{name}", meaning, ["index_version"], registry=registry)
            for name, meaning in _DRIFT.items()
        }
        self._swaps = Counter("clir_engine_swaps", "Models and indexes that were loaded.", registry=registry)
        self.failures = Counter(
            "clir_engine_failures", "Models and indexes that could not be loaded.", registry=registry
        )

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        self._requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def swapped(self, engine: Engine) -> None:
        """Shows a new engine."""
        self._engine.clear()
        self._engine.labels(engine.model_version, engine.index_version).set(1)
        self._documents.set(engine.documents)
        for name, gauge in self._drift.items():
            gauge.clear()
            if (value := getattr(engine.drift, name, None)) is not None:
                gauge.labels(engine.index_version).set(value)
        self._swaps.inc()

    def text(self) -> bytes:
        """Returns all metrics in Prometheus's text format."""
        return generate_latest(self._registry)


class SwapLog:
    """Writes swaps of engines to the log and counts them in the metrics."""

    def __init__(self, log: EventLog, metrics: ServiceMetrics) -> None:
        self._log, self._metrics = log, metrics

    def swapped(self, engine: Engine, seconds: float) -> None:
        """Records a new engine, and the seconds that loading and warming it took."""
        self._metrics.swapped(engine)
        self._info("loaded", engine, seconds, documents=engine.documents)

    def drained(self, engine: Engine, seconds: float) -> None:
        """Records the last answer of an engine, and the seconds since it was replaced."""
        self._info("drained", engine, seconds)

    def failed(self, name: str, error: Exception) -> None:
        """Records a version that could not be loaded; the current engine goes on."""
        self._metrics.failures.inc()
        if isinstance(error, DataError):
            self._log.warning("not loaded", name=name, error=str(error))
        else:
            self._log.error("not loaded", exc_info=error, name=name)

    def _info(self, event: str, engine: Engine, seconds: float, **values: int) -> None:
        versions = {"model_version": engine.model_version, "index_version": engine.index_version}
        self._log.info(event, **versions, **values, seconds=round(seconds, 3))

"""The service's log: one line of JSON an event."""

import logging
from typing import Any, TextIO

import structlog


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

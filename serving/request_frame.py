"""What every request gets: a number, a line in the log, a place in the metrics, and headers that keep browsers safe."""

import asyncio
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.event_log import EventLog
from serving.problem_answer import problem_answer, sentence_answer
from serving.refusals import Busy
from serving.service_metrics import NO_ROUTE, ServiceMetrics

NOTES: Final = "notes"
"""In a request's state: a dict of what else its line in the log has."""

_HEADERS: Final[Mapping[str, str]] = {
    # The page's script and style are files of its own; nothing else runs, whatever text a document holds.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    # The address of a search holds its query.
    "referrer-policy": "no-referrer",
}
_HUNG_UP: Final = 499
_FAILED: Final = 500
_RETRY_AFTER: Final = 5


class RequestFrame:
    """Goes around the whole service.

    Args:
      app: the service.
      log: that gets a line for each request.
      metrics: likewise.
    """

    def __init__(self, app: ASGIApp, log: EventLog, metrics: ServiceMetrics) -> None:
        self._app, self._log, self._metrics = app, log, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, number, status = time.perf_counter(), secrets.token_hex(6), _HUNG_UP
        notes: dict[str, Any] = {}
        scope.setdefault("state", {})[NOTES] = notes

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers["x-request-id"] = number
                headers.setdefault("cache-control", "no-store")
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, send_framed)
        except asyncio.CancelledError:  # the time to finish requests is over
            if status == _HUNG_UP:
                refusal = Busy(f"the service is stopping; ask again in {_RETRY_AFTER} s.", _RETRY_AFTER)
                await problem_answer(refusal)(scope, receive, send_framed)
        except Exception as error:
            self._log.fail("request failed", error, id=number)
            if status != _HUNG_UP:
                return  # the answer has begun, and can only be cut off
            sentence = f"the service failed at this request, which is its own fault; its log has the reason: {number}."
            await sentence_answer(_FAILED, sentence)(scope, receive, send_framed)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", NO_ROUTE)
            self._metrics.in_flight.dec()
            self._metrics.answered(route, scope["method"], status, seconds)
            self._log.tell(
                "request",
                id=number,
                method=scope["method"],
                route=route,
                status=status,
                milliseconds=round(seconds * 1000, 2),
                **notes,
            )

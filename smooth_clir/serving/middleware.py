"""Middleware around every route: numbers and logs requests, checks their host, and limits their body."""

import asyncio
import ipaddress
import json
import re
import secrets
import time
from collections.abc import Collection, Mapping
from typing import Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from smooth_clir.serving.refusals import RETRY_AFTER, Busy, HungUp, Misdirected, Refusal, TooLarge, TooLate
from smooth_clir.serving.telemetry import NO_ROUTE, EventLog, ServiceMetrics

NOTES: Final = "notes"
"""Key in a request's state of a dict with further values for the request's line in the log."""

_HEADERS: Final[Mapping[str, str]] = {
    # Only the page's own script and style files run, whatever text a document holds.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    # The address of a search holds its query.
    "referrer-policy": "no-referrer",
}
_FAILED: Final = 500
_LAST: Final = {"connection": "close"}
"""The headers of a connection's last answer, because its remaining bytes must not be read as the next request."""
_HOST: Final = re.compile(r"(\[(?P<address>[^\[\]]+)\]|(?P<name>[^\[\]:]+))(:[0-9]{1,5})?")
"""A name or an address, with or without a port."""


def sentence_answer(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Makes an answer with a status and a sentence.

    Args:
      status: the status.
      sentence: the reason, and what to do.
      headers: additional headers.
    """
    return Response(json.dumps({"error": sentence}), status, dict(headers or {}), "application/json")


def refusal_answer(refusal: Refusal) -> Response:
    """Returns the answer to a refused request."""
    return sentence_answer(refusal.status_code, refusal.detail, refusal.headers)


class RequestFrame:
    """Gives every request a number and a line in the log, counts it in the metrics, and adds safe headers."""

    def __init__(self, app: ASGIApp, log: EventLog, metrics: ServiceMetrics) -> None:
        self._app, self._log, self._metrics = app, log, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, number, status = time.perf_counter(), secrets.token_hex(6), HungUp.status
        notes: dict[str, Any] = {}
        scope.setdefault("state", {})[NOTES] = notes

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers["x-request-id"] = number
                headers.setdefault("cache-control", "no-store")
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, send_framed)
        except asyncio.CancelledError:  # the time to finish requests is over
            if status == HungUp.status:
                refusal = Busy(f"the service is stopping; ask again in {RETRY_AFTER} s.")
                await refusal_answer(refusal)(scope, receive, send_framed)
        except Exception as error:
            self._log.error("request failed", exc_info=error, id=number)
            if status != HungUp.status:
                return  # the answer has begun and can only be cut off
            sentence = f"Internal error; the log has the reason under request {number}."
            await sentence_answer(_FAILED, sentence)(scope, receive, send_framed)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", NO_ROUTE)
            self._metrics.in_flight.dec()
            self._metrics.answered(route, scope["method"], status, seconds)
            self._log.info(
                "request",
                id=number,
                method=scope["method"],
                route=route,
                status=status,
                milliseconds=round(seconds * 1000, 2),
                **notes,
            )


class HostCheck:
    """Refuses requests that name another host.

    A foreign page can make its own name point to this machine, and a browser then lets it read the answers; but the
    page cannot change the name in the request. Starlette's TrustedHostMiddleware accepts only names: it would refuse
    the addresses that a cluster's probes use, and gives no reason.

    Args:
      app: the next application.
      host: the address that the service listens at.
      allowed: accepted names; addresses are always accepted. Without names, a local `host` accepts only localhost, and
        any other `host` accepts all names.
    """

    def __init__(self, app: ASGIApp, host: str, allowed: Collection[str]) -> None:
        self._app = app
        self._names = {"localhost", *(name.lower() for name in allowed)}
        self._accepts_all = not allowed and not _is_local(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._accepts_all:
            header = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
            match = _HOST.fullmatch(header)
            name = match and (match["address"] or match["name"])
            if not name or (name not in self._names and not _is_address(name)):
                refusal = Misdirected(
                    f"the host of a request must be one of {', '.join(sorted(self._names))}, or an "
                    f"address; got {header[:80]!r}. Start the service with --allow-host to add a name."
                )
                await refusal_answer(refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _is_local(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class BoundedBody:
    """Refuses a body that is too large or too slow, while a route reads it; the server discards the rest.

    Starlette's RequestBodyLimitMiddleware has no timeout, and answers in plain text.

    Args:
      app: the next application.
      max_bytes: largest body in bytes.
      seconds: timeout of the body's arrival.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: float) -> None:
        self._app, self._max_bytes, self._seconds = app, max_bytes, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, end, size, is_read = Headers(scope=scope), time.monotonic() + self._seconds, 0, False

        async def receive_body() -> Message:
            nonlocal size, is_read
            if is_read:
                return await receive()
            too_large = f"the body of a request must hold at most {self._max_bytes:,} bytes. Send less at once."
            declared = headers.get("content-length", "")
            if "expect" in headers and declared.isdigit() and int(declared) > self._max_bytes:
                raise TooLarge(too_large, _LAST)
            try:
                message = await asyncio.wait_for(receive(), end - time.monotonic())
            except asyncio.TimeoutError:
                sentence = f"The request did not arrive within {self._seconds:g} s. Send it again."
                raise TooLate(sentence, _LAST) from None
            if message["type"] == "http.disconnect":
                raise HungUp("The client has hung up.")
            size += len(message["body"])
            if size > self._max_bytes:
                raise TooLarge(too_large)
            is_read = not message["more_body"]
            return message

        await self._app(scope, receive_body, send)

"""Middleware around every route: the request's frame, the check of its host, and the limits of its body."""

import asyncio
import ipaddress
import json
import re
import secrets
import time
from collections.abc import Collection, Mapping
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.refusals import RETRY_AFTER, Busy, HungUp, Misdirected, Refusal, TooLarge, TooLate, WrongType
from serving.telemetry import NO_ROUTE, EventLog, ServiceMetrics

NOTES: Final = "notes"
"""Key in a request's state of a dict with further values for the request's line in the log."""

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
_FAILED: Final = 500
_READ_ON: Final = 8
"""Multiple of the body limit that is read and thrown away before a refusal: many clients read only after sending."""
_JSON: Final = b"application/json"
_HOST: Final = re.compile(r"(\[(?P<address>[^\[\]]+)\]|(?P<name>[^\[\]:]+))(:[0-9]{1,5})?")
"""A name or an address, and perhaps a port."""


def problem_answer(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a refused request.

    Args:
      refusal: the status and the sentence.
      headers: additional headers.
    """
    again = {"retry-after": str(refusal.retry_after)} if isinstance(refusal, Busy) else {}
    return sentence_answer(refusal.status, refusal.sentence, {**again, **(headers or {})})


def sentence_answer(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """An answer of a status and a sentence alone."""
    return Response(json.dumps({"error": sentence}), status, dict(headers or {}), "application/json")


class RequestFrame:
    """Gives every request a number, a line in the log, a place in the metrics, and headers that keep browsers safe.

    Args:
      app: the service.
      log: the log.
      metrics: the metrics.
    """

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
                await problem_answer(refusal)(scope, receive, send_framed)
        except Exception as error:
            self._log.error("request failed", exc_info=error, id=number)
            if status != HungUp.status:
                return  # the answer has begun, and can only be cut off
            sentence = f"the service failed at this request, which is its own fault; its log has the reason: {number}."
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

    A page from elsewhere can make its own name point to this machine, and a browser then lets it read the answers. But
    the page cannot change the name in the request.

    Args:
      app: the next application.
      host: the address that the service listens at.
      allowed: accepted names; an address is always accepted. Without names, any name is accepted at an address that
        other machines reach, and localhost alone at a local one.
    """

    def __init__(self, app: ASGIApp, host: str, allowed: Collection[str]) -> None:
        self._app = app
        self._names = {"localhost", *(name.lower() for name in allowed)}
        self._accepts_all = not allowed and not _is_local(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._accepts_all:
            asked = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
            found = _HOST.fullmatch(asked)
            name = found and (found["address"] or found["name"])
            if not name or (name not in self._names and not _is_address(name)):
                refusal = Misdirected(
                    f"the host of a request must be one of {', '.join(sorted(self._names))}, or an "
                    f"address; got {asked[:80]!r}. Start the service with --allow-host to add one."
                )
                await problem_answer(refusal)(scope, receive, send)
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
    """Reads a request's whole body first; refuses one that is too slow, too large, or not JSON.

    Args:
      app: the next application.
      most_bytes: largest body in bytes.
      seconds: longest time in which the body must arrive.
    """

    def __init__(self, app: ASGIApp, most_bytes: int, seconds: float) -> None:
        self._app, self._most, self._seconds = app, most_bytes, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except Refusal as refusal:
            # What the client still sends must not be taken for its next request.
            await problem_answer(refusal, {"connection": "close"})(scope, receive, send)
            return
        is_read = False

        async def receive_read() -> Message:
            nonlocal is_read
            if is_read:
                return await receive()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receive_read, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and int(declared) > self._most and b"expect" in headers:
            raise self._too_large(f"{int(declared):,}")
        try:
            body, size = await asyncio.wait_for(self._receive_all(receive), self._seconds)
        except asyncio.TimeoutError:
            raise TooLate(f"a request must come within {self._seconds:g} s; this one did not. Send it again.") from None
        if size > self._most:
            raise self._too_large(f"{size:,}" if size <= self._most * _READ_ON else "more")
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if body and kind != _JSON:
            raise WrongType(
                f"the body of a request must be application/json; got {kind.decode('latin-1')[:60]!r}. "
                "Send it with the header Content-Type: application/json."
            )
        return body

    async def _receive_all(self, receive: Receive) -> tuple[bytes, int]:
        """The body and its size; a body that is too large is not kept whole."""
        body, size = bytearray(), 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HungUp("the client has hung up.")
            part = message.get("body", b"")
            size += len(part)
            if size <= self._most:
                body += part
            if not message.get("more_body") or size > self._most * _READ_ON:
                return bytes(body), size

    def _too_large(self, size: str) -> TooLarge:
        return TooLarge(f"the body of a request must hold at most {self._most:,} bytes; got {size}. Send less at once.")

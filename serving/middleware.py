"""Middleware around every route: the request's frame, the check of its host, and the limits of its body."""

import asyncio
import ipaddress
import json
import secrets
import time
from collections.abc import Collection, Mapping
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.refusals import Busy, HungUp, Misdirected, Refusal, TooLarge, TooLate, WrongType
from serving.telemetry import NO_ROUTE, EventLog, ServiceMetrics


def problem_answer(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that is refused.

    Args:
      refusal: with the status and the sentence.
      headers: of the answer, besides.
    """
    again = {"retry-after": str(refusal.retry_after)} if isinstance(refusal, Busy) else {}
    return sentence_answer(refusal.status, refusal.sentence, {**again, **(headers or {})})


def sentence_answer(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """An answer of a status and a sentence alone."""
    content: dict[str, Any] = {"error": sentence}
    return Response(json.dumps(content), status, dict(headers or {}), "application/json")


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


class HostCheck:
    """Lets requests in that name this service.

    A page from elsewhere can make its own name point to this machine, and a browser then lets it read the answers. But
    it cannot change the name that it asks for.

    Args:
      app: that gets the request.
      host: the address that the service listens at.
      allowed: names by which clients may ask for it; an address is always allowed. Without names, any is at an address
        that other machines reach, and localhost alone at one that they do not.
    """

    def __init__(self, app: ASGIApp, host: str, allowed: Collection[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in allowed}
        self._all = not allowed and not _is_local(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._all:
            asked = dict(scope["headers"]).get(b"host", b"").decode("latin-1").lower()
            name = asked[1:].partition("]")[0] if asked.startswith("[") else asked.partition(":")[0]
            if name not in self._names | {"localhost"} and not _is_address(name):
                refusal = Misdirected(
                    f"the host of a request must be one of {', '.join(sorted(self._names | {'localhost'}))}, or an "
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


_READ_ON: Final = 8
"""So many times the limit is read, and thrown away, before the answer: many clients read none before all is sent."""
_JSON: Final = b"application/json"


class BoundedBody:
    """Lets a request in whose body has come, is not too large, and is JSON if it is there.

    Args:
      app: that gets the request.
      most_bytes: of the body.
      seconds: in which it must come.
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
        """The body, and its size, of which not all is in the body if it is too large."""
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

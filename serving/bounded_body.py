"""Reads a request's body, within limits, before anything else is done with it."""

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.problem_answer import problem_answer
from serving.refusals import HungUp, Refusal, TooLarge, TooLate, WrongType

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

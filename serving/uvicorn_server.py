"""A client's connection that cannot be held open by doing nothing."""

import asyncio
import json
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-type: application/json\r\nconnection: close\r\n"
)


class TimedConnection(H11Protocol):
    """Closes the connection of a client that sends the head of a request too slowly, or does not read the answer.

    The service itself takes the time of bodies (see `serving.middleware`), and uvicorn that between two requests.

    Attributes:
      seconds: that a head may take, and that a client may let an answer wait.
      most: connections at once; the next one is refused.
      is_stopping: whether the service ends; a client that comes then is sent away at once, for the stop, which has
        closed the connections that were there, would wait for this one.
    """

    seconds: float
    most: int
    is_stopping: bool = False

    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        if self.is_stopping:
            transport.close()
            return
        transport.set_write_buffer_limits(0)  # so that it is known at once when the client does not read
        if len(self.connections) > self.most:
            body = json.dumps(
                {"error": f"there must be at most {self.most} clients at once. Ask again in 1 s."}
            ).encode()
            transport.write(_FULL + b"content-length: %d\r\n\r\n" % len(body) + body)
            transport.close()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._end_write_timer()
        self._end_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._expect_head()
        else:
            self._end_head_timer()

    def pause_writing(self) -> None:
        """The client does not read as fast as it is written to."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        self._end_write_timer()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answers what is no HTTP."""
        body = json.dumps(
            {"error": "a request must be HTTP/1.1 with a head of at most 64 KiB; this one is not."}
        ).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        events: list[Any] = [h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage()]
        for event in events:
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.seconds, self.transport.close)

    def _end_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

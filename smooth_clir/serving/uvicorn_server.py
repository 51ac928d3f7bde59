"""uvicorn's HTTP server with limits on clients. No other module uses uvicorn's inner interfaces.

`TimedConnection` extends uvicorn's protocol over h11, and `Server` its server, in methods that uvicorn does not promise
to keep. If an upgrade changes them, tests/serving/test_limits.py (connections, stop) or
tests/serving/test_serve_command.py (signals) fails.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-type: application/json\r\nconnection: close\r\n"
)


_MAX_UNPARSED: Final = 1 << 18
"""Bytes of later requests that a client may send before it has the answer to an earlier request."""
_SECONDS_TO_READ: Final = 1.0
"""Time for a refused client to read the reason, which would be lost if the connection were closed at once."""


class TimedConnection(H11Protocol):
    """Closes the connection of a client that sends the head of a request too slowly, sends requests without waiting for
    answers, or does not read the answers.

    `middleware.BoundedBody` limits bodies, and uvicorn the time between two requests and the size of heads.
    uvicorn's own `limit_concurrency` counts only clients that have sent a head: silent clients could take every file
    descriptor, and a client that still sends would not read the refusal.

    Attributes:
      seconds: timeout of a head's arrival, and of the reading of an answer.
      max_connections: largest number of connections at once; further clients are refused.
      is_stopping: whether the service is stopping. A stop would wait for connections made after it began, so they are
        closed at once.
    """

    seconds: float
    max_connections: int
    is_stopping: bool = False

    _refused: ClassVar[int] = 0
    """Number of clients that are reading their refusal."""
    _is_refused = False
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the head's timer, or refuses the client."""
        super().connection_made(transport)
        if self.is_stopping:
            transport.close()
            return
        transport.set_write_buffer_limits(0)  # `pause_writing` is then called as soon as the client does not read
        if len(self.connections) > self.max_connections:
            self._refuse(transport)
            return
        self._expect_head()

    def _refuse(self, transport: asyncio.Transport) -> None:
        """Refuses a client beyond the limit, and discards what it sends until it has read the refusal."""
        self.connections.discard(self)
        body = _sentence(f"The service is busy: {self.max_connections} clients are connected. Ask again in 1 s.")
        transport.write(_FULL + b"content-length: %d\r\n\r\n" % len(body) + body)
        if TimedConnection._refused >= self.max_connections:
            transport.close()
            return
        self._is_refused = True
        TimedConnection._refused += 1
        transport.write_eof()
        self.loop.call_later(_SECONDS_TO_READ, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the timers."""
        TimedConnection._refused -= self._is_refused
        self._end_write_timer()
        self._end_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Ends the head's timer once the head has arrived."""
        if self.transport.is_closing() or self._is_refused:
            return
        super().data_received(data)
        if len(self.conn.trailing_data[0]) > _MAX_UNPARSED:
            # Each answer resumes reading, which would let a client fill the memory.
            self.transport.abort()
            return
        if self.conn.their_state is h11.IDLE or (self.cycle and self.cycle.response_complete):
            self._expect_head()  # the next request's, after the remaining bytes of a refused body
        else:
            self._end_head_timer()

    def pause_writing(self) -> None:
        """Gives the client `seconds` to read."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Ends the timer of a client that has read."""
        self._end_write_timer()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answers bytes that are not HTTP."""
        body = _sentence("a request must be HTTP/1.1 with a head of at most 64 KiB.")
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


def _sentence(text: str) -> bytes:
    return json.dumps({"error": text}).encode()


class Server(uvicorn.Server):
    """uvicorn's server; a signal stops it and is not raised again afterwards.

    Args:
      config: uvicorn's configuration.
      connection: the class of its connections.
      listening: called with the port as soon as the server listens.
    """

    def __init__(
        self, config: uvicorn.Config, connection: type[TimedConnection], listening: Callable[[int], None]
    ) -> None:
        super().__init__(config)
        self._connection, self._listening = connection, listening

    async def main_loop(self) -> None:
        """Reports the port, and waits for a signal."""
        self._listening(self.servers[0].sockets[0].getsockname()[1])
        await super().main_loop()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends all connections, even those that the event loop has accepted but not yet reported."""
        self._connection.is_stopping = True
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Lets signals stop the server. uvicorn would raise them again afterwards."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

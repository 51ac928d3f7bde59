"""The whole HTTP service, from its parts to its end."""

import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Final, TextIO

import uvicorn

from schemas.errors import DataError
from serving.app import create_app
from serving.newest_engine import EngineHolder, EngineSource
from serving.settings import ServiceSettings
from serving.telemetry import EventLog, ServiceMetrics, SwapLog
from serving.uvicorn_server import TimedConnection
from serving.work_queue import WorkQueue

_HEAD_BYTES: Final = 1 << 16
"""Of a request: its address holds a query, each character of which may take a dozen."""
_KEEP_ALIVE_SECONDS: Final = 30


class Service:
    """An HTTP service over engines.

    Args:
      source: of engines.
      settings: limits.
      stream: that the log is written to.

    Attributes:
      app: the ASGI application.
      holder: of the engine that answers.
    """

    def __init__(self, source: EngineSource, settings: ServiceSettings, stream: TextIO) -> None:
        self._settings, self._log = settings, EventLog(stream)
        self._queue = WorkQueue(settings.threads, settings.waiting, settings.seconds)
        metrics = ServiceMetrics(self._queue)
        self.holder = EngineHolder(source, SwapLog(self._log, metrics), settings.poll_seconds)
        self.app = create_app(self.holder, self._queue, metrics, self._log, settings)
        self._server: _Server | None = None

    def run(self, listening: Callable[[int], None] = lambda port: None) -> bool:
        """Loads the newest engine, answers until SIGTERM or Ctrl-C, then finishes the requests that are at work.

        Args:
          listening: is called with the port as soon as it listens.

        Returns:
          whether every request was finished; the threads of others still run.

        Raises:
          DataError: the port is taken, or there is no engine.
        """
        address = _bound(self._settings.host, self._settings.port)  # a port that is taken is told before all is loaded
        try:
            self.holder.load_first()
        except BaseException:
            address.close()
            raise

        class Connection(TimedConnection):
            seconds, most = self._settings.seconds, self._settings.connections

        config = uvicorn.Config(
            self.app,
            http=Connection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=_HEAD_BYTES,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=self._settings.drain_seconds,  # type: ignore[arg-type]  # any number will do
        )
        logger = logging.getLogger("uvicorn.error")
        logger.handlers, logger.propagate = [self._log.handler()], False
        logger.setLevel(logging.WARNING)
        self._server = _Server(config, Connection, lambda port: self._listens(port, listening))
        self._server.run([address])
        is_done = self._queue.close()
        self._log.tell("stopped", every_request_finished=is_done)
        return is_done

    def stop(self) -> None:
        """Ends `run`, as a signal does."""
        if self._server:
            self._server.should_exit = True

    def _listens(self, port: int, listening: Callable[[int], None]) -> None:
        self._log.tell("listening", host=self._settings.host, port=port)
        listening(port)


def _bound(host: str, port: int) -> socket.socket:
    """A socket at an address; it does not listen yet."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends without Nagle's delay, 40 ms an answer, only where the protocol is named.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise DataError(f"{host}:{port} must be an address that is free: {error.strerror}. Choose another.") from None
    return found


class _Server(uvicorn.Server):
    """uvicorn's, but a signal ends it as it should: with what follows the server, not with the signal itself."""

    def __init__(
        self, config: uvicorn.Config, connection: type[TimedConnection], listening: Callable[[int], None]
    ) -> None:
        super().__init__(config)
        self._connection, self._listening = connection, listening

    async def main_loop(self) -> None:
        """Waits for a signal."""
        self._listening(self.servers[0].sockets[0].getsockname()[1])
        await super().main_loop()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the connections, those included whose clients the event loop has accepted but not yet introduced."""
        self._connection.is_stopping = True
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Takes signals as a wish to stop; the second Ctrl-C waits for no request."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

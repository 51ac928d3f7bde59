"""Assembles, runs and stops the HTTP service."""

import logging
import socket
from collections.abc import Callable
from typing import Final, TextIO

import uvicorn

from schemas.errors import DataError
from smooth_clir.retrieval.folder_engines import FolderEngines
from smooth_clir.serving.app import create_app
from smooth_clir.serving.engine_holder import EngineHolder
from smooth_clir.serving.settings import ServiceSettings
from smooth_clir.serving.telemetry import LogStream, ServiceMetrics, SwapLog, WarningsAsEvents, event_log
from smooth_clir.serving.uvicorn_server import Server, TimedConnection
from smooth_clir.serving.work_queue import WorkQueue

_HEAD_BYTES: Final = 1 << 16
"""Largest head of a request in bytes: the address holds a query, whose characters may take a dozen bytes each."""
_KEEP_ALIVE_SECONDS: Final = 30


class Service:
    """An HTTP service over engines.

    Args:
      source: the source of engines.
      settings: limits.
      stream: the stream for the log.
    """

    def __init__(self, source: FolderEngines, settings: ServiceSettings, stream: TextIO) -> None:
        self._settings = settings
        self._log_fault: Exception | None = None
        self._log = event_log(LogStream(stream, self._end_without_log))
        self._queue = WorkQueue(settings.threads, settings.waiting, settings.seconds)
        metrics = ServiceMetrics(self._queue)
        self._holder = EngineHolder(source, SwapLog(self._log, metrics), settings.poll_seconds)
        self._app = create_app(self._holder, self._queue, metrics, self._log, settings)
        self._server: Server | None = None

    def run(self, listening: Callable[[int], None] = lambda port: None) -> bool:
        """Loads the newest engine, answers until SIGTERM or Ctrl-C, then finishes the running requests.

        Args:
          listening: called with the port as soon as the service listens.

        Returns:
          whether every request was finished; the threads of unfinished requests still run.

        Raises:
          DataError: the port is taken, no engine can be loaded, or the log cannot be written.
        """
        address = _bound(self._settings.host, self._settings.port)  # before the slow loading, to report a taken port
        try:
            self._holder.load_first()
            self._check_log()
        except BaseException:
            address.close()
            raise

        class Connection(TimedConnection):
            seconds, max_connections = self._settings.seconds, self._settings.connections

        def listens(port: int) -> None:
            self._log.info("listening", host=self._settings.host, port=port)
            listening(port)

        config = uvicorn.Config(
            self._app,
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
        logger.handlers, logger.propagate = [WarningsAsEvents(self._log)], False
        logger.setLevel(logging.WARNING)
        self._server = Server(config, Connection, listens)
        self._server.run([address])
        is_done = self._queue.close()
        self._log.info("stopped", every_request_finished=is_done)
        self._check_log()
        return is_done

    def stop(self) -> None:
        """Ends `run`, as a signal does."""
        if self._server:
            self._server.should_exit = True

    def _end_without_log(self, error: Exception) -> None:
        self._log_fault = error
        self.stop()

    def _check_log(self) -> None:
        if self._log_fault:
            raise DataError(
                f"Stopped, because the log cannot be written: {self._log_fault}. Redirect stderr to a disk with free "
                "space."
            )


def _bound(host: str, port: int) -> socket.socket:
    """Binds a socket to an address; it does not listen yet."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Names the protocol, because only then does asyncio send without Nagle's delay of 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise DataError(f"Cannot listen at {host}:{port}: {error.strerror}. Choose another address.") from None
    return bound

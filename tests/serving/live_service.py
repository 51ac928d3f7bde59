"""A service that answers at a port of this machine, in a thread."""

import io
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from smooth_clir.retrieval.folder_engines import FolderEngines
from smooth_clir.serving.service import Service
from smooth_clir.serving.settings import ServiceSettings


class LiveService:
    """A service that listens.

    Attributes:
      url: its address.
      is_done: the result of `Service.run`, once it has ended.
    """

    def __init__(self, source: FolderEngines, **settings: Any) -> None:
        self.log = io.StringIO()
        self.service = Service(source, ServiceSettings(port=0, **settings), self.log)
        self.is_done: bool | None = None
        self._listens = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._listens.wait(30)
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=30)

    def _run(self) -> None:
        def listening(port: int) -> None:
            self.port = port
            self._listens.set()

        self.is_done = self.service.run(listening)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The log's lines."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]

    def connect(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def stop(self) -> None:
        """Ends it, and waits for the end."""
        self.service.stop()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def close(self) -> None:
        """Ends all."""
        self.client.close()
        self.stop()


@contextmanager
def live_service(source: FolderEngines, **settings: Any) -> Iterator[LiveService]:
    """A service for the time of a block."""
    live = LiveService(source, **settings)
    try:
        yield live
    finally:
        live.close()


def read_all(connection: socket.socket) -> bytes:
    """Receives bytes until the other side closes the connection."""
    content = b""
    with connection:
        while True:
            try:
                part = connection.recv(1 << 16)
            except ConnectionResetError:
                return content
            if not part:
                return content
            content += part

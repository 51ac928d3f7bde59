"""A port of this machine that hands what comes to another port, decrypted where it was encrypted."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import NamedTuple


class Proxy(NamedTuple):
    """An open port."""

    port: int
    received: bytearray
    """The plain text that came."""


@contextmanager
def proxy(target: int, context: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """Opens the port for the time of a block.

    Args:
      target: the port that gets the plain text.
      context: the server's side of TLS, with a certificate; None for plain connections.
    """
    if context:
        context.set_alpn_protocols(["h2"])
    listening = socket.create_server(("127.0.0.1", 0))
    opened = Proxy(listening.getsockname()[1], bytearray())

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    def serve(connection: socket.socket) -> None:
        with closing(connection), suppress(OSError):
            outside = context.wrap_socket(connection, server_side=True) if context else connection
            with outside, socket.create_connection(("127.0.0.1", target)) as inside:
                back = threading.Thread(target=_copy, args=(inside, outside, bytearray()), daemon=True)
                back.start()
                _copy(outside, inside, opened.received)
                back.join()

    threading.Thread(target=accept, daemon=True).start()
    yield opened
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def _copy(source: socket.socket, target: socket.socket, received: bytearray) -> None:
    with suppress(OSError):
        while part := source.recv(1 << 16):
            received += part
            target.sendall(part)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)

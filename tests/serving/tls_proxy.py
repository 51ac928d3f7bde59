"""A port of this machine that decrypts what comes, and hands it to another port."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def tls_proxy(context: ssl.SSLContext, target: int) -> Iterator[int]:
    """The port, for the time of a block.

    Args:
      context: the server's side, with a certificate.
      target: the port that gets the plain text.
    """
    context.set_alpn_protocols(["h2"])
    listening = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=_serve, args=(context, connection, target), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def _serve(context: ssl.SSLContext, connection: socket.socket, target: int) -> None:
    with connection, suppress(OSError), context.wrap_socket(connection, server_side=True) as outside:
        with socket.create_connection(("127.0.0.1", target)) as inside:
            back = threading.Thread(target=_copy, args=(inside, outside), daemon=True)
            back.start()
            _copy(outside, inside)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while received := source.recv(1 << 16):
            target.sendall(received)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)

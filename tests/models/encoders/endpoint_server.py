"""An endpoint for text embeddings on this machine that answers as a test says."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from models.encoders.endpoint import PROBES

KEY: Final = "sk-Secret/Of+Tests_0123456789"
VARIABLE: Final = "CLIR_TEST_KEY"
KEY_OF_THIS_MACHINE: Final = {VARIABLE: KEY, f"{VARIABLE}_HOST": "127.0.0.1"}
"""The key, as variables of the environment."""


class EndpointServer(ThreadingHTTPServer):
    """An endpoint that answers a request even where that takes longer than a test.

    Attributes:
      requests: (path, headers, JSON) of each request.
      script: the steps of the next requests, functions of the handler and the JSON, which send an answer.
      answer: the step of each request after the script.
      is_closing: set at the end of the server.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.script: list[Step] = []
        self.answer: Step = good
        self.is_closing = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def take_texts(self) -> list[str]:
        """Returns the texts of all requests but probes, and forgets the requests."""
        inputs = [content["input"] for _, _, content in self.requests]
        self.requests.clear()
        return [text for texts in inputs if texts != [*PROBES] for text in texts]

    def handle_error(self, request: object, client_address: object) -> None:
        """Prints nothing where the client hangs up."""


class Handler(BaseHTTPRequestHandler):
    """Records a request, and leaves the answer to a step."""

    server: EndpointServer

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), content))
        step = self.server.script.pop(0) if self.server.script else self.server.answer
        step(self, content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Logs nothing."""

    def send(self, content: object, status: int = 200, **headers: str) -> None:
        """Sends bytes, or anything else as JSON."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


Step = Callable[[Handler, Any], object]


def embed(text: str, model: str = "m") -> list[float]:
    """A vector that only this text has, among a test's."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), float(len(model))]


def sends_vectors_by(embed: Callable[[str, str], list[float]]) -> Step:
    """A step that sends the vectors that a function of the text and the model gives."""

    def step(handler: Handler, content: Any) -> None:
        vectors = [embed(text, content["model"]) for text in content["input"]]
        entries = [{"object": "embedding", "index": row, "embedding": vector} for row, vector in enumerate(vectors)]
        handler.send({"object": "list", "data": entries, "model": content["model"]})

    return step


good = sends_vectors_by(embed)
another_model = sends_vectors_by(lambda text, model: embed(text, model)[::-1])


def hangs_up(handler: Handler, content: object) -> None:
    """A step that ends the connection."""
    handler.connection.shutdown(socket.SHUT_RDWR)


def never_answers(handler: Handler, content: object) -> None:
    """A step that keeps the client waiting."""
    handler.server.is_closing.wait(5)


def drips(first: bytes, piece: bytes) -> Step:
    """A step that sends a piece now and then, as some gateways do: no wait for a byte is long."""

    def step(handler: Handler, content: object) -> None:
        handler.wfile.write(first)
        while not handler.server.is_closing.wait(0.02):
            handler.wfile.write(piece)

    return step


@contextmanager
def listening() -> Iterator[EndpointServer]:
    """An endpoint for the time of a block."""
    server = EndpointServer()
    thread = threading.Thread(target=server.serve_forever, args=[0.005])
    thread.start()
    try:
        yield server
    finally:
        server.is_closing.set()
        server.shutdown()
        thread.join()
        server.server_close()

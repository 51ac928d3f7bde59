"""A Milvus whose answers a test changes: it hands each call on to a server, and its answer, changed, back."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

Change = Callable[[Any], Any]
"""Changes a message, or returns the bytes that go back in its place."""


class MilvusProxy(grpc.GenericRpcHandler):
    """Hands calls on.

    Attributes:
      changes: by the name of a gRPC method, a change of the message that answers it.
      port: the port that it listens at.
    """

    def __init__(self, target: int) -> None:
        self.changes: dict[str, Change] = {}
        self.port = 0
        self._channel = grpc.insecure_channel(f"127.0.0.1:{target}")

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        """Handles a call of any method."""
        from pymilvus.grpc_gen import milvus_pb2

        messages = {"Search": milvus_pb2.SearchResults, "Query": milvus_pb2.QueryResults}
        method = details.method.rpartition("/")[2]

        def answer(request: bytes, context: grpc.ServicerContext) -> bytes:
            answer_bytes: bytes = self._channel.unary_unary(details.method)(request)
            if method not in self.changes:
                return answer_bytes
            message_type = messages[method] if method in messages else getattr(milvus_pb2, f"{method}Response")
            message = message_type.FromString(answer_bytes)
            changed = self.changes[method](message)
            return changed if isinstance(changed, bytes) else message.SerializeToString()

        return grpc.unary_unary_rpc_method_handler(answer)


@contextmanager
def milvus_proxy(target: int) -> Iterator[MilvusProxy]:
    """Opens a proxy of the server at a port for the time of a block."""
    handler = MilvusProxy(target)
    server = grpc.server(ThreadPoolExecutor(4), handlers=[handler])
    handler.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield handler
    server.stop(0)

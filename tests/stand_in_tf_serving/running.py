"""The stand-in, running in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from tests.stand_in_tf_serving.grpc_server import start_grpc
from tests.stand_in_tf_serving.predictor import Predictor
from tests.stand_in_tf_serving.rest_server import RestServer


class StandIn(NamedTuple):
    """A stand-in that is running."""

    grpc: str
    rest: str
    versions: dict[str, Path]


@contextmanager
def standing_in(versions: dict[str, Path]) -> Iterator[StandIn]:
    """The stand-in, with these versions."""
    predictor = Predictor([str(path) for path in versions.values()])
    server, port = start_grpc(predictor)
    rest = RestServer(predictor)
    Thread(target=rest.serve_forever, daemon=True).start()
    yield StandIn(f"127.0.0.1:{port}", f"http://127.0.0.1:{rest.server_port}", versions)
    server.stop(None).wait()
    rest.shutdown()
    rest.server_close()

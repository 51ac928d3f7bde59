"""Serves pushed versions as TF Serving would, for development and tests; it is no server for production.

python -m tests.stand_in_tf_serving runs/sample
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from schemas.errors import DataError
from schemas.served_versions import MODEL_NAME, newest_version


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stand_in_tf_serving",
        description="A stand-in for TF Serving, for development and tests, not for production.",
    )
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="a version's folder, or a run's output or serving folder"
    )
    parser.add_argument("--name", default=MODEL_NAME, help="the model's name (default: %(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--rest", type=int, default=8501, help="port of the REST API; 0: any (default: %(default)s)")
    parser.add_argument("--grpc", type=int, default=8500, help="port of the gRPC API; 0: any (default: %(default)s)")
    given = parser.parse_args(arguments)
    try:
        versions = [_version(path) for path in given.models]
        from tests.stand_in_tf_serving.grpc_server import start_grpc
        from tests.stand_in_tf_serving.predictor import Predictor
        from tests.stand_in_tf_serving.rest_server import RestServer

        predictor = Predictor(versions, given.name)
        server, grpc_port = start_grpc(predictor, f"{given.host}:{given.grpc}")
        rest = RestServer(predictor, (given.host, given.rest))
    except (DataError, OSError, RuntimeError, ValueError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    print(f"REST on {given.host}:{rest.server_port}, gRPC on {given.host}:{grpc_port}", flush=True)
    with suppress(KeyboardInterrupt):
        rest.serve_forever()
    server.stop(None)


def _version(path: str) -> str:
    """The folder of a version: the given one, or the newest in it."""
    for folder in (path, os.path.join(path, "serving")):
        if os.path.isfile(os.path.join(folder, "saved_model.pb")):
            return folder
        newest = newest_version(os.listdir(folder)) if os.path.isdir(folder) else None
        if newest is not None:
            return os.path.join(folder, newest)
    raise DataError(f"{path} must hold a pushed version, but there is none; `clir run` pushes one.")


if __name__ == "__main__":
    main(sys.argv[1:])

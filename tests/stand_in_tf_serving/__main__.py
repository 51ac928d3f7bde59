"""Serves the newest version under a folder, at ports that are free: python -m tests.stand_in_tf_serving runs/sample"""

import sys
from contextlib import suppress

from smooth_clir.cli.model_folder import find_model
from tests.stand_in_tf_serving.grpc_server import start_grpc
from tests.stand_in_tf_serving.predictor import Predictor
from tests.stand_in_tf_serving.rest_server import RestServer


def main(folder: str) -> None:
    """Prints the two addresses, and serves until it is interrupted."""
    predictor = Predictor([find_model(folder)])
    server, port = start_grpc(predictor)
    rest = RestServer(predictor)
    print(f"REST on 127.0.0.1:{rest.server_port}, gRPC on 127.0.0.1:{port}", flush=True)
    with suppress(KeyboardInterrupt):
        rest.serve_forever()
    server.stop(None)


if __name__ == "__main__":
    main(*sys.argv[1:])

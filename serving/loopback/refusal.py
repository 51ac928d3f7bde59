"""Why a request is not answered."""

import grpc


class Refusal(Exception):
    """A request that is refused, as TF Serving refuses it.

    Args:
      code: gRPC's, from which the REST API's follows.
      message: says why.
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code

"""The stand-in's gRPC API."""

from collections.abc import Callable
from concurrent import futures
from typing import Any, TypeVar

import grpc
from tensorflow_serving.apis import model_service_pb2_grpc, prediction_service_pb2_grpc

from tests.stand_in_tf_serving.predictor import Predictor, Refusal

_THREADS = 8
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class _Predictions(prediction_service_pb2_grpc.PredictionServiceServicer):
    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    def Predict(self, request: Any, context: Any) -> Any:
        return _answer(self._predictor.predict, request, context)

    def GetModelMetadata(self, request: Any, context: Any) -> Any:
        return _answer(self._predictor.metadata, request, context)


class _Models(model_service_pb2_grpc.ModelServiceServicer):
    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    def GetModelStatus(self, request: Any, context: Any) -> Any:
        return _answer(self._predictor.status, request, context)


def _answer(method: Callable[[_Request], _Response], request: _Request, context: Any) -> _Response:
    """A method's answer, or its refusal as gRPC has it."""
    try:
        return method(request)
    except Refusal as refusal:
        context.abort(refusal.code, str(refusal))
        raise  # abort does not return


def start_grpc(predictor: Predictor) -> tuple[Any, int]:
    """Starts the server at a free port of this machine, and returns it and the port."""
    # TF Serving sets no limit to the size of messages either, and shares its port with nobody.
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]
    server = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=options)
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(_Predictions(predictor), server)
    model_service_pb2_grpc.add_ModelServiceServicer_to_server(_Models(predictor), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, port

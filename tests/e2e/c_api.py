"""Scores by an exported model in a process without TensorFlow's Python: its C library alone, which TF Serving links.

python tests/e2e/c_api.py '{"libraries": [...], "ops": [...], "model": ..., "query": ..., ...}'
"""

import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p
from typing import Any

FLOAT, STRING, STRING_BYTES = 1, 7, 24
"""TensorFlow's numbers of two types, and the size of one of its strings."""


class Output(ctypes.Structure):
    """An operation's output."""

    _fields_ = [("operation", c_void_p), ("index", c_int)]


class CApi:
    """TensorFlow's C library, with the operations of other libraries.

    Args:
      libraries: paths of TensorFlow's.
      ops: paths of the others.
    """

    def __init__(self, libraries: list[str], ops: list[str]) -> None:
        loaded = [ctypes.CDLL(path, ctypes.RTLD_GLOBAL) for path in libraries]
        self._c = loaded[-1]
        for name in dir_of_pointers():
            getattr(self._c, name).restype = c_void_p
        self._c.TF_Message.restype = c_char_p
        self._c.TF_Dim.restype = c_int64
        self._status = c_void_p(self._c.TF_NewStatus())
        for path in ops:
            self._c.TF_LoadLibrary(path.encode(), self._status)
            self._check()

    def load(self, model: str) -> None:
        """Loads a SavedModel, as C++ does."""
        self._graph = c_void_p(self._c.TF_NewGraph())
        options, tags = c_void_p(self._c.TF_NewSessionOptions()), (c_char_p * 1)(b"serve")
        self._session = c_void_p(
            self._c.TF_LoadSessionFromSavedModel(
                options, None, model.encode(), tags, 1, self._graph, None, self._status
            )
        )
        self._check()

    def run(self, inputs: dict[str, Any], output: str) -> list[list[float]]:
        """The values of an output [rows, columns], given texts for the inputs."""
        feeds, tensors = map(self._operation_output, inputs), map(self._strings, inputs.values())
        result, count = c_void_p(), len(inputs)
        self._c.TF_SessionRun(
            self._session, None,
            (Output * count)(*feeds), (c_void_p * count)(*tensors), count,
            (Output * 1)(self._operation_output(output)), byref(result), 1,
            None, 0, None, self._status,
        )  # fmt: skip
        self._check()
        rows, columns = (self._c.TF_Dim(result, axis) for axis in (0, 1))
        values = ctypes.cast(c_void_p(self._c.TF_TensorData(result)), POINTER(c_float))
        return [[values[row * columns + column] for column in range(columns)] for row in range(rows)]

    def _operation_output(self, tensor: str) -> Output:
        name, _, index = tensor.partition(":")
        operation = self._c.TF_GraphOperationByName(self._graph, name.encode())
        if not operation:
            raise LookupError(name)
        return Output(operation, int(index))

    def _strings(self, texts: list[Any]) -> c_void_p:
        """A tensor of texts, [rows] or [rows, columns]."""
        shape = [len(texts), *([len(texts[0])] if isinstance(texts[0], list) else [])]
        flat = [text for row in texts for text in (row if isinstance(row, list) else [row])]
        dims = (c_int64 * len(shape))(*shape)
        tensor = c_void_p(self._c.TF_AllocateTensor(STRING, dims, len(shape), c_size_t(STRING_BYTES * len(flat))))
        start = self._c.TF_TensorData(tensor)
        for number, text in enumerate(flat):
            address, content = c_void_p(start + STRING_BYTES * number), text.encode()
            self._c.TF_StringInit(address)
            self._c.TF_StringCopy(address, content, c_size_t(len(content)))
        return tensor

    def _check(self) -> None:
        if self._c.TF_GetCode(self._status):
            raise RuntimeError(self._c.TF_Message(self._status).decode())


def dir_of_pointers() -> list[str]:
    """The functions that give a pointer."""
    return [
        "TF_NewStatus", "TF_LoadLibrary", "TF_NewGraph", "TF_NewSessionOptions", "TF_LoadSessionFromSavedModel",
        "TF_GraphOperationByName", "TF_AllocateTensor", "TF_TensorData",
    ]  # fmt: skip


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    api = CApi(task["libraries"], task["ops"])
    api.load(task["model"])
    scores = api.run(task["inputs"], task["output"])
    print(json.dumps({"scores": scores, "modules": sorted(sys.modules)}))

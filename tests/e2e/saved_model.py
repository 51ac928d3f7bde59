"""A SavedModel as servers take it: by its graph, without the Python objects that made it."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the model holds)
from tensorflow.core.protobuf import saved_model_pb2

_SIZES = {1: (2,), 2: (2, 3)}
"""The shape of what an input of so many dimensions is given."""
_TEXTS = ["a river of molten rock", "Un volcan rejette de la lave.", "", "mot zzzz", "planets", "Une planète tourne."]

_OPS_WITHOUT_TENSORFLOW_TEXT = """
import json, sys
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import op_def_registry

with open(f"{sys.argv[1]}/saved_model.pb", "rb") as file:
    (graph,) = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs
functions = graph.graph_def.library.function
ops = {node.op for nodes in (graph.graph_def.node, *(f.node_def for f in functions)) for node in nodes}
print(json.dumps(sorted(op for op in ops if op_def_registry.get(op) is None)))
"""


def signature_defs(path: str) -> dict[str, Any]:
    """The SignatureDefs of a SavedModel that a client may call, by their names."""
    content = Path(path, "saved_model.pb").read_bytes()
    (graph,) = saved_model_pb2.SavedModel.FromString(content).meta_graphs
    return {name: signature for name, signature in graph.signature_def.items() if not name.startswith("__")}


def foreign_ops(path: str) -> set[str]:
    """The ops of a graph that are not TensorFlow's own."""
    done = subprocess.run(
        [sys.executable, "-c", _OPS_WITHOUT_TENSORFLOW_TEXT, path], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def both_ways(path: str) -> dict[str, tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """The results of each signature of texts in a session of TensorFlow 1, as in TF Serving, and of the model."""
    loaded = tf.saved_model.load(path).signatures
    results = {}
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.saved_model.load(session, ["serve"], path)
        for name, definition in signature_defs(path).items():
            if any(info.dtype != tf.string.as_datatype_enum for info in definition.inputs.values()):
                continue
            inputs = {key: _texts(len(info.tensor_shape.dim)) for key, info in definition.inputs.items()}
            feeds = {definition.inputs[key].name: texts for key, texts in inputs.items()}
            results[name] = inputs, session.run({key: info.name for key, info in definition.outputs.items()}, feeds)
    return {
        name: (in_session, {key: value.numpy() for key, value in loaded[name](**_tensors(inputs)).items()})
        for name, (inputs, in_session) in results.items()
    }


def scores_by_the_c_library(path: str, query: str, documents: list[str]) -> tuple[list[float], list[str]]:
    """The scores of a process that knows TensorFlow's C library alone, and that process's modules."""
    definition = signature_defs(path)["score"]
    tensorflow, text = (Path(find_spec(name).origin).parent for name in ("tensorflow", "tensorflow_text"))
    task = {
        "libraries": [str(tensorflow / f"libtensorflow_{name}.so.2") for name in ("framework", "cc")],
        "ops": [str(text / "python" / "ops" / "_normalize_ops.so")],
        "model": path,
        "inputs": {
            definition.inputs["query"].name: [query],
            definition.inputs["documents"].name: [documents],
        },
        "output": definition.outputs["scores"].name,
    }
    script = Path(__file__).with_name("c_api.py")
    done = subprocess.run([sys.executable, script, json.dumps(task)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return answer["scores"][0], answer["modules"]


def _texts(rank: int) -> Any:
    shape = _SIZES.get(rank, ())
    return np.array(_TEXTS[: int(np.prod(shape))], object).reshape(shape)


def _tensors(inputs: dict[str, Any]) -> dict[str, tf.Tensor]:
    return {key: tf.constant(texts, tf.string) for key, texts in inputs.items()}

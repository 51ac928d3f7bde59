"""A pre-trained encoder in a TensorFlow SavedModel that takes plain texts.

A SavedModel is a program. Its file is read before any of it runs, and refused if an operation could reach more than the
texts, the weights and the assets: see `allowed_operations`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

from models.encoders.allowed_operations import CALLS, is_allowed, is_operation
from models.encoders.pretrained_encoder import GraphEncoder
from models.encoders.settings import SavedModelSettings
from schemas.errors import DataError

LARGEST: Final = 2**31 - 1
"""Size of the largest protocol buffer, in bytes."""

_TABLE_OF_A_FILE: Final = "InitializeTableFromTextFileV2"
"""The operation that may read a file, if the file is an asset of the SavedModel."""
_SAVES: Final = frozenset(("MergeV2Checkpoints", "RestoreV2", "SaveV2", "ShardedFilename"))
"""The operations of the functions that save and restore all variables."""
_ANY_BATCH: Final = (tf.TensorShape(None), tf.TensorShape([None]))


class SavedModelEncoder(GraphEncoder):
    """Encodes texts by a signature of a SavedModel.

        vector = signature(texts=[text])[output][0]

    The signature has a single input of any name, the texts: string [batch]. Its variables, tables and assets
    become parts of each model that contains this encoder.

    Args:
      settings: the folder, the signature and its output.

    Raises:
      DataError: the folder is not a SavedModel of TensorFlow 2, has a forbidden operation or cannot be loaded, or the
        signature is missing, or has other inputs or outputs.
    """

    def __init__(self, settings: SavedModelSettings) -> None:
        super().__init__(settings)
        folder = Path(settings.path)
        try:
            _check_operations(_Parts(_meta_graph(folder)), folder)
            self._loaded = tf.saved_model.load(str(folder))  # keeps alive what the signature uses
        except DataError:
            raise
        except Exception as error:  # of any type: the loader trusts the file's functions and objects
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise DataError(f"the SavedModel {folder} cannot be loaded: {reason}") from error
        self._signature = _signature(self._loaded, settings.signature, folder)
        self._input = _input(self._signature, settings.signature, folder)
        self._output = _output(self._signature, settings, folder)

    def encode_tensor(self, texts: tf.Tensor) -> tf.Tensor:
        """See `GraphEncoder.encode_tensor`."""
        vectors = self._signature(**{self._input: texts})[self._output]
        return tf.ensure_shape(tf.cast(vectors, tf.float32), [None, None])


# The signature


def _signature(loaded: Any, name: str, folder: Path) -> Any:
    """The function of a signature."""
    signatures = getattr(loaded, "signatures", None)
    signatures = signatures if isinstance(signatures, Mapping) else {}
    if name not in signatures:
        raise DataError(
            f"channels.encoder.signature must be one of the signatures of the SavedModel {folder}, "
            f"{', '.join(sorted(signatures)) or 'which has none'}; got {name}."
        )
    return signatures[name]


def _input(signature: Any, name: str, folder: Path) -> str:
    """The name of the only input."""
    inputs: dict[str, tf.TensorSpec] = signature.structured_input_signature[1]
    specs = list(inputs.values())
    if len(specs) != 1 or specs[0].dtype != tf.string or specs[0].shape not in _ANY_BATCH:
        raise DataError(
            f"the signature {name} of the SavedModel {folder} must have one input, texts: string [batch], for any "
            f"batch; got {_shown(inputs)}. Export it with a signature of plain texts."
        )
    return next(iter(inputs))


def _output(signature: Any, settings: SavedModelSettings, folder: Path) -> str:
    """The name of the output with the vectors."""
    outputs: dict[str, tf.TensorSpec] = signature.structured_outputs
    where = f"the signature {settings.signature} of the SavedModel {folder}"
    if settings.output is None and len(outputs) != 1:
        raise DataError(
            f"channels.encoder.output must be given, because {where} has several outputs: {_shown(outputs)}."
        )
    name: str = next(iter(outputs)) if settings.output is None else settings.output
    if name not in outputs:
        raise DataError(
            f"channels.encoder.output must be one of the outputs of {where}, {_shown(outputs)}; got {name}."
        )
    spec = outputs[name]
    if not spec.dtype.is_floating or spec.shape.rank not in (None, 2):
        raise DataError(f"the output {name} of {where} must be float [batch, dim]; got {_shown({name: spec})}.")
    return name


def _shown(tensors: dict[str, tf.TensorSpec]) -> str:
    """Tensors for a message."""
    return ", ".join(f"{name}: {spec.dtype.name} {spec.shape}" for name, spec in sorted(tensors.items())) or "none"


# The operations


def _meta_graph(folder: Path) -> Any:
    """Reads and checks the only `MetaGraphDef` of a SavedModel, its graph with its functions and objects."""
    path = folder / "saved_model.pb"
    if not path.is_file():
        raise DataError(
            f"channels.encoder.path must be the folder of a SavedModel, with a file saved_model.pb; got {folder}."
        )
    if path.stat().st_size > LARGEST:
        raise DataError(f"{path} must have at most {LARGEST:,} bytes; got {path.stat().st_size:,}.")
    try:
        graphs = saved_model_pb2.SavedModel.FromString(path.read_bytes()).meta_graphs
    except DecodeError as error:
        raise DataError(f"{path} cannot be parsed as a SavedModel's protocol buffer: {error}.") from error
    if len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
        raise DataError(
            f"{path} must be a SavedModel of TensorFlow 2, with one graph and its objects; got {len(graphs)} graphs. "
            "Load it in TensorFlow 2 and write it by tf.saved_model.save."
        )
    functions = Counter(function.signature.name for function in graphs[0].graph_def.library.function)
    if repeated := [name for name, times in functions.items() if times > 1]:
        raise DataError(
            f"{path} must name each function differently; got several {', '.join(repeated)}. Save it again."
        )
    for link in (file for file in folder.rglob("*") if file.is_symlink()):
        if not link.resolve().is_relative_to(folder.resolve()):
            raise DataError(
                f"the files of the SavedModel {folder} must lie in its folder; {link.relative_to(folder)} is a link to "
                f"{link.resolve()}. If that file belongs to the model, put a copy in the link's place."
            )
    for asset in graphs[0].asset_file_def:
        name = PurePosixPath(asset.filename)
        if name.is_absolute() or ".." in name.parts:
            raise DataError(f"the assets of the SavedModel {folder} must lie in its folder; got {asset.filename!r}.")
    return graphs[0]


def _check_operations(parts: "_Parts", folder: Path) -> None:
    if refused := sorted({name for function, node in parts.nodes() for name in parts.refused(function, node)}):
        raise DataError(
            f"the SavedModel {folder} must consist of its own functions and of operations of TensorFlow "
            f"{tf.__version__} and tensorflow-text that reach only its texts, weights and assets; got "
            f"{', '.join(refused)}. Export it without them."
        )


class _Parts:
    """The nodes and functions in the `MetaGraphDef` of a SavedModel."""

    def __init__(self, meta_graph: Any) -> None:
        library = meta_graph.graph_def.library
        self.functions: Final = {function.signature.name: function for function in library.function}
        self._graph, objects = meta_graph.graph_def.node, meta_graph.object_graph_def
        self._objects: Final = objects.nodes
        entry_points = {name for node in objects.nodes for name in node.function.concrete_functions}
        entry_points |= {node.bare_concrete_function.concrete_function_name for node in objects.nodes}
        entry_points |= {gradient.gradient_func for gradient in (*library.gradient, *library.registered_gradients)}
        self._bound: Final = dict.fromkeys(entry_points, ()) | {
            name: tuple(function.bound_inputs) for name, function in objects.concrete_functions.items()
        }
        """From each function that Python may call to the objects that are bound to its last arguments."""
        self._callers: Final[defaultdict[str, list[tuple[str, Any]]]] = defaultdict(list)
        saver = meta_graph.saver_def
        saver_nodes = {saver.save_tensor_name.partition(":")[0], saver.restore_op_name}
        savers = set()
        for function, node in self.nodes():
            for called in _called(node):
                if function or node.name not in saver_nodes:
                    self._callers[called].append((function, node))
                else:
                    savers.add(called)
        self._savers: Final = savers - self._callers.keys() - self._bound.keys()
        """Functions that save and restore all variables, which neither a loaded model nor another function calls."""

    def nodes(self) -> Iterator[tuple[str, Any]]:
        """Yields each `NodeDef` with the name of its function, empty for the graph itself."""
        yield from (("", node) for node in self._graph)
        yield from ((name, node) for name, function in self.functions.items() for node in function.node_def)

    def refused(self, function: str, node: Any) -> Iterator[str]:
        """Yields the forbidden operations and functions of a node."""
        for name in _called(node):
            if is_operation(name):  # TensorFlow, too, prefers an operation to a function of the same name
                allowed = name == node.op and (is_allowed(name) or self._is_harmless(function, node))
            else:
                allowed = name in self.functions
            if not allowed:
                yield name

    def _is_harmless(self, function: str, node: Any) -> bool:
        """Whether a node that uses a file is harmless within its function."""
        if function not in self.functions or "api_implements" in self.functions[function].attr:
            return False  # with this attribute it may replace another function
        if node.op == _TABLE_OF_A_FILE:
            return self._is_asset(function, _nth_input(node, 1))
        return node.op in _SAVES and function in self._savers

    def _is_asset(self, function: str, tensor: str) -> bool:
        """Whether a tensor of a function is an argument that is the path of an asset in every call."""
        arguments = [argument.name for argument in self.functions[function].signature.input_arg]
        if tensor not in arguments or "api_implements" in self.functions[function].attr:
            return False
        position = arguments.index(tensor)
        if function in self._bound:
            bound = self._bound[function]
            first = len(arguments) - len(bound)
            if position < first or not self._objects[bound[position - first]].HasField("asset"):
                return False
        return all(
            node.op in CALLS and self._is_asset(caller, _nth_input(node, position))
            for caller, node in self._callers[function]
            if caller  # the graph itself never runs
        )


def _called(node: Any) -> Iterator[str]:
    """The operation of a node and the functions that it names."""
    yield node.op
    yield from _functions(node.attr)


def _functions(attributes: Mapping[str, Any]) -> Iterator[str]:
    """The functions that attributes name, directly or as arguments of other functions."""
    for value in attributes.values():
        for function in (value.func, *value.list.func):
            if function.name:
                yield function.name
            yield from _functions(function.attr)


def _nth_input(node: Any, position: int) -> str:
    """The name of an input; empty if there is none."""
    return str(node.input[position]) if position < len(node.input) else ""

"""A pre-trained encoder that is a TensorFlow SavedModel of plain texts.

A SavedModel is a program. Its file is read before anything of it runs, and operations are refused that neither
TensorFlow nor tensorflow-text has, or with which it would see more than the texts that it is given.
"""

import re
import types
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

import tensorflow as tf
import tensorflow_text as tf_text
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2

from models.encoders.pretrained_encoder import GraphEncoder
from models.encoders.settings import EncoderSettings
from schemas.errors import DataError

LARGEST: Final = 2**31 - 1
"""Size of the largest protocol buffer, in bytes."""

_REFUSED: Final = re.compile(
    # Python, which a SavedModel cannot carry.
    "PyFunc"
    # Files.
    "|File|Reader|Dataset|Summary|Save|Restore|Checkpoint|Record|^Print|^ImportEvent|^LoadAndRemapMatrix"
    "|^GenerateVocabRemapping|^DecodeProto|^EncodeProto|^FixedUnigramCandidateSampler"
    # Files or addresses, named in an attribute.
    "|Debug|^Copy"
    # Other processes.
    "|^_?Send|^_?Recv|Remote|Collective|Nccl|Heartbeat"
)
"""Operations of TensorFlow with files, with the network, or with Python."""
_TABLE_OF_A_FILE: Final = "InitializeTableFromTextFileV2"
"""The operation that may read a file, if the file is one of the SavedModel's own assets."""
_ANY_BATCH: Final = (tf.TensorShape(None), tf.TensorShape([None]))


class SavedModelEncoder(GraphEncoder):
    """Encodes texts by a signature of a SavedModel.

        vector = signature(texts=[text])[output][0]

    The signature has one input, the texts, of whatever name: string [batch]. Its variables, tables and assets become
    parts of each model that this encoder is a part of.

    Args:
      settings: its settings; `path`, `signature` and `output` are of this kind alone.

    Raises:
      DataError: the folder is no SavedModel of TensorFlow 2, it has an operation that is refused, it cannot be loaded,
        or the signature is missing, or has other inputs or outputs.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        super().__init__(settings)
        folder = Path(settings.path or "")
        try:
            _check_operations(_Parts(_meta_graph(folder)), folder)
            self._loaded = tf.saved_model.load(str(folder))  # it keeps what the signature uses alive
        except DataError:
            raise
        except Exception as error:  # of any type: the loader trusts what the file says about its functions and objects
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            raise DataError(f"the SavedModel {folder} must be whole; it cannot be loaded: {reason}") from error
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
            f"encoder.signature must name a signature of the SavedModel {folder}; got {name}, and it has "
            f"{', '.join(sorted(signatures)) or 'none'}."
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


def _output(signature: Any, settings: EncoderSettings, folder: Path) -> str:
    """The name of the output with the vectors."""
    outputs: dict[str, tf.TensorSpec] = signature.structured_outputs
    of = f"the signature {settings.signature} of the SavedModel {folder}"
    if settings.output is None and len(outputs) != 1:
        raise DataError(f"encoder.output must be given, for {of} has several outputs; it has {_shown(outputs)}.")
    name: str = next(iter(outputs)) if settings.output is None else settings.output
    if name not in outputs:
        raise DataError(f"encoder.output must name an output of {of}; got {name}, and it has {_shown(outputs)}.")
    if not outputs[name].dtype.is_floating or outputs[name].shape.rank not in (None, 2):
        raise DataError(f"the output {name} of {of} must be float [batch, dim]; got {_shown({name: outputs[name]})}.")
    return name


def _shown(tensors: dict[str, tf.TensorSpec]) -> str:
    """Tensors for a message."""
    return ", ".join(f"{name}: {spec.dtype.name} {spec.shape}" for name, spec in sorted(tensors.items())) or "none"


# The operations


def _meta_graph(folder: Path) -> Any:
    """Reads the only graph of a SavedModel with its functions and objects, a `MetaGraphDef`."""
    path = folder / "saved_model.pb"
    if not path.is_file():
        raise DataError(f"encoder.path must be the folder of a SavedModel, with a file saved_model.pb; got {folder}.")
    if path.stat().st_size > LARGEST:
        raise DataError(f"{path} must have at most {LARGEST:,} bytes; got {path.stat().st_size:,}.")
    try:
        graphs = saved_model_pb2.SavedModel.FromString(path.read_bytes()).meta_graphs
    except DecodeError as error:
        raise DataError(f"{path} must be a SavedModel's protocol buffer; it cannot be parsed: {error}.") from error
    if len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
        raise DataError(
            f"{path} must be a SavedModel of TensorFlow 2, with one graph and its objects; got {len(graphs)} graphs. "
            "Load it in TensorFlow 2 and write it by tf.saved_model.save."
        )
    for asset in graphs[0].asset_file_def:
        name = PurePosixPath(asset.filename)
        if name.is_absolute() or ".." in name.parts:
            raise DataError(f"the assets of the SavedModel {folder} must lie in its folder; got {asset.filename!r}.")
    return graphs[0]


def _check_operations(parts: "_Parts", folder: Path) -> None:
    """Refuses operations by name."""
    known = _names(tf.raw_ops) | _tf_text_operations() | {name.replace(">", "_") for name in parts.functions}
    used = {(node.op, parts.may_stand(function, node)) for function, node in parts.nodes()}
    refused = sorted({operation for operation, may_stand in used if not may_stand})
    if refused:
        raise DataError(
            f"the SavedModel {folder} must not use files other than its assets, the network or Python; got the "
            f"operations {', '.join(refused)}. Export it without them."
        )
    unknown = sorted({operation for operation, _ in used if operation.replace(">", "_") not in known})
    if unknown:
        raise DataError(
            f"the SavedModel {folder} must consist of the operations in tf.raw_ops of TensorFlow {tf.__version__} "
            f"and those of tensorflow-text; got {', '.join(unknown)}. Export it without the package that adds them."
        )


class _Parts:
    """The nodes and functions of a SavedModel, as they stand in its file.

    Args:
      meta_graph: a `MetaGraphDef`.
    """

    def __init__(self, meta_graph: Any) -> None:
        self.functions: Final = {one.signature.name: one for one in meta_graph.graph_def.library.function}
        self._graph, objects = meta_graph.graph_def.node, meta_graph.object_graph_def
        self._objects: Final = objects.nodes
        named = {name for one in objects.nodes for name in one.function.concrete_functions}
        named |= {one.bare_concrete_function.concrete_function_name for one in objects.nodes}
        self._bound: Final = dict.fromkeys(named, ()) | {
            name: tuple(one.bound_inputs) for name, one in objects.concrete_functions.items()
        }
        """For each function that Python may call, the objects that its last arguments are bound to."""
        self._callers: Final[defaultdict[str, list[tuple[str, Any]]]] = defaultdict(list)
        saver = meta_graph.saver_def
        of_saver = {saver.save_tensor_name.partition(":")[0], saver.restore_op_name}
        savers = set()
        for function, node in self.nodes():
            for called in _called(node):
                if function or node.name not in of_saver:
                    self._callers[called].append((function, node))
                else:
                    savers.add(called)
        self._savers: Final = savers - self._callers.keys() - self._bound.keys()
        """Functions that save and restore all variables: neither a loaded model nor another function calls them."""

    def nodes(self) -> Iterator[tuple[str, Any]]:
        """Each node, a `NodeDef`, with the name of its function; the graph itself has none."""
        yield from (("", node) for node in self._graph)
        yield from ((name, node) for name, function in self.functions.items() for node in function.node_def)

    def may_stand(self, function: str, node: Any) -> bool:
        """Returns whether a node is harmless where it stands."""
        if node.op in self.functions or not _REFUSED.search(node.op):
            return True
        if function not in self.functions or "api_implements" in self.functions[function].attr:
            return False  # with this attribute it may run in place of another function
        return function in self._savers or (
            node.op == _TABLE_OF_A_FILE and self._is_asset(function, _nth_input(node, 1))
        )

    def _is_asset(self, function: str, tensor: str) -> bool:
        """Whether a tensor of a function is the path of an asset in each call: an argument that is bound to one."""
        arguments = [argument.name for argument in self.functions[function].signature.input_arg]
        if tensor not in arguments or "api_implements" in self.functions[function].attr:
            return False
        place = arguments.index(tensor)
        if function in self._bound:
            bound = self._bound[function]
            first = len(arguments) - len(bound)
            if place < first or not self._objects[bound[place - first]].HasField("asset"):
                return False
        return all(
            node.op in ("PartitionedCall", "StatefulPartitionedCall")
            and self._is_asset(caller, _nth_input(node, place))
            for caller, node in self._callers[function]
            if caller  # the graph itself does not run
        )


def _called(node: Any) -> Iterator[str]:
    """The functions that a node calls."""
    yield node.op
    for value in node.attr.values():
        yield from (function.name for function in (value.func, *value.list.func) if function.name)


def _nth_input(node: Any, place: int) -> str:
    """The name of an input; empty if there is none."""
    name: str = dict(enumerate(node.input)).get(place, "")
    return name


@cache
def _tf_text_operations() -> frozenset[str]:
    """The operations in the libraries of tensorflow-text, with _ for the > behind a namespace."""
    libraries = Path(tf_text.__file__).parent.glob("python/**/*.so")
    return frozenset().union(*(_names(tf.load_op_library(str(library))) for library in libraries))


def _names(operations: types.ModuleType) -> frozenset[str]:
    """The operations that a module has Python functions for."""
    return frozenset(name for name, value in vars(operations).items() if isinstance(value, types.FunctionType))

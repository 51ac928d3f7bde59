"""The part of Transform's graph that is saved with a model."""

from typing import Any

import tensorflow as tf
import tensorflow_transform as tft

from models.lists.ranking_lists import Column
from models.texts.text_features import TextFeatures
from schemas import features as f
from schemas.word_rules import WordRules


class TransformedTexts(TextFeatures):
    """The columns that Transform makes from texts.

    Takes the operations for queries, or for documents, out of Transform's graph. tft's own layer
    (`TFTransformOutput.transform_features_layer`) would run the whole graph for each, which doubles the operations
    behind a score; it can replace this class if another version of TensorFlow refuses the cut graph.

    Args:
      transform: Transform's output.
      rules: Transform's rules for splitting texts into words.
    """

    def __init__(self, transform: tft.TFTransformOutput, rules: WordRules) -> None:
        super().__init__()
        self.rules = rules
        self._saved = tf.saved_model.load(transform.transform_savedmodel_dir)

    def query_columns(self, texts: tf.Tensor) -> dict[str, Column]:
        """Returns the query columns for texts."""
        return self._features({f.QUERY_TEXT: texts})

    def document_columns(self, texts: tf.Tensor) -> dict[str, Column]:
        """Returns the document columns for texts."""
        lists = tf.RaggedTensor.from_uniform_row_length(texts, 1, validate=False)
        return {name: column.merge_dims(0, 1) for name, column in self._features({f.DOC_TEXT: lists}).items()}

    def _features(self, fed_columns: dict[str, Column]) -> dict[str, Column]:
        """Returns the features that depend only on these columns, as operations of the traced graph."""
        function = self._saved.transform_fn
        captured = [tf.identity(tensor) for tensor in function.captured_inputs]
        own = len(function.inputs) - len(captured)
        inputs, variables = function.inputs[:own], function.inputs[own:]
        (signature,), _ = function.structured_input_signature
        placeholders = tf.nest.pack_sequence_as(signature, inputs, expand_composites=True)
        fed = dict(zip([tensor.name for tensor in variables], captured, strict=True))
        for name, column in fed_columns.items():
            fed |= zip([tensor.name for tensor in _tensors(placeholders[name])], _tensors(column), strict=True)
        lacking = {tensor.op.name for tensor in inputs if tensor.name not in fed}
        outputs = tf.nest.pack_sequence_as(function.structured_outputs, function.outputs, expand_composites=True)
        features = {name: column for name, column in outputs.items() if not _behind(column) & lacking}
        graph, used = function.graph.as_graph_def(), _behind(features)
        nodes = [node for node in graph.node if node.name in used]
        for node in nodes:
            # Control inputs would keep all operations; a look-up of words does not need them.
            node.input[:] = [name for name in node.input if not name.startswith("^")]
        tensors = tf.graph_util.import_graph_def(
            tf.compat.v1.GraphDef(node=nodes, library=graph.library, versions=graph.versions),
            {name: tensor for name, tensor in fed.items() if name.split(":")[0] in used},
            [tensor.name for tensor in _tensors(features)],
            name="transform",
        )
        columns: dict[str, Column] = tf.nest.pack_sequence_as(features, tensors, expand_composites=True)
        return columns


def _tensors(columns: Any) -> list[Any]:
    tensors: list[Any] = tf.nest.flatten(columns, expand_composites=True)
    return tensors


def _behind(columns: Any) -> set[str]:
    """Returns the names of all operations behind columns."""
    names, left = set(), [tensor.op for tensor in _tensors(columns)]
    while left:
        operation = left.pop()
        if operation.name not in names:
            names.add(operation.name)
            left += [tensor.op for tensor in operation.inputs]
    return names

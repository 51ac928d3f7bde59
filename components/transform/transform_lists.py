"""Transforms lists in one process."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import tensorflow as tf
import tensorflow_transform as tft
from tensorflow_transform import impl_helper
from tfx_bsl.public.tfxio import RecordBatchToExamplesEncoder

from models.graph_function import graph_function

_LISTS: Final = 64
"""Transformed at a time."""


def transform_lists(output: tft.TFTransformOutput, files: Sequence[str], prefix: str) -> None:
    """Transforms listwise examples: a file of them for each file.

    Args:
      output: Transform's.
      files: gzipped TFRecords.
      prefix: of the paths of the transformed ones, likewise gzipped TFRecords.
    """
    layer, spec = output.transform_features_layer(), output.raw_feature_spec()
    schema = output.transformed_metadata.schema
    to_arrow, encoder = impl_helper.make_tensor_to_arrow_converter(schema), RecordBatchToExamplesEncoder(schema)

    @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
    def transform(examples: tf.Tensor) -> dict[str, Any]:
        columns: dict[str, Any] = layer(tf.io.parse_example(examples, spec))
        return columns

    def transformed(file: str) -> Iterator[bytes]:
        examples = tf.data.TFRecordDataset(file, "GZIP").batch(_LISTS)
        for columns in examples.map(transform, num_parallel_calls=tf.data.AUTOTUNE):
            yield from encoder.encode(to_arrow.convert(columns))

    for number, file in enumerate(sorted(files)):
        _write(transformed(file), f"{prefix}-{number:05}-of-{len(files):05}.gz")


def _write(records: Iterable[bytes], path: str) -> None:
    # Gzip's first level, as for the examples of ingestion.
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type="GZIP", compression_level=1)) as writer:
        for record in records:
            writer.write(record)

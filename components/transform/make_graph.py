"""Transform's graph, made in one process: what `preprocessing_fn` computes, with vocabularies that are files."""

import os
import tempfile
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tensorflow_transform as tft
from tensorflow_metadata.proto.v0 import schema_pb2
from tensorflow_transform import impl_helper
from tensorflow_transform.tf_metadata import dataset_metadata, metadata_io, schema_utils
from tfx_bsl.public.tfxio import TFExampleBeamRecord

from components.transform.numbered_lists import NumberedLists
from components.transform.preprocessing import columns_of, words_of
from components.transform.vocabularies import write_vocabularies


def make_graph(
    lists: NumberedLists,
    counted: Sequence[str],
    schema: schema_pb2.Schema,
    custom_config: dict[str, Any],
    folder: str,
) -> tft.TFTransformOutput:
    """Counts the words of lists, and writes the graph.

    Args:
      lists: those that are counted, and any others.
      counted: the files of those.
      schema: of the lists.
      custom_config: see `preprocessing_fn`.
      folder: of the graph.
    """
    output, spec = tft.TFTransformOutput(folder), schema_utils.schema_as_feature_spec(schema).feature_spec
    metadata_io.write_metadata(dataset_metadata.DatasetMetadata(schema), os.path.join(folder, output.RAW_METADATA_DIR))
    types = TFExampleBeamRecord(physical_format="tfrecords_gzip", schema=schema).TensorAdapter().OriginalTypeSpecs()
    with tempfile.TemporaryDirectory() as own:
        vocabularies, others = write_vocabularies(lists, counted, custom_config, own)

        def preprocess(inputs: dict[str, Any]) -> dict[str, Any]:
            return columns_of(inputs, words_of(inputs, custom_config), vocabularies.__getitem__)

        # What TFX's own executor calls for a preprocessing_fn without analyzers: it needs no Beam.
        impl_helper.analyze_in_place(preprocess, False, spec, types, folder)
        assets = os.path.join(output.transform_savedmodel_dir, tf.saved_model.ASSETS_DIRECTORY)
        for path in others:
            # Found there by its name; the graph has no use for it.
            tf.io.gfile.copy(path, os.path.join(assets, os.path.basename(path)))
    return output

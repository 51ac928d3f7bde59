"""Transforms lists in one process."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_transform as tft
from tensorflow_transform import impl_helper
from tfx_bsl.public.tfxio import RecordBatchToExamplesEncoder

from components.transform.numbered_lists import LISTS_OF_A_BATCH, NumberedLists
from models.graphs import graph_function
from models.lists.mapped_rows import MappedRows
from schemas import features as f
from schemas.raw_lines import raw_lines


class TransformLists:
    """Gives lists the ids of their words, as `preprocessing_fn` has them of the graph.

    Args:
      lists: those that will be transformed among them.
      output: Transform's graph and vocabularies.
    """

    def __init__(self, lists: NumberedLists, output: tft.TFTransformOutput) -> None:
        self._lists = lists
        schema = output.transformed_metadata.schema
        self._to_arrow = impl_helper.make_tensor_to_arrow_converter(schema)
        self._encoder = RecordBatchToExamplesEncoder(schema)
        spec = output.raw_feature_spec()
        self._other_columns = {name: of_column for name, of_column in spec.items() if name not in lists.texts}
        self._ids: dict[str, tuple[str, MappedRows]] = {}
        for vocabulary, (texts, terms) in lists.terms.items():
            with tf.io.gfile.GFile(output.vocabulary_file_by_name(vocabulary), "rb") as file:
                ids = {word: place for place, word in enumerate(raw_lines(file))}
            id_of_word = np.array([ids.get(term, -1) for term in terms], np.int32)
            self._ids[f.COLUMN_OF_VOCABULARY[vocabulary]] = texts, lists.texts[texts].ids(id_of_word)

    def __call__(self, files: Sequence[str], prefix: str) -> None:
        """Writes a file of transformed lists for each file.

        Args:
          files: gzipped TFRecords.
          prefix: of the paths of the transformed ones, likewise gzipped TFRecords.
        """
        for number, file in enumerate(sorted(files)):
            _write(self._transformed(file), f"{prefix}-{number:05}-of-{len(files):05}.gz")

    def _transformed(self, file: str) -> Iterator[bytes]:
        @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
        def parse(examples: tf.Tensor) -> dict[str, Any]:
            columns: dict[str, Any] = tf.io.parse_example(examples, self._other_columns)
            return columns

        left = self._lists.places[file]
        for columns in tf.data.TFRecordDataset(file, "GZIP").batch(LISTS_OF_A_BATCH).map(parse):
            sizes = {f.QUERY_TEXT: int(columns[f.DOC_ID].nrows()), f.DOC_TEXT: len(columns[f.DOC_ID].values)}
            ids = {}
            for name, (texts, of_texts) in self._ids.items():
                of_places = tf.cast(of_texts.gather(left[texts][: sizes[texts]]), tf.int64)
                ids[name] = columns[f.DOC_ID].with_values(of_places) if f.is_of_document(name) else of_places
            left = {texts: places[sizes[texts] :] for texts, places in left.items()}
            yield from self._encoder.encode(self._to_arrow.convert({**columns, **ids}))


def _write(records: Iterable[bytes], path: str) -> None:
    # Gzip's first level, as for the examples of ingestion. Among ids there is little to be found that came before: not
    # to look for it halves the time, for a twelfth more bytes.
    options = tf.io.TFRecordOptions("GZIP", compression_level=1, compression_strategy=zlib.Z_HUFFMAN_ONLY)
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)

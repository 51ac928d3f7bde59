"""Transform in one process, without Beam: the vocabularies, the graph and the transformed lists."""

import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf
import tensorflow_transform as tft
from tensorflow_metadata.proto.v0 import schema_pb2
from tensorflow_transform import impl_helper
from tensorflow_transform.analyzers import get_empy_vocabulary_dummy_value
from tensorflow_transform.tf_metadata import dataset_metadata, metadata_io, schema_utils
from tfx_bsl.public.tfxio import RecordBatchToExamplesEncoder, TFExampleBeamRecord

from components.transform.numbered_lists import LISTS_OF_A_BATCH, NumberedLists
from components.transform.preprocessing import columns_of, words_of
from components.transform.settings import TransformSettings
from models.graphs import graph_function
from models.lists.mapped_rows import MappedRows
from models.texts.word_table import read_word_table
from schemas import features as f
from schemas.byte_streams import raw_lines

_NO_WORD: Final = get_empy_vocabulary_dummy_value(tf.string)
"""tft's entry, with its count, in a vocabulary without words: TensorFlow refuses an empty file."""


def make_graph(
    lists: NumberedLists,
    counted: Sequence[str],
    schema: schema_pb2.Schema,
    settings: TransformSettings,
    folder: str,
) -> tft.TFTransformOutput:
    """Counts the words of lists, and writes the graph.

    Args:
      lists: the lists to count, and others to transform.
      counted: the files of the lists to count.
      schema: the schema of the lists.
      settings: see `TransformSettings`.
      folder: the folder of the graph.
    """
    output, spec = tft.TFTransformOutput(folder), schema_utils.schema_as_feature_spec(schema).feature_spec
    metadata_io.write_metadata(dataset_metadata.DatasetMetadata(schema), os.path.join(folder, output.RAW_METADATA_DIR))
    types = TFExampleBeamRecord(physical_format="tfrecords_gzip", schema=schema).TensorAdapter().OriginalTypeSpecs()
    with tempfile.TemporaryDirectory() as own:
        vocabularies, count_paths = _write_vocabularies(lists, counted, settings, own)

        def preprocess(inputs: dict[str, Any]) -> dict[str, Any]:
            return columns_of(inputs, words_of(inputs, settings), vocabularies.__getitem__)

        # TFX's own executor calls this function for a preprocessing_fn without analyzers; it does not need Beam.
        impl_helper.analyze_in_place(preprocess, False, spec, types, folder)
        assets = os.path.join(output.transform_savedmodel_dir, tf.saved_model.ASSETS_DIRECTORY)
        for path in count_paths:
            # For the Trainer, which finds it by its name; the graph does not use it.
            tf.io.gfile.copy(path, os.path.join(assets, os.path.basename(path)))
    return output


def _write_vocabularies(
    lists: NumberedLists, counted: Sequence[str], settings: TransformSettings, folder: str
) -> tuple[dict[str, str], list[str]]:
    """Writes a file for each vocabulary; returns their paths by name, and the paths of the files of counts."""
    paths, count_paths = {}, []
    for vocabulary, counts in _count_words(lists, counted, settings.joint_stems).items():
        words = _most_frequent(counts, settings.vocabulary_size)
        if source := settings.word_tables.get(vocabulary):
            lines = [b"%d %b" % (counts[word], word) for word in _most_frequent(counts, len(counts))]
            count_paths.append(os.path.join(folder, f.COUNTS_OF_VOCABULARY[vocabulary]))
            _write_lines(lines or [b"%d %b" % _NO_WORD], count_paths[-1])
            # The words of the vectors come first; where the vectors are not trained, there are no further words.
            first = dict.fromkeys(word.encode() for word in read_word_table(source).words)
            words = [*first, *(word for word in words if source.train and word not in first)]
        paths[vocabulary] = os.path.join(folder, vocabulary)
        _write_lines(words or [_NO_WORD[1]], paths[vocabulary])
    return paths, count_paths


def _count_words(lists: NumberedLists, counted: Sequence[str], joint_stems: bool) -> dict[str, Counter[bytes]]:
    """Returns the counts of the words in the counted lists, by vocabulary."""
    times = {
        name: texts.counts(np.concatenate([lists.counted[file][name] for file in counted]))
        for name, texts in lists.texts.items()
    }
    counts: dict[str, Counter[bytes]] = {}
    for vocabulary, (name, terms) in lists.terms.items():
        term_counts = counts[vocabulary] = Counter()
        for term, number in zip(terms, times[name].tolist(), strict=True):
            if term and number:
                term_counts[term] += number
    if joint_stems:
        names = f.STEMS_OF_VOCABULARY.values()
        counts |= dict.fromkeys(names, sum((counts[name] for name in names), Counter[bytes]()))
    return counts


def _most_frequent(counts: Counter[bytes], limit: int) -> list[bytes]:
    """Returns the most frequent words; equally frequent ones in descending order of their UTF-8, as in tft."""
    ordered = sorted(((count, word) for word, count in counts.items()), reverse=True)
    return [word for _, word in ordered[:limit]]


def _write_lines(lines: Iterable[bytes], path: str) -> None:
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(b"".join(b"%b\n" % line for line in lines))


class TransformLists:
    """Transforms lists as the graph of `preprocessing_fn` does, by looking up the ids of their words.

    Args:
      lists: the lists to transform, among others.
      output: Transform's graph and vocabularies.
    """

    def __init__(self, lists: NumberedLists, output: tft.TFTransformOutput) -> None:
        self._lists = lists
        schema = output.transformed_metadata.schema
        self._to_arrow = impl_helper.make_tensor_to_arrow_converter(schema)
        self._encoder = RecordBatchToExamplesEncoder(schema)
        spec = output.raw_feature_spec()
        self._copied_columns = {name: feature for name, feature in spec.items() if name not in lists.texts}
        self._ids: dict[str, tuple[str, MappedRows]] = {}
        for vocabulary, (texts, terms) in lists.terms.items():
            with tf.io.gfile.GFile(output.vocabulary_file_by_name(vocabulary), "rb") as file:
                ids = {word: number for number, word in enumerate(raw_lines(file))}
            id_of_word = np.array([ids.get(term, -1) for term in terms], np.int32)
            self._ids[f.COLUMN_OF_VOCABULARY[vocabulary]] = texts, lists.texts[texts].ids(id_of_word)

    def __call__(self, files: Sequence[str], prefix: str) -> None:
        """Writes a file of transformed lists for each file.

        Args:
          files: gzipped TFRecords.
          prefix: prefix of the paths of the transformed lists, which are gzipped TFRecords too.
        """
        for number, file in enumerate(sorted(files)):
            _write_records(self._transformed(file), f"{prefix}-{number:05}-of-{len(files):05}.gz")

    def _transformed(self, file: str) -> Iterator[bytes]:
        @graph_function(input_signature=[tf.TensorSpec([None], tf.string)])
        def parse(examples: tf.Tensor) -> dict[str, Any]:
            columns: dict[str, Any] = tf.io.parse_example(examples, self._copied_columns)
            return columns

        left = self._lists.rows[file]
        for columns in tf.data.TFRecordDataset(file, "GZIP").batch(LISTS_OF_A_BATCH).map(parse):
            sizes = {f.QUERY_TEXT: int(columns[f.DOC_ID].nrows()), f.DOC_TEXT: len(columns[f.DOC_ID].values)}
            ids = {}
            for name, (texts, text_ids) in self._ids.items():
                flat_ids = tf.cast(text_ids.gather(left[texts][: sizes[texts]]), tf.int64)
                ids[name] = columns[f.DOC_ID].with_values(flat_ids) if f.is_of_document(name) else flat_ids
            left = {texts: rows[sizes[texts] :] for texts, rows in left.items()}
            yield from self._encoder.encode(self._to_arrow.convert({**columns, **ids}))


def _write_records(records: Iterable[bytes], path: str) -> None:
    # Gzip without the search for repeats, which are few among ids: half the time for a twelfth more bytes.
    options = tf.io.TFRecordOptions("GZIP", compression_level=1, compression_strategy=zlib.Z_HUFFMAN_ONLY)
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)

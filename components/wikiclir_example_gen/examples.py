"""Beam steps that make the listwise examples and write them."""

import zlib
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any
from uuid import uuid4

import apache_beam as beam
import tensorflow as tf
from apache_beam.io.filebasedsink import FileBasedSink

from components.wikiclir_example_gen.reading import unpack_lines
from components.wikiclir_example_gen.report import TALLIES, USED, domain_subject, tally
from components.wikiclir_example_gen.sampling import list_sort_key
from schemas import features as f
from schemas.collection import split_text
from schemas.passages import document_of
from schemas.wikiclir import Text


def make_examples(element: tuple[str, dict[str, Any]], in_languages: Collection[str]) -> Iterator[Any]:
    """(query_id, its query, list and documents) -> a serialized listwise example, tagged with its split."""
    query_id, groups = element
    for ranking_list in groups["list"]:
        (query,) = groups["query"]
        # A document may be here only because its hash is that of a document of the list.
        lines = chain.from_iterable(map(unpack_lines, groups["documents"]))
        texts = ((document_of(text[0]), text) for text in map(split_text, lines))
        members = [(doc_id, text) for doc_id, text in texts if doc_id in ranking_list.grades]
        # The passages of a document keep their order.
        members.sort(key=lambda member: list_sort_key(query_id, member[0]))
        positions = {doc_id: position for position, doc_id in enumerate(ranking_list.negatives)}
        example = make_example(
            query,
            [text for _, text in members],
            [ranking_list.grades[doc_id] for doc_id, _ in members],
            [positions.get(doc_id, -1) for doc_id, _ in members],
            ranking_list.domain,
            in_languages,
        )
        yield beam.pvalue.TaggedOutput(ranking_list.split, example.SerializeToString(deterministic=True))
        for item in ranking_list.tallies(USED):
            yield beam.pvalue.TaggedOutput(TALLIES, item)
        yield beam.pvalue.TaggedOutput(TALLIES, tally("lists", ranking_list.split))
        if ranking_list.domain:
            yield beam.pvalue.TaggedOutput(TALLIES, tally(domain_subject(ranking_list.domain), ranking_list.split))
        yield beam.pvalue.TaggedOutput(TALLIES, tally("pairs", ranking_list.split, len(ranking_list.grades)))


def make_example(
    query: Text,
    documents: Iterable[tuple[str, bytes, bytes, bytes]],
    grades: Iterable[int],
    negative_positions: Iterable[int],
    domain: str = "",
    in_languages: Collection[str] = (),
) -> tf.train.Example:
    """Makes one listwise example (see `schemas.features`).

    Args:
      query: the query.
      documents: (doc_id, title, text, first field) of each document or passage, in UTF-8 but for the id.
      grades: the relevance of each.
      negative_positions: the position of each among the list's NR documents; -1 for judged ones.
      domain: the query's domain.
      in_languages: the roles whose texts have their language as the first field.
    """
    doc_ids, doc_titles, doc_texts, doc_languages = zip(*documents, strict=True)
    texts = {
        f.QUERY_ID: [query.id.encode()],
        f.QUERY_DOMAIN: [domain.encode()],
        f.QUERY_TITLE: [query.title.encode()],
        f.QUERY_TEXT: [query.text.encode()],
        f.DOC_ID: [doc_id.encode() for doc_id in doc_ids],
        f.DOC_TITLE: doc_titles,
        f.DOC_TEXT: doc_texts,
    }
    if "queries" in in_languages:
        texts[f.QUERY_LANG] = [query.fields[0].encode()]
    if "documents" in in_languages:
        texts[f.DOC_LANG] = doc_languages
    feature = {name: tf.train.Feature(bytes_list=tf.train.BytesList(value=values)) for name, values in texts.items()}
    for name, numbers in ((f.RELEVANCE, grades), (f.NEGATIVE_PLACE, negative_positions)):
        feature[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))
    return tf.train.Example(features=tf.train.Features(feature=feature))


class WriteExamples(beam.PTransform):
    """Serialized examples -> gzipped TFRecords `<prefix>-SSSSS-of-NNNNN.gz`.

    Args:
      prefix: path of the files, without their numbers.
      shards: the number of files; a hash of an example chooses its file. With None the runner chooses, without
        grouping: in process it writes one file, and does not hold all examples in memory.
    """

    def __init__(self, prefix: str, shards: int | None = None) -> None:
        super().__init__()
        self._prefix, self._shards = prefix, shards

    def expand(self, examples: beam.PCollection) -> Any:
        if self._shards is None:
            return examples | beam.io.Write(_TFRecordSink(self._prefix))
        shards = self._shards
        named = examples | "NameShard" >> beam.Map(lambda example: (zlib.crc32(example) % shards, example))
        # Every file exists, even without examples.
        empty = examples.pipeline | "NameEveryShard" >> beam.Create([(shard, b"") for shard in range(shards)])
        return (
            (named, empty)
            | beam.Flatten()
            | "GroupByShard" >> beam.GroupByKey()
            | "WriteShard" >> beam.Map(_write_shard, self._prefix, shards)
        )


def _write_shard(element: tuple[int, Iterable[bytes]], prefix: str, shards: int) -> None:
    """Writes a file whole or not at all, even if several workers write it."""
    number, examples = element
    path = f"{prefix}-{number:05}-of-{shards:05}.gz"
    folder, _, name = path.rpartition("/")
    partial = f"{folder}/.{uuid4().hex}-{name}"
    tf.io.gfile.makedirs(folder)
    with _open(partial) as file:
        for example in examples:
            if example:
                file.write(example)
    tf.io.gfile.rename(partial, path, overwrite=True)


def _open(path: str) -> tf.io.TFRecordWriter:
    # Without the search for repeats: it more than doubles the time, and makes texts a fifth to a third smaller.
    return tf.io.TFRecordWriter(
        path, tf.io.TFRecordOptions("GZIP", compression_level=1, compression_strategy=zlib.Z_HUFFMAN_ONLY)
    )


class _TFRecordSink(FileBasedSink):
    """A sink that TensorFlow compresses: Beam's own compresses in Python, which took a fifth of the whole job."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix, beam.coders.BytesCoder(), file_name_suffix=".gz")

    def open(self, temp_path: str) -> tf.io.TFRecordWriter:
        return _open(temp_path)

    def write_encoded_record(self, file_handle: tf.io.TFRecordWriter, encoded_value: bytes) -> None:
        file_handle.write(encoded_value)

    def close(self, file_handle: tf.io.TFRecordWriter) -> None:
        file_handle.close()

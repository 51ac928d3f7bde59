"""The requests by which TF Serving warms a version up before it answers others. Never imports TFX."""

import heapq
import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import predict_pb2, prediction_log_pb2

from schemas import features as f
from schemas.served_versions import GRAPH_FILE, MODEL_NAME

LISTS: Final = 10
"""The lists that requests are built from: with three requests a list and two of them all, 32 in all."""
MOST_DOCUMENTS: Final = 64
"""The most documents of a list in one request: a batch of more might be refused where TF Serving forms batches."""


def warm_up(model: str, examples: Iterable[str]) -> bytes:
    """The content of a version's warm-up file, made of real queries and their documents.

    TensorFlow prepares a graph when it first runs, and once more for a batch of another size: each list is asked for
    alone, and all together. A version whose warm-up fails is not served, so that no request is made for a signature
    that the model lacks.

    Args:
      model: folder of a SavedModel of ours.
      examples: listwise Examples, as texts: paths of gzipped TFRecords. The lists with the least query ids are taken.

    Returns:
      a TFRecord of `PredictionLog`s; nothing where there are no lists.
    """
    lists = _first_lists(examples)
    if not lists:
        return b""
    signatures = _signatures(model)
    with tempfile.TemporaryDirectory() as folder:  # TensorFlow writes TFRecords to files alone
        path = os.path.join(folder, "requests")
        with tf.io.TFRecordWriter(path) as writer:
            for signature, inputs in _requests(lists):
                if signature in signatures:
                    writer.write(_log(signature, inputs).SerializeToString(deterministic=True))
        with open(path, "rb") as file:
            return file.read()


def _first_lists(examples: Iterable[str]) -> list[tuple[bytes, list[bytes]]]:
    """The text of the query, and those of its documents, of the lists with the least query ids."""
    records = tf.data.TFRecordDataset(sorted(examples), "GZIP").as_numpy_iterator()
    columns = (tf.train.Example.FromString(record).features.feature for record in records)
    first = heapq.nsmallest(LISTS, columns, key=lambda one: one[f.QUERY_ID].bytes_list.value[0])
    return [
        (one[f.QUERY_TEXT].bytes_list.value[0], list(one[f.DOC_TEXT].bytes_list.value)[:MOST_DOCUMENTS])
        for one in first
    ]


def _signatures(model: str) -> set[str]:
    """The names of a SavedModel's signatures, without loading it."""
    with tf.io.gfile.GFile(os.path.join(model, GRAPH_FILE), "rb") as file:
        (graph,) = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs
    return set(graph.signature_def)


def _requests(lists: Sequence[tuple[bytes, list[bytes]]]) -> Iterator[tuple[str, Mapping[str, tensor_pb2.TensorProto]]]:
    """Signature and inputs of each request."""
    for one in lists:
        yield "score", _scoring([one])
        yield "encode_query", {"query": _texts([one[0]])}
        yield "encode_document", {"document": _texts(one[1])}
    yield "score", _scoring(lists)
    yield "encode_query", {"query": _texts([query for query, _ in lists])}


def _scoring(lists: Sequence[tuple[bytes, list[bytes]]]) -> dict[str, tensor_pb2.TensorProto]:
    """Queries, and their documents padded by "" to the longest list."""
    size = max(len(documents) for _, documents in lists)
    padded = [[*documents, *itertools.repeat(b"", size - len(documents))] for _, documents in lists]
    return {
        "query": _texts([query for query, _ in lists]),
        "documents": tf.make_tensor_proto(padded, tf.string, [len(lists), size]),
    }


def _texts(texts: Sequence[bytes]) -> tensor_pb2.TensorProto:
    return tf.make_tensor_proto(texts, tf.string, [len(texts)])


def _log(signature: str, inputs: Mapping[str, tensor_pb2.TensorProto]) -> prediction_log_pb2.PredictionLog:
    request = predict_pb2.PredictRequest(inputs=inputs)
    request.model_spec.name = MODEL_NAME
    request.model_spec.signature_name = signature
    return prediction_log_pb2.PredictionLog(predict_log=prediction_log_pb2.PredictLog(request=request))

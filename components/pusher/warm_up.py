"""The requests with which TF Serving warms up a version before it serves it. Never imports TFX."""

import heapq
import itertools
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import tensorflow as tf
from tensorflow.core.framework import tensor_pb2
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2
from tensorflow_serving.apis import predict_pb2, prediction_log_pb2

from models.choices import WITH_VECTORS
from schemas import features as f
from schemas.domains import DomainFilter
from schemas.served_versions import GRAPH_FILE, MODEL_NAME


def eval_lists(examples: Iterable[str], domains: DomainFilter) -> Iterator[Mapping[str, tf.train.Feature]]:
    """Yields the columns of each eval list whose texts may go with a pushed model.

    Args:
      examples: paths of gzipped TFRecords of listwise Examples, as texts.
      domains: the domains whose lists are read: whoever has the model sees their texts.
    """
    for record in tf.data.TFRecordDataset(sorted(examples), "GZIP").as_numpy_iterator():
        columns = tf.train.Example.FromString(record).features.feature
        if domains.keeps(next(iter(columns[f.QUERY_DOMAIN].bytes_list.value), b"")):
            yield columns


LISTS: Final = 10
"""Number of lists for the requests: three requests a list and two of all lists give 32."""
MAX_DOCUMENTS: Final = 64
"""Largest number of a list's documents in one request: TF Serving might refuse a larger batch."""


def warm_up(model: str, examples: Iterable[str], domains: DomainFilter) -> bytes:
    """Returns the content of a version's warm-up file, made of real queries and their documents.

    TensorFlow prepares a graph at its first run, and again for another batch size, so there are requests for each list
    and for all lists together. TF Serving does not serve a version whose warm-up fails, so no request uses a signature
    that the model lacks.

    Args:
      model: folder of one of our SavedModels.
      examples: paths of gzipped TFRecords of listwise Examples, as texts; the lists with the first query ids are used.
      domains: the domains whose texts may go with the model.

    Returns:
      a TFRecord of `PredictionLog`s; empty without lists.
    """
    lists = _first_lists(examples, domains)
    if not lists:
        return b""
    signatures = _signatures(model)
    with tempfile.TemporaryDirectory() as folder:  # TensorFlow writes TFRecords only to files
        path = os.path.join(folder, "requests")
        with tf.io.TFRecordWriter(path) as writer:
            for signature, inputs in _requests(lists):
                if signature in signatures:
                    writer.write(_log(signature, inputs).SerializeToString(deterministic=True))
                elif (name := f"{signature}{WITH_VECTORS}") in signatures:
                    fed = {**inputs, **_zero_vectors(inputs, signatures[name])}
                    writer.write(_log(name, fed).SerializeToString(deterministic=True))
        with open(path, "rb") as file:
            return file.read()


def _first_lists(examples: Iterable[str], domains: DomainFilter) -> list[tuple[bytes, list[bytes]]]:
    """Returns the texts of the query and of its documents, for the lists with the first query ids."""
    first = heapq.nsmallest(LISTS, eval_lists(examples, domains), key=lambda row: row[f.QUERY_ID].bytes_list.value[0])
    return [
        (row[f.QUERY_TEXT].bytes_list.value[0], list(row[f.DOC_TEXT].bytes_list.value)[:MAX_DOCUMENTS]) for row in first
    ]


def _zero_vectors(
    inputs: Mapping[str, tensor_pb2.TensorProto], signature: meta_graph_pb2.SignatureDef
) -> dict[str, tensor_pb2.TensorProto]:
    """Returns zero vectors in the place of those of a pre-trained encoder outside of the model: enough to warm up."""
    shapes = {f"{name.removesuffix('s')}_vectors": tf.TensorShape(value.tensor_shape) for name, value in inputs.items()}
    return {
        name: tf.make_tensor_proto(0.0, tf.float32, [*shape, signature.inputs[name].tensor_shape.dim[-1].size])
        for name, shape in shapes.items()
    }


def _signatures(model: str) -> Mapping[str, meta_graph_pb2.SignatureDef]:
    """Returns a SavedModel's signatures by their names, without loading it."""
    with tf.io.gfile.GFile(os.path.join(model, GRAPH_FILE), "rb") as file:
        (graph,) = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs
    return dict(graph.signature_def)


def _requests(lists: Sequence[tuple[bytes, list[bytes]]]) -> Iterator[tuple[str, Mapping[str, tensor_pb2.TensorProto]]]:
    """Yields the signature and the inputs of each request."""
    for query, documents in lists:
        yield "score", _scoring([(query, documents)])
        yield "encode_query", {"query": _texts([query])}
        yield "encode_document", {"document": _texts(documents)}
    yield "score", _scoring(lists)
    yield "encode_query", {"query": _texts([query for query, _ in lists])}


def _scoring(lists: Sequence[tuple[bytes, list[bytes]]]) -> dict[str, tensor_pb2.TensorProto]:
    """Returns the queries, and their documents, padded with "" to the longest list."""
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

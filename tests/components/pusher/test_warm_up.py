"""Warm-up requests: real ones, within what TF Serving takes, that the model answers."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import prediction_log_pb2

from components.pusher.warm_up import LISTS, MAX_DOCUMENTS, warm_up
from schemas.domains import EVERY_DOMAIN
from tests.models.loaded_once import model_of_vectors

pytestmark = pytest.mark.stages

MAX_RECORDS = 1000
"""TF Serving's limit."""


@pytest.fixture
def model() -> str:
    return model_of_vectors().path


def write_lists(path: Path, sizes: dict[str, int]) -> list[str]:
    """Lists of queries with so many documents."""
    with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
        for query_id, size in sizes.items():
            texts = {
                "query_id": [query_id],
                "query_text": [f"cat {query_id}"],
                "doc_text": [f"chat {number}" for number in range(size)],
            }
            feature = {
                name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode() for value in values]))
                for name, values in texts.items()
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    return [str(path)]


def requests_in(folder: Path, content: bytes) -> list[tuple[str, dict[str, np.ndarray]]]:
    """The signature and inputs of each request of a warm-up file, as TF Serving reads it."""
    (folder / "requests").write_bytes(content)
    records = tf.data.TFRecordDataset(str(folder / "requests")).as_numpy_iterator()
    logs = [prediction_log_pb2.PredictionLog.FromString(record) for record in records]
    requests = [log.predict_log.request for log in logs]
    return [
        (request.model_spec.signature_name, {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()})
        for request in requests
    ]


def test_each_list_is_asked_for_alone_and_all_together(tmp_path, model):
    files = write_lists(tmp_path / "lists", {"q2": 1, "q1": 2})
    requests = [
        (signature, {name: texts.tolist() for name, texts in inputs.items()})
        for signature, inputs in requests_in(tmp_path, warm_up(model, files, EVERY_DOMAIN))
    ]
    assert requests == [
        ("score", {"query": [b"cat q1"], "documents": [[b"chat 0", b"chat 1"]]}),
        ("encode_query", {"query": [b"cat q1"]}),
        ("encode_document", {"document": [b"chat 0", b"chat 1"]}),
        ("score", {"query": [b"cat q2"], "documents": [[b"chat 0"]]}),
        ("encode_query", {"query": [b"cat q2"]}),
        ("encode_document", {"document": [b"chat 0"]}),
        ("score", {"query": [b"cat q1", b"cat q2"], "documents": [[b"chat 0", b"chat 1"], [b"chat 0", b""]]}),
        ("encode_query", {"query": [b"cat q1", b"cat q2"]}),
    ]


def test_the_model_answers_every_request(tmp_path, model):
    files = write_lists(tmp_path / "lists", {f"q{number}": number % 3 + 1 for number in range(30)})
    requests = requests_in(tmp_path, warm_up(model, files, EVERY_DOMAIN))
    for signature, inputs in requests:
        for output in model_of_vectors().call(signature, inputs).values():
            assert output.shape[0] == len(next(iter(inputs.values())))
    assert {signature for signature, _ in requests} == {"score", "encode_query", "encode_document"}


def test_there_are_no_more_requests_and_rows_than_tf_serving_takes(tmp_path, model):
    files = write_lists(tmp_path / "lists", {f"q{number}": 500 for number in range(40)})
    requests = requests_in(tmp_path, warm_up(model, files, EVERY_DOMAIN))
    assert len(requests) == 3 * LISTS + 2 < MAX_RECORDS
    batching = Path(__file__).parents[3] / "smooth_clir" / "serving" / "tf_serving" / "batching.config"
    (max_rows,) = [int(line.split()[3]) for line in batching.read_text().splitlines() if "max_batch_size" in line]
    assert max(len(texts) for _, inputs in requests for texts in inputs.values()) <= MAX_DOCUMENTS <= max_rows


def test_equal_examples_in_any_order_make_equal_bytes_and_none_make_none(tmp_path, model):
    sizes = {f"q{number}": number % 3 + 1 for number in range(30)}
    files = write_lists(tmp_path / "files", sizes)
    reversed_files = write_lists(tmp_path / "reversed", dict(reversed(sizes.items())))
    assert warm_up(model, files, EVERY_DOMAIN) == warm_up(model, reversed_files, EVERY_DOMAIN) != b""
    assert warm_up(model, write_lists(tmp_path / "lists", {}), EVERY_DOMAIN) == b""


def test_a_signature_that_the_model_lacks_is_not_requested(tmp_path):
    graph = saved_model_pb2.SavedModel()
    text_format.Parse('meta_graphs { signature_def { key: "score" value {} } }', graph)
    (tmp_path / "saved_model.pb").write_bytes(graph.SerializeToString())
    files = write_lists(tmp_path / "lists", {"q1": 2})
    assert {signature for signature, _ in requests_in(tmp_path, warm_up(str(tmp_path), files, EVERY_DOMAIN))} == {
        "score"
    }

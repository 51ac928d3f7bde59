"""Scoring with an exported model."""

import numpy as np
import pytest
import tensorflow as tf

from components.evaluator import evaluate
from models.text_lists import TextList

pytestmark = pytest.mark.serving


class LengthModel(tf.Module):
    """Scores a document by its length, and the query's."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None, None], tf.string)])
    def score(self, query, documents):
        lengths = tf.strings.length(documents) + 10 * tf.strings.length(query)[:, tf.newaxis]
        return {"scores": tf.cast(lengths, tf.float32)}


def test_lists_of_any_size_are_scored_in_batches(tmp_path, monkeypatch):
    model = LengthModel()
    tf.saved_model.save(model, str(tmp_path), signatures={"score": model.score})
    monkeypatch.setattr(evaluate, "_BATCH", 2)
    texts = [(b"a", [b"b", b"bb", b"bbb"]), (b"aa", [b"b"]), (b"aaa", [b"bb", b""])]
    lists = [TextList(b"q", query, [], documents, np.asarray([])) for query, documents in texts]
    assert [scores.tolist() for scores in evaluate.score_lists(str(tmp_path), lists)] == [
        [10 + 1, 10 + 2, 10 + 3],
        [20 + 1],
        [30 + 2, 30 + 0],
    ]

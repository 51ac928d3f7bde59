"""Scoring with an exported model."""

import shutil

import pytest
import tensorflow as tf

from models.evaluation import score_lists as module
from models.evaluation.score_lists import score_lists
from schemas.errors import DataError
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.stages


class LengthModel(tf.Module):
    """Scores a document by its length, and ten times the query's: two channels."""

    def __init__(self):
        super().__init__()
        self.weight = tf.Variable(10)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None, None], tf.string)])
    def score(self, query, documents):
        document = tf.cast(tf.strings.length(documents), tf.float32)
        lengths = tf.cast(self.weight * tf.strings.length(query)[:, tf.newaxis], tf.float32)
        query = tf.broadcast_to(lengths, tf.shape(documents))
        return {"scores": document + query, "document": document, "query": query}

    @tf.function(input_signature=[])
    def channel_weights(self):
        return {"document": tf.constant(1.0), "query": tf.constant(1.0)}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("model"))
    model = LengthModel()
    tf.saved_model.save(model, path, signatures={"score": model.score, "channel_weights": model.channel_weights})
    return path


@pytest.mark.parametrize("cells", [1, 6, 100])
def test_lists_of_any_size_are_scored_in_batches(model, monkeypatch, cells):
    monkeypatch.setattr(module, "_BATCH_CELLS", cells)
    texts = [("a", ["b", "bb", "bbb"]), ("aa", ["b"]), ("aaa", ["bb", "bbbb"])]
    lists = text_lists(
        (query, query, {document: (document, 0) for document in documents}) for query, documents in texts
    )
    scores = {
        name: [list_scores.tolist() for list_scores in scores] for name, scores in score_lists(model, lists).items()
    }
    assert scores == {
        "scores": [[10 + 1, 10 + 2, 10 + 3], [20 + 1], [30 + 2, 30 + 4]],
        "document": [[1, 2, 3], [1], [2, 4]],
        "query": [[10, 10, 10], [20], [30, 30]],
    }


def test_a_batch_holds_no_more_padded_places_than_allowed_but_one_list_at_least(monkeypatch):
    monkeypatch.setattr(module, "_BATCH_CELLS", 6)
    batches = module._batches([1, 3, 2, 1, 1, 1, 1, 1, 1, 9, 1])
    assert [*batches] == [[0, 1], [2, 3, 4], [5, 6, 7, 8], [9], [10]]


def test_a_folder_without_a_model_is_named(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(DataError, match=f"^{folder} "):
            score_lists(str(folder), text_lists([]))


@pytest.mark.parametrize(
    "name", ["saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"]
)
def test_a_model_with_half_a_file_is_named(model, tmp_path, name):
    torn = shutil.copytree(model, tmp_path / "torn")
    content = (torn / name).read_bytes()
    (torn / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=f"^{torn} "):
        score_lists(str(torn), text_lists([]))


def test_a_model_that_is_not_ours_is_named(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path))
    with pytest.raises(DataError, match=f"^{tmp_path} .* score"):
        score_lists(str(tmp_path), text_lists([]))

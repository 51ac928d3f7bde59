"""Scorers that are added without touching another module: training, export and ranking take them as they are.

One is no inner product, one has two different functions; each may be a second channel. `tests/added_parts.py` has more.
"""

import numpy as np
import pytest
import tensorflow as tf

from models.evaluation.score_lists import score_lists
from models.exported.export import export_ranker
from models.exported.model import LoadedModel
from models.losses.tf_ranking import SoftmaxLoss
from models.objectives.objective import RankingObjective
from models.rankers.ranker import Ranker
from models.rankers.scorer import Bounds, InnerProduct, Scorer
from models.rankers.settings import TwoTowersSettings
from models.training.list_evaluator import ListEvaluator
from models.training.settings import TrainingSettings
from models.training.train import train
from schemas import features as f
from schemas.errors import DataError
from schemas.relevance import MOST_RELEVANT
from schemas.wikiclir import Text
from smooth_clir.retrieval.document_ranker import DocumentRanker
from tests.models.eagerly import EAGERLY, with_graphs
from tests.models.small_model import small_text_features, small_towers
from tests.models.synthetic import ranking_lists, text_lists

pytestmark = [pytest.mark.stages, *EAGERLY]

QUERIES = {"q1": "white cat", "q2": "dog", "q3": "cat", "q4": "white dog"}
DOCUMENTS = {"d1": "chat blanc", "d2": "un chien", "d3": "chat", "d4": "un blanc"}
GRADES = [[2, 0, 1, 0], [0, 2, 0, 1], [1, 0, 2, 0], [0, 2, 0, 1]]
TEXTS = text_lists(
    (query_id, text, {doc_id: (DOCUMENTS[doc_id], grade) for doc_id, grade in zip(DOCUMENTS, grades, strict=True)})
    for (query_id, text), grades in zip(QUERIES.items(), GRADES, strict=True)
)
# The same, by the places of their words in the vocabularies.
LISTS = ranking_lists([[0, 1], [2], [1], [0, 2]], [[0, 1], [3, 2], [0], [3, 1]], [[0, 1, 2, 3]] * 4, GRADES)


class Overlap(Scorer):
    """A scorer that is no inner product, with a weight and a lookup table of its own.

    Its scores are the share of a query's words, translated by the table, that the document holds, times the weight: in
    training by tokens, in serving by the texts.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.weight = self.add_weight(name="weight", shape=(), initializer="ones")
        words = tf.lookup.KeyValueTensorInitializer(["white", "cat", "dog"], ["blanc", "chat", "chien"])
        self._translation = tf.lookup.StaticHashTable(words, "")

    @property
    def bounds(self):
        return Bounds(0.0, float("inf"))

    def call(self, features, training=False):
        translated = tf.gather([1, 0, 2], features[f.QUERY_TOKENS])  # as the vocabularies have them
        return self._shares(translated, features[f.DOC_TOKENS], features[f.DOCUMENT_INDEX])

    def score_texts(self, features):
        translated = tf.ragged.map_flat_values(self._translation.lookup, tf.strings.split(features[f.QUERY_TEXT]))
        return self._shares(translated, tf.strings.split(features[f.DOC_TEXT]), features[f.DOCUMENT_INDEX])

    def _shares(self, query, document, index):
        words = query.to_tensor()[:, tf.newaxis, :, tf.newaxis]
        document_words = tf.gather(document.to_tensor(), tf.maximum(index, 0))[:, :, tf.newaxis]
        real = tf.sequence_mask(query.row_lengths())[:, tf.newaxis, :, tf.newaxis]
        lengths = tf.gather(document.row_lengths(), tf.maximum(index, 0))
        there = tf.sequence_mask(lengths, tf.shape(document_words)[-1])[:, :, tf.newaxis]
        hits = tf.reduce_any((words == document_words) & real & there, axis=-1)
        shares = tf.reduce_sum(tf.cast(hits, tf.float32), axis=-1) / tf.cast(query.row_lengths(), tf.float32)[:, None]
        return self.weight * shares


class AsymmetricTowers(InnerProduct):
    """An inner product whose two functions differ: a query has one number more of its own."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.bias = self.add_weight(name="bias", shape=(), initializer="zeros")

    @property
    def bounds(self):
        return Bounds(-float("inf"), float("inf"))

    def query_vector(self, features, training=False):
        counts = tf.cast(features[f.QUERY_TOKENS].row_lengths(), tf.float32)
        return tf.stack([counts, tf.ones_like(counts)], axis=1)

    def document_vector(self, features, training=False):
        counts = tf.cast(features[f.DOC_TOKENS].row_lengths(), tf.float32)
        return tf.stack([-counts, tf.fill(tf.shape(counts), self.bias)], axis=1)


@with_graphs()
def exported(ranker, folder):
    export_ranker(ranker, small_text_features(folder / "words"), str(folder / "model"))
    return str(folder / "model")


def scores_of(path, query, documents):
    return {name: np.array(scores) for name, scores in LoadedModel(path).score(query, documents).items()}


def test_a_scorer_that_is_no_inner_product_is_trained_exported_and_ranks(tmp_path):
    ranker = Ranker({"overlap": Overlap()})
    settings = TrainingSettings(epochs=3, batch_lists=2, device="cpu").for_towers(TwoTowersSettings())
    evaluator = ListEvaluator(ranker, LISTS, MOST_RELEVANT)
    folders = [str(tmp_path / name) for name in ("log", "checkpoint")]
    history = train(RankingObjective(ranker, SoftmaxLoss(reduction="none")), LISTS, evaluator, settings, *folders)
    assert history.history[-1].figures["train/loss"] < history.history[0].figures["train/loss"]
    weight = float(ranker.channels["overlap"].weight)
    assert weight > 1
    path = exported(ranker, tmp_path)
    scores = scores_of(path, "white cat", ["chat blanc", "un blanc", "un chien", ""])
    assert scores["scores"] == pytest.approx([weight, weight / 2, 0, -1])  # padding: below the range
    ranked = ranker(LISTS.batch(tf.range(4))[0]).numpy()
    for list_scores, text_scores in zip(ranked, score_lists(path, TEXTS)["scores"], strict=True):
        np.testing.assert_allclose(text_scores, list_scores, atol=1e-6)
    documents = [Text(doc_id, "", text, 1) for doc_id, text in DOCUMENTS.items()]
    hits = DocumentRanker(LoadedModel(path), documents).rank("white cat", 2)
    assert [(hit.doc_id, hit.score) for hit in hits] == [
        ("d1", pytest.approx(weight)),
        ("d4", pytest.approx(weight / 2)),
    ]
    signatures = {"serving_default", "score", "channel_weights", "grade_bands"}
    assert {*tf.saved_model.load(path).signatures} == signatures
    with pytest.raises(DataError, match=f"{path} .*encode_query"):
        LoadedModel(path, "encode_query", "encode_document")


def test_channels_that_are_inner_products_are_one_together(tmp_path):
    ranker = Ranker({"cosine": small_towers(), "counts": AsymmetricTowers()}, {"cosine": 2.0, "counts": -0.5})
    ranker(LISTS.batch(tf.constant([0]))[0])
    path = exported(ranker, tmp_path)
    model = LoadedModel(path, "encode_query", "encode_document")
    texts = list(DOCUMENTS.values())
    query = model.encode_query("white cat").vector
    vectors = model.tensors("encode_document", document=tf.constant(texts))["vector"].numpy()
    scores = scores_of(path, "white cat", texts)
    np.testing.assert_allclose(vectors @ query, scores["scores"], atol=1e-6)
    np.testing.assert_allclose(scores["scores"], 2 * scores["cosine"] - 0.5 * scores["counts"], atol=1e-6)
    assert scores["counts"].tolist() == [-2 * len(text.split()) for text in texts]


def test_a_second_channel_adds_its_weighted_scores_and_stands_beside_the_first():
    ranker = Ranker({"smooth_cosine": small_towers(), "overlap": Overlap()}, {"smooth_cosine": 1.0, "overlap": 0.25})
    features = LISTS.batch(tf.constant([0]))[0]
    ranker(features)
    assert ranker.figures()["score_gradient/bound"] == 1  # the towers' own, in a sum, too
    features |= {f.QUERY_TEXT: TEXTS.query_columns[f.QUERY_TEXT][:1], f.DOC_TEXT: TEXTS.document_columns[f.DOC_TEXT]}
    scores = {name: values.numpy() for name, values in ranker.score_texts(features).items()}
    assert scores.keys() == {"scores", "smooth_cosine", "overlap"}
    assert scores["overlap"].max() > 0
    np.testing.assert_allclose(scores["scores"], scores["smooth_cosine"] + 0.25 * scores["overlap"], atol=1e-6)
    # Padding scores below the range of each, and of the sum, -1 + 0.25 * 0; the cosine's is its lowest score.
    assert ranker.padded_scores == {"scores": -2, "smooth_cosine": -1, "overlap": -1}


@pytest.mark.parametrize(
    ("channels", "weights"),
    [([], None), (["scores"], None), (["one"], {"one": 1.0}), (["one", "two"], None), (["one", "two"], {"one": 1.0})],
)
def test_channels_without_a_name_or_a_weight_of_their_own_are_refused(channels, weights):
    with pytest.raises(ValueError, match="'scores'"):
        Ranker({name: Overlap() for name in channels}, weights)


def test_the_range_of_a_sum_is_the_weighted_sum_of_the_channels():
    cosine, dot = small_towers(), small_towers(similarity="dot")
    assert Ranker({"a": cosine}).score_range == (-1, 1)
    assert Ranker({"a": cosine, "b": dot}, {"a": 1.0, "b": -0.5}).score_range == (-2, 2)
    assert Ranker({"a": cosine, "b": Overlap()}, {"a": 1.0, "b": 0.0}).score_range == (-1, 1)
    assert Ranker({"a": cosine, "b": Overlap()}, {"a": 1.0, "b": -2.0}).score_range == (-float("inf"), 1)
    assert Ranker({"a": cosine, "b": Overlap()}, {"a": 1.0, "b": -2.0}).padded_scores["scores"] == -1e30


def test_two_figures_of_one_name_are_refused():
    ranker = Ranker({"a": small_towers(), "b": small_towers()}, {"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match="score_gradient/bound"):
        ranker.figures()

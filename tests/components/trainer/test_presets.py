"""Presets and features that decide a training: each is trained and exported on thirty lists in memory."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from models.evaluation.list_metrics import list_metrics, means
from models.evaluation.metrics import METRICS
from models.evaluation.score_lists import score_lists
from models.exported.signatures import as_texts
from models.lexicon.lexicon import COLLECTION_FILE, CollectionRecord, read_lexicon
from models.training import train_ranker
from schemas.wikiclir import Text
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.engine import Engine
from smooth_clir.serving.label_queries import label_queries
from tests import added_parts
from tests.components.trainer.thirty_lists import DOCUMENTS, HELD_OUT, Stages, lists_of
from tests.models.eagerly import EAGERLY, with_graphs
from tests.models.lexicon.small_lexicon import table_of

# The first test of each training takes up to ten seconds: its stages, and the export of its model.
pytestmark = [pytest.mark.stages, *EAGERLY]

QUERY = "the river near a bridge"
TEXTS = [*DOCUMENTS.values()][:4]
TRAINING = ("Transform", "LexiconGen", "Trainer")
FEW = {"epochs": 2, "batch_lists": 15, "device": "cpu"}
TRAININGS: dict[str, dict[str, Any]] = {
    "polynomial": {
        "preset": "polynomial",
        "training": FEW,
        "channels": {"towers": {"embedding_dim": 8}, "lsi": {"kind": "cl_lsi", "weight": 0.25, "dim": 8}},
        "feedback": {"gain": 4, "documents": "fitted"},
        "search": {"index": True},
    },
    "segmented": {
        "preset": "best",
        "training": FEW,
        "data": {"segmented": True, "max_document_tokens": 9},
        "channels": {
            "towers": {"encoder": {"kind": "linear", "initial_scale": 10.0}, "similarity": "dot", "weight": 1.0},
            "lexicon": {"weight": 0.5},
        },
    },
    "cossim": {"preset": "cossim", "training": FEW, "channels": {"towers": {"units": 2}}},
    "duet_distributed": {
        "preset": "duet_distributed",
        "training": {**FEW, "epochs": 5, "learning_rate": 0.02},
        "channels": {"towers": {"filters": 4}},
    },
    "added": {
        "preset": "paper",
        "channels": {"towers": {"kind": "wide", "dim": 6}, "near": {"kind": "length", "weight": 0.25}},
        "loss": {"kind": "huber", "delta": 0.2},
        "training": {**FEW, "objective": {"kind": "guessing", "rate": 0.02}, "learning_rate": 0.05},
    },
}
CHANNELS = {
    "polynomial": {"dot": 1.0, "lexicon": "fitted", "lsi": 0.25},
    "segmented": {"dot": 1.0, "lexicon": 0.5},
    "cossim": {"cossim": 1.0},
    "duet_distributed": {"duet_distributed": 1.0},
    "added": {"wide": 1.0, "near": 0.25},
}
"""The weight of each channel."""
COSSIM = pytest.param("cossim", marks=pytest.mark.long)  # an LSTM, whose graphs take ten seconds


@pytest.fixture(scope="module", autouse=True)
def added_entries():
    with pytest.MonkeyPatch.context() as patch:
        added_parts.add_entries(patch)
        yield


@pytest.fixture(scope="module")
def make(without_graphs, make_examples, tmp_path_factory):
    """Calls the stages of settings on the lists, of which those held out may have other grades."""

    def make(settings, names=TRAINING, held_out_grade=int):
        folder = tmp_path_factory.mktemp("stages")
        lists = lists_of(20, held_out_grade)
        examples = make_examples(folder, lists, lists_of(30, held_out_grade), lists)
        examples.set_string_custom_property("file_format", "tfrecords_gzip")
        examples.set_string_custom_property("payload_format", "FORMAT_TF_EXAMPLE")
        return Stages(folder, examples, settings, names)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("export_ranker", "write_words"):
            patch.setattr(train_ranker, name, with_graphs()(getattr(train_ranker, name)))
        yield make


@pytest.fixture(scope="module")
def trained(make):
    """The stages of one of the trainings, each called once."""
    return cache(lambda name: make(TRAININGS[name], (*TRAINING, "CorpusIndexer") if name == "polynomial" else TRAINING))


every_training = pytest.mark.parametrize("name", ["polynomial", "segmented", "duet_distributed", "added", COSSIM])


@every_training
def test_the_loss_falls_and_no_report_states_a_bound_that_does_not_hold(trained, name) -> None:
    from components.training_report.stability_report import stability_report

    config, history = trained(name).config, trained(name).history
    losses = [row.figures["train/loss"] for row in history.history]
    assert losses[-1] < losses[0]
    report = stability_report(config.channels.towers, config.loss, config.data.top_grade, 0.1, history)
    assert (report.largest_score, report.gradient_bound, report.unreachable) == (None, None, ())


@every_training
def test_the_exported_model_ranks_the_eval_lists_as_training_did_with_the_last_weight(trained, name) -> None:
    stages = trained(name)
    lists = stages.lists("eval")
    scores = score_lists(stages.model.path, lists)["scores"]
    metrics = means(list_metrics(lists, scores, 2))
    expected = {key: stages.history.best.figures[f"eval/{key}"] for key in METRICS}
    for fitted in stages.history.fitted.values():
        (tried,) = (tried for tried in fitted.curve if tried.value == fitted.value)
        expected = {"ndcg_5": tried.ndcg_5, "p_mr_1": tried.p_mr_1}
    # Duet's maxima over windows are nearly the same for some documents, which rounding orders.
    tolerance = 0.05 if name == "duet_distributed" else 1e-6
    assert {key: metrics[key] for key in expected} == pytest.approx(expected, abs=tolerance)


@every_training
def test_the_weighted_channels_add_up_to_the_score_and_padding_ranks_last(trained, name) -> None:
    stages = trained(name)
    weights = {
        channel: stages.history.fitted[f"{channel}.weight"].value if weight == "fitted" else weight
        for channel, weight in CHANNELS[name].items()
    }
    assert stages.model.channel_weights == pytest.approx(weights)
    scores = {channel: np.array(values) for channel, values in stages.model.score(QUERY, [*TEXTS, ""]).items()}
    assert scores.keys() == {"scores", *weights}
    total = sum(weight * scores[channel] for channel, weight in weights.items())
    np.testing.assert_allclose(scores["scores"][:-1], total[:-1], rtol=1e-5, atol=1e-5)
    distance = 0 if name == "cossim" else 1e6  # where a score has no bound
    assert scores["scores"][-1] < min(scores["scores"][:-1]) - distance


@pytest.mark.parametrize("name", ["polynomial", "segmented", COSSIM])
def test_vectors_and_terms_give_the_score_and_its_explanation_adds_up_to_it(trained, name) -> None:
    model = trained(name).model
    scores = model.score(QUERY, TEXTS)["scores"]
    query, documents = model.encode_query(QUERY), model.call("encode_document", {"document": as_texts(TEXTS)})
    products = documents["vector"] @ query.vector
    if model.words_channel:
        weights = dict(zip(query.terms.tolist(), query.weights.tolist(), strict=True))
        for row, (stems, values) in enumerate(zip(documents["stems"], documents["weights"], strict=True)):
            products[row] += sum(weights.get(stem, 0) * value for stem, value in zip(stems, values, strict=True))
    np.testing.assert_allclose(products, scores, rtol=1e-4, atol=1e-5)
    explanation = model.explain(QUERY, TEXTS[1])
    assert sum(part.part for part in explanation.parts) == pytest.approx(scores[1], rel=1e-4, abs=1e-5)
    if name in ("cossim", "segmented"):  # vectors that are no sums over words
        assert {word.dense for word in explanation.words} == {None}
        return
    dense = sum(part.part for part in explanation.parts if part.name != model.words_channel)
    assert sum(word.dense or 0 for word in explanation.words) == pytest.approx(dense, rel=1e-4, abs=1e-5)


@every_training
def test_a_graph_has_no_ops_of_others_but_those_that_part_texts_into_words(trained, name) -> None:
    content = Path(trained(name).model.path, "saved_model.pb").read_bytes()
    (graph,) = saved_model_pb2.SavedModel.FromString(content).meta_graphs
    functions = graph.graph_def.library.function
    ops = {node.op for nodes in (graph.graph_def.node, *(func.node_def for func in functions)) for node in nodes}
    foreign = {op for op in ops - {func.signature.name for func in functions} if not hasattr(tf.raw_ops, op)}
    assert foreign == {"CaseFoldUTF8", "NormalizeUTF8"}


def test_the_second_pass_is_that_of_the_settings_and_of_the_eval_split(trained) -> None:
    stages = trained("polynomial")
    documents = stages.history.fitted["feedback.documents"]
    assert stages.model.feedback == (4, documents.value)
    assert [tried.value for tried in documents.curve] == [1, 2, 3, 5]
    best = trained("segmented")
    fitted = [best.history.fitted[f"feedback.{name}"].value for name in ("gain", "documents")]
    assert [*best.model.feedback] == fitted
    assert trained("duet_distributed").model.feedback.gain == 0


def test_with_few_train_queries_best_is_its_lexicon(make) -> None:
    stages = make({"preset": "best", "training": FEW, "channels": {"encoder": None}})
    scores = stages.model.score(QUERY, TEXTS)
    assert stages.model.channel_weights == {"smooth_cosine": 0.0, "lexicon": 0.5}
    assert scores["scores"] == pytest.approx([0.5 * score for score in scores["lexicon"]])
    assert (len(stages.history.history), stages.model.theta) == (1, ())


def test_polynomial_starts_from_the_lexicon_with_stems_alone(trained) -> None:
    stages = trained("polynomial")
    assert {Path(path).name for path in stages.files("Transform", "transform_graph", "transform_fn", "assets")} >= {
        "query_stem_vocabulary",
        "document_stem_vocabulary",
    }
    assert (
        stages.config.channels.towers.reads.starts_from_lexicon
    )  # tests of models try what it starts from: a few steps undo it


def test_white_space_alone_parts_the_words_of_every_stage_of_a_segmented_collection(trained) -> None:
    stages = trained("segmented")
    assets = stages.files("Transform", "transform_graph", "transform_fn", "assets")
    assert "l'un" in assets["document_vocabulary"].decode().split("\n")
    record = CollectionRecord.from_json(stages.files("LexiconGen", "lexicon")[COLLECTION_FILE].decode())
    assert (record.rules.max_tokens, record.rules.segmented) == (9, True)
    assert stages.model.is_segmented
    explanation = stages.model.explain("the wolf", "«L'Été», un loup-garou dort et il a froid ce soir")
    assert [word.text for word in explanation.words][:3] == ["L'Été", "un", "loup-garou"]
    assert [word.is_scored for word in explanation.words] == [True] * 9 + [False]


def test_the_second_network_of_an_added_objective_learns(trained) -> None:
    guesses = [row.figures["train/guess"] for row in trained("added").history.history]
    assert guesses[-1] < guesses[0] < np.log(2)


# An index


@pytest.fixture(scope="module")
def engine(trained) -> Engine:
    stages = trained("polynomial")
    return Engine(stages.model, CorpusIndex(str(stages.folder / "CorpusIndexer" / "index")), "1")


def test_a_sum_of_channels_with_vectors_is_searched_by_the_whole_score(trained, engine) -> None:
    model = trained("polynomial").model
    answer = engine.search(QUERY, 5, with_snippets=True, with_texts=True)
    scores = model.score(QUERY, [hit.text or "" for hit in answer.results])["scores"]
    assert [hit.dense + hit.words for hit in answer.results] == pytest.approx(scores, abs=1e-5)
    totals = [hit.score for hit in answer.results]
    assert totals == sorted(totals, reverse=True)
    assert engine.explain(QUERY, answer.results[0].place, None).score == pytest.approx(totals[0], abs=1e-5)
    assert model.theta == ()  # thresholds are on the scale of the trained scores


# Domains


def settings_of(held_out, lexicon=None, **sections):
    sections |= {"training": FEW, "channels": {"towers": {"embedding_dim": 8}, "lexicon": lexicon or {}}}
    return {"preset": "best", "data": {"domains": "domains.tsv", "held_out": held_out}, **sections}


def test_labels_of_queries_without_judgments_teach_the_lexicon_their_words(make, engine, tmp_path) -> None:
    queries = [Text(query_id, "", text, 1) for query_id, (text, _) in lists_of(30).items() if HELD_OUT in query_id]
    labels = label_queries(queries, "queries.tsv", engine, share=0.67)
    assert len(labels.pairs) == labels.queries.used == round(0.67 * len(queries))
    topic_of = {text: doc_id[1:] for doc_id, text in DOCUMENTS.items()}
    rows = {query.text: str(int(query.id.partition("/")[2]) % 10) for query in queries}
    pairs = [pair.split("\t") for pair in labels.pairs]
    assert sum(topic_of[document] == rows[query] for query, document in pairs) > 0.7 * len(pairs)
    (tmp_path / "pairs.tsv").write_text("".join(f"{pair}\n" for pair in labels.pairs))
    known = {}
    for name, lexicon in (("before", {}), ("after", {"pairs": str(tmp_path / "pairs.tsv")})):
        stages = make(settings_of([HELD_OUT], lexicon=lexicon), names=("LexiconGen",))
        table = table_of(read_lexicon(str(stages.folder / "LexiconGen" / "lexicon")))
        known[name] = {word for query, _ in pairs for word in query.split() if word in table}
    assert known["before"] < known["after"]


def test_grades_of_held_out_queries_change_nothing_that_is_learned_and_an_adversary_sees_their_texts(
    make, monkeypatch
) -> None:

    rankers = []

    def keep(ranker, text_features, path, *arguments):
        Path(path).mkdir(parents=True)
        rankers.append(ranker)

    monkeypatch.setattr(train_ranker, "export_ranker", keep)
    monkeypatch.setattr(train_ranker, "write_words", lambda *arguments: None)
    settings = settings_of([HELD_OUT], adversary={"weight": 0.01, "held_out_texts": True})
    first, flipped = (make(settings, held_out_grade=grade) for grade in (int, lambda grade: 2 - grade))
    for parts in (("LexiconGen", "lexicon"), ("Transform", "transform_graph", "transform_fn", "assets")):
        assert first.files(*parts) == flipped.files(*parts) != {}
    assert all(map(np.array_equal, *(ranker.get_weights() for ranker in rankers)))
    assert first.history.history == flipped.history.history
    for row in first.history.history:
        assert row.figures["train/largest_domain_share"] < 1 / 2  # of three domains, of which two are trained on
        assert row.figures["train/adversary_gradient_norm"] > 0
    # Where a weight is fitted on domains that are left out in turn, each has the lexicon of a run that holds it out.
    fitted = settings_of([], lexicon={"weight": "held_out"})
    in_domain = make(fitted, names=("LexiconGen",)).files("LexiconGen", "lexicon")
    own = first.files("LexiconGen", "lexicon")
    assert {path: in_domain[f"without/2/{path}"] for path in own} == own
    assert {path: in_domain[path] for path in own} != own

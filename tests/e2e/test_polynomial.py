"""Polynomial Semantic Indexing on the sample: its preset, and the sum that is trained, from files to search."""

import json

import numpy as np
import pytest

from models.choices import SCORES
from models.exported.model import LoadedModel, as_texts
from tests.e2e.process import SAMPLE, SampleRun, forked
from tests.e2e.saved_model import foreign_ops

pytestmark = pytest.mark.long

QUERY = "molten rock below a volcano"
EPOCHS = ("--set", "training.epochs=2")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    """The preset: degree 2, started from the lexicon and fitted beside it, an index, and some of its rivals."""
    baselines = "evaluation.baselines=[bm25, translated, cl_lsi, perceptron]"
    settings = ("--set", "preset=polynomial", "--set", "search.index=true", "--set", baselines, *EPOCHS)
    run = SampleRun(tmp_path_factory.mktemp("polynomial") / "out", "configs/sample.yaml", *settings)
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="module")
def model(run: SampleRun) -> LoadedModel:
    (version,) = run.versions
    return LoadedModel(str(version))


def texts(model: LoadedModel) -> list[str]:
    lines = (SAMPLE / "wiki_fr.documents").read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[2] for line in lines[:20]]


def test_it_ranks_above_bm25_and_above_its_vectors_alone(run: SampleRun) -> None:
    found = run.report
    assert found["channels"].keys() == {"dot", "lexicon"}
    others = [found["channels"]["dot"], *found["baselines"].values()]
    assert all(found["metrics"]["ndcg_5"] > other["ndcg_5"] for other in others)


def test_its_rivals_are_evaluated_beside_it_with_their_parameters(run: SampleRun) -> None:
    assert run.report["baselines"].keys() == {"random", "bm25", "translated", "cl_lsi", "perceptron"}
    parameters = run.report["parameters"]
    assert parameters.keys() == {"translated", "cl_lsi", "perceptron"}
    assert parameters["translated"]["translation"] in ("best", "all")
    assert parameters["cl_lsi"]["dim"] >= 50
    assert run.stages["Rivals"] is False


def test_the_weight_is_fitted_on_a_grid_that_goes_on_to_sixteen(run: SampleRun, model: LoadedModel) -> None:
    fitted = json.loads((run.output / "training" / "training.json").read_text())["fitted"]["lexicon.weight"]
    assert [one["value"] for one in fitted["curve"]][-1] == 16
    assert model.channel_weights == {"dot": 1.0, "lexicon": pytest.approx(fitted["value"])}


def test_the_exported_vectors_and_terms_give_the_score(model: LoadedModel) -> None:
    documents = texts(model)
    query = model.encode_query(QUERY)
    encoded = model.call("encode_document", {"document": as_texts(documents)})
    assert query.vector.shape == (300,)
    weights = dict(zip(query.terms.tolist(), query.weights.tolist(), strict=True))
    words = [
        sum(weights.get(stem, 0.0) * weight for stem, weight in zip(stems, of_document, strict=True))
        for stems, of_document in zip(encoded["stems"].tolist(), encoded["weights"].tolist(), strict=True)
    ]
    np.testing.assert_allclose(
        encoded["vector"] @ query.vector + words, model.score(QUERY, documents)[SCORES], rtol=1e-5, atol=1e-5
    )


def test_the_shares_of_words_add_up_to_the_parts(model: LoadedModel) -> None:
    found = model.explain(QUERY, texts(model)[0])
    dense = sum(word.dense or 0.0 for word in found.words)
    assert dense == pytest.approx(found.parts[0].part, abs=1e-5)
    assert found.parts[0].name == "dot"


def test_search_gives_the_models_own_scores(run: SampleRun, model: LoadedModel) -> None:
    done = forked("search", run.output, QUERY, "--json")
    assert done.code == 0, done.err
    hits = json.loads(done.out)["results"]
    lines = (SAMPLE / "wiki_fr.documents").read_text(encoding="utf-8").splitlines()
    text_of = {doc_id: text for doc_id, _, text in (line.split("\t") for line in lines)}
    expected = model.score(QUERY, [text_of[hit["doc_id"]] for hit in hits])[SCORES]
    assert [hit["score"] for hit in hits] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_its_graph_has_no_op_that_tf_serving_lacks(run: SampleRun) -> None:
    (version,) = run.versions
    assert foreign_ops(str(version)) == {"CaseFoldUTF8", "NormalizeUTF8"}


def test_no_report_states_a_bound_that_does_not_hold(run: SampleRun) -> None:
    stability = json.loads((run.output / "training" / "stability.json").read_text())
    assert (stability["largest_score"], stability["gradient_bound"]) == (None, None)


def test_words_have_neighbours_in_both_languages(run: SampleRun) -> None:
    done = forked("neighbours", run.output, "--word", "river", "--json")
    assert done.code == 0, done.err
    (river,) = json.loads(done.out)
    assert len(river["own_side"]) == len(river["other_side"]) == 5
    values = [one["value"] for one in river["other_side"]]
    assert values == sorted(values, reverse=True)


def test_a_cubic_score_is_trained_with_the_lexicon_in_its_loss(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = (
        "preset=polynomial",
        "model.encoder_settings={degree: 3}",
        "lexicon.in_training=true",
        "lexicon.weight=1",
    )
    flags = (*EPOCHS, *(part for one in settings for part in ("--set", one)))
    run = SampleRun(tmp_path_factory.mktemp("cubic") / "out", "configs/sample.yaml", *flags)
    assert run.code == 0, run.err
    (version,) = run.versions
    cubic = LoadedModel(str(version))
    assert cubic.channel_weights == {"dot": 1.0, "lexicon": 1.0}
    found = cubic.explain(QUERY, texts(cubic)[0])
    assert all(word.dense is None for word in found.words)  # a square is no sum over words
    history = json.loads((run.output / "training" / "training.json").read_text())["history"]
    assert history[-1]["train/loss"] < history[0]["train/loss"]

"""The channel cl_lsi on the sample, beside vectors and a lexicon: from the files to the commands that use the model."""

import json

import pytest

from models.evaluation.metrics import METRICS, mean_metrics
from models.evaluation.score_lists import score_lists
from models.exported.model import LoadedModel
from models.lists.ranking_lists import read_lists
from models.rankers.ranker import SCORES
from models.retrieval.corpus_index import CorpusIndex
from models.retrieval.ranking import ranked_grades
from serving.engine import Engine
from tests.e2e.process import SAMPLE, SampleRun, forked
from tests.e2e.saved_model import foreign_ops

pytestmark = pytest.mark.long

QUERY = "molten rock that flows down a mountain"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    settings = (
        *("--set", "training.epochs=2", "--set", "lexicon.weight=fitted", "--set", "search.index=true"),
        *("--set", "channels={lsi: {kind: cl_lsi, weight: fitted, settings: {dim: fitted}}}"),
    )
    run = SampleRun(tmp_path_factory.mktemp("cl_lsi") / "out", "configs/sample.yaml", *settings)
    assert run.code == 0, run.err
    return run


@pytest.fixture(scope="module")
def model(run: SampleRun) -> LoadedModel:
    (version,) = run.versions
    return LoadedModel(str(version))


def history(run: SampleRun) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads((run.output / "training" / "training.json").read_text())["fitted"]
    return found


def test_what_was_fitted_is_in_the_score_and_reported(run: SampleRun, model: LoadedModel) -> None:
    found = {name: one["value"] for name, one in history(run).items()}
    weights = {"smooth_cosine": 1.0, "lexicon": found["lexicon.weight"], "lsi": found["lsi.weight"]}
    assert model.channel_weights == pytest.approx(weights)
    (version,) = run.versions
    card = (version / "MODEL_CARD.md").read_text()
    assert f"plus {found['lsi.weight']:g} times the channel `lsi` (`cl_lsi`, dim {found['lsi.dim']:g})." in card
    assert run.report["channels"].keys() == weights.keys()
    assert "fitted on the eval split: lsi.dim" in run.err


def test_the_exported_model_scores_the_eval_split_as_the_fitted_curve_says(run: SampleRun, model: LoadedModel) -> None:
    lists = read_lists(map(str, run.output.glob("artifacts/WikiClirExampleGen/examples/*/Split-eval/*")))
    scores = score_lists(model.path, lists)
    for name, key in ((SCORES, "lexicon.weight"), (SCORES, "lsi.weight"), ("lsi", "lsi.dim")):
        found = mean_metrics(ranked_grades(lists.query_ids, lists.doc_ids, scores[name], lists.grades), top_grade=2)
        fitted = history(run)[key]
        (best,) = (one for one in fitted["curve"] if one["value"] == fitted["value"])
        assert {metric: found[metric] for metric in METRICS if metric in best} == pytest.approx(
            {metric: best[metric] for metric in METRICS if metric in best}, abs=1e-6
        )


def test_the_index_finds_documents_by_the_whole_score(run: SampleRun, model: LoadedModel) -> None:
    (index,) = (run.output / "artifacts" / "CorpusIndexer" / "index").glob("[0-9]*")
    engine = Engine(model, CorpusIndex(str(index)), "1")
    answer = engine.search(QUERY, 5, with_snippets=True, with_texts=True)
    scores = model.score(QUERY, [hit.text or "" for hit in answer.results])["scores"]
    assert [hit.score for hit in answer.results] == pytest.approx(scores, abs=1e-5)
    explained = engine.explain(QUERY, answer.results[0].place, None)
    assert explained.score == pytest.approx(scores[0], abs=1e-5)
    parts = {part.name: part.part for part in explained.explanation.parts}
    shares = sum(word.dense or 0 for word in explained.explanation.words)
    assert shares == pytest.approx(parts["smooth_cosine"] + parts["lsi"], abs=1e-5)


def test_no_grade_is_shown_where_a_channel_without_thresholds_is_among_the_vectors(model: LoadedModel) -> None:
    assert model.theta == ()


def test_the_commands_rank_and_search_with_it(run: SampleRun) -> None:
    ranked = forked(
        "rank", run.output, "--query", QUERY, "--documents", SAMPLE / "wiki_fr.documents", "--top", "2", "--explain"
    )
    assert ranked.code == 0, ranked.err
    assert ranked.out.count(" lsi\n") == 2
    searched = forked("search", run.output, QUERY, "-k", "2")
    assert searched.code == 0, searched.err
    assert [line.split()[:3] for line in searched.out.splitlines()[::2]] == [
        line.split()[:3] for line in ranked.out.splitlines() if line.split()[0] in ("1", "2")
    ]


def test_its_graph_has_no_op_that_tf_serving_lacks(model: LoadedModel) -> None:
    assert foreign_ops(model.path) == {"CaseFoldUTF8", "NormalizeUTF8"}

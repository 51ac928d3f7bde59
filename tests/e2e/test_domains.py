"""A whole run on the sample of Polynomial Semantic Indexing with a held-out domain, an adversary, rivals and an index.

What such a training learns is tested on thirty lists in `tests/components/trainer/test_presets.py`.
"""

import json
from pathlib import Path

import pytest

from models.exported.model import LoadedModel
from schemas.splits import stable_hash
from tests.e2e.process import SAMPLE, SampleRun, forked
from tests.e2e.saved_model import foreign_ops

pytestmark = pytest.mark.long

NAMES = ("arts", "places", "science")
HELD_OUT = "science"
QUERY = "molten rock below a volcano"


def domain_of(query_id: str) -> str:
    return NAMES[stable_hash("domain", query_id) % 3]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SampleRun:
    folder = tmp_path_factory.mktemp("domains")
    ids = [line.split("\t")[0] for line in (SAMPLE / "wiki_en.queries").read_text().splitlines()]
    domains = folder / "domains.tsv"
    domains.write_text("".join(f"{query_id}\t{domain_of(query_id)}\n" for query_id in ids))
    settings = (
        "preset=polynomial",
        "training.epochs=2",
        f"data.domains={domains}",
        f"data.held_out=[{HELD_OUT}]",
        "adversary={weight: 0.01, held_out_texts: true}",
        "channels.lexicon.weight=held_out",
        "evaluation.baselines=[bm25, translated, cl_lsi, perceptron]",
        "search.index=true",
    )
    run = SampleRun(folder / "out", "configs/sample.yaml", *(f"--set={setting}" for setting in settings))
    assert run.code == 0, run.err
    return run


def test_only_test_lists_of_the_held_out_domain_are_evaluated_and_the_card_says_so(run: SampleRun) -> None:
    assert [*run.report["domains"]] == [HELD_OUT]
    assert run.report["domains"][HELD_OUT]["metrics"] == run.report["metrics"]
    _, *lines = (run.output / "evaluation" / "per_query.tsv").read_text().splitlines()
    assert {domain_of(line.split("\t")[0]) for line in lines} == {HELD_OUT}
    (version,) = run.versions
    assert f"`{HELD_OUT}`" in (version / "MODEL_CARD.md").read_text()


def test_a_held_out_weight_is_fitted_without_each_trained_domain_in_turn(run: SampleRun) -> None:
    lines = [line for line in run.err.splitlines() if "without the domain" in line]
    assert [name for line in lines for name in NAMES if name in line] == [name for name in NAMES if name != HELD_OUT]
    weight = json.loads((run.output / "training" / "training.json").read_text())["fitted"]["lexicon.weight"]
    (version,) = run.versions
    assert LoadedModel(str(version)).channel_weights == {"dot": 1.0, "lexicon": pytest.approx(weight["value"])}


def test_rivals_are_evaluated_beside_it_with_their_parameters(run: SampleRun) -> None:
    assert run.report["baselines"].keys() == {"random", "bm25", "translated", "cl_lsi", "perceptron"}
    parameters = run.report["parameters"]
    assert parameters.keys() == {"translated", "cl_lsi", "perceptron"}
    assert parameters["translated"]["translation"] in ("best", "all")
    assert parameters["cl_lsi"]["dim"] >= 50


def test_search_gives_the_models_own_scores_and_its_graph_has_no_op_that_tf_serving_lacks(run: SampleRun) -> None:
    (version,) = run.versions
    done = forked("search", run.output, QUERY, "--json")
    assert done.code == 0, done.err
    hits = json.loads(done.out)["results"]
    lines = Path(SAMPLE / "wiki_fr.documents").read_text(encoding="utf-8").splitlines()
    text_of = {doc_id: text for doc_id, _, text in (line.split("\t") for line in lines)}
    expected = LoadedModel(str(version)).score(QUERY, [text_of[hit["doc_id"]] for hit in hits])["scores"]
    assert [hit["score"] for hit in hits] == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert foreign_ops(str(version)) == {"CaseFoldUTF8", "NormalizeUTF8"}

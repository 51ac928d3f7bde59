"""The default preset with an encoder on the sample: channels beside the vectors, from the files to the commands that
use the model."""

import json
from collections.abc import Iterator

import numpy as np
import pytest

from models.choices import FIRST_PASS
from models.evaluation.list_metrics import list_metrics, means
from models.evaluation.score_lists import score_lists
from models.exported.model import LoadedModel
from models.lists.ranking_lists import RankingLists, read_lists
from tests.cli.command import Clir
from tests.e2e.process import SAMPLE, SampleRun
from tests.e2e.saved_model import foreign_ops
from tests.models.loaded_once import loaded_once

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module", autouse=True)
def each_model_loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@pytest.fixture(scope="module")
def eval_lists(search_run: SampleRun) -> RankingLists:
    return read_lists(map(str, search_run.output.glob("artifacts/WikiClirExampleGen/examples/*/Split-eval/*")))


@pytest.fixture(scope="module")
def scores(search_run: SampleRun, eval_lists: RankingLists) -> dict[str, list[np.ndarray]]:
    """The exported model's scores of the eval lists, of each channel and of all."""
    (model,) = search_run.versions
    return score_lists(str(model), eval_lists)


@pytest.fixture(scope="module")
def weights(search_run: SampleRun) -> dict[str, float]:
    """The weight of each channel."""
    (model,) = search_run.versions
    return LoadedModel(str(model)).channel_weights


def test_it_ranks_above_bm25_the_paper_s_system_and_its_vectors_alone(search_run: SampleRun) -> None:
    report = search_run.report
    assert report["baselines"].keys() == {"random", "bm25", "paper"}
    assert report["channels"].keys() == {"smooth_cosine", "lexicon", "encoder", FIRST_PASS}
    rivals = [report["channels"]["smooth_cosine"], report["channels"]["encoder"], *report["baselines"].values()]
    assert all(report["metrics"]["ndcg_5"] > rival["ndcg_5"] for rival in rivals)


def test_the_exported_model_scores_the_eval_split_as_training_did(
    search_run: SampleRun, eval_lists, scores, weights
) -> None:
    fitted = json.loads((search_run.output / "training" / "training.json").read_text())["fitted"]
    weight = pytest.approx(weights["smooth_cosine"])
    (tried,) = (tried for tried in fitted["smooth_cosine.weight"]["curve"] if tried["value"] == weight)
    metrics = means(list_metrics(eval_lists, scores[FIRST_PASS], top_grade=2, keys=("ndcg_5", "p_mr_1")))
    # The training read the encoder's vectors in half precision, from files.
    assert metrics == pytest.approx({key: tried[key] for key in metrics}, abs=1e-3)


def test_the_score_of_the_first_pass_is_the_sum_of_its_channels(scores, weights) -> None:
    assert weights["lexicon"] == 0.5
    for row, total in enumerate(scores[FIRST_PASS]):
        parts = sum(weight * scores[channel][row] for channel, weight in weights.items())
        np.testing.assert_allclose(total, parts, atol=1e-5)


def test_its_graph_has_no_op_that_tf_serving_lacks(search_run: SampleRun) -> None:
    (model,) = search_run.versions
    assert foreign_ops(str(model)) == {"CaseFoldUTF8", "NormalizeUTF8"}


def test_a_person_can_read_the_lexicon_and_ask_for_a_word_of_it(clir: Clir, search_run: SampleRun) -> None:
    folder = search_run.output / "lexicon"
    table = [line.split("\t") for line in (folder / "lexicon.tsv").read_text().splitlines()]
    assert table == sorted(table, key=lambda row: (row[0].encode(), -float(row[2]), row[1].encode()))
    assert json.loads((folder / "report.json").read_text())["translations"] == len(table) > 1000
    stem, translation, _ = max(table, key=lambda row: (row[0] != row[1], float(row[2])))
    lexicon = clir("lexicon", search_run.output, "--word", stem)
    assert lexicon.code == 0, lexicon.err
    assert translation in lexicon.out


def test_rank_explains_a_score(clir: Clir, search_run: SampleRun) -> None:
    documents = SAMPLE / "wiki_fr.documents"
    rank = clir("rank", search_run.output, "--query", "granite", "--documents", documents, "--top", "1", "--explain")
    assert rank.code == 0, rank.err
    assert "grani <- grani" in rank.out

"""The default preset on the sample: a lexicon beside the vectors, from the files to the commands that use the model."""

import json
from pathlib import Path

import numpy as np
import pytest

from models.evaluation.metrics import METRICS, mean_metrics
from models.evaluation.score_lists import score_lists
from models.lists.ranking_lists import read_lists
from models.rankers.ranker import SCORES
from models.retrieval.ranking import ranked_grades
from tests.e2e.process import SAMPLE, SampleRun, forked
from tests.e2e.saved_model import both_ways, foreign_ops

pytestmark = pytest.mark.runs


@pytest.fixture(scope="module")
def scores(search_run: SampleRun) -> dict[str, list[np.ndarray]]:
    """The exported model's scores of the eval lists, of each channel and of all."""
    (model,) = search_run.versions
    return score_lists(str(model), eval_lists(search_run))


def eval_lists(search_run: SampleRun):
    return read_lists(map(str, search_run.output.glob("artifacts/WikiClirExampleGen/examples/*/Split-eval/*")))


def test_it_ranks_above_bm25_the_paper_s_system_and_its_vectors_alone(search_run: SampleRun) -> None:
    found = search_run.report
    assert found["baselines"].keys() == {"random", "bm25", "paper"}
    assert found["channels"].keys() == {"smooth_cosine", "lexicon"}
    others = [found["channels"]["smooth_cosine"], *found["baselines"].values()]
    assert all(found["metrics"]["ndcg_5"] > other["ndcg_5"] for other in others)


def test_the_exported_model_scores_the_eval_split_as_training_did(search_run: SampleRun, scores) -> None:
    training = json.loads((search_run.output / "training" / "training.json").read_text())
    best = training["history"][training["best_epoch"] - 1]
    lists = eval_lists(search_run)
    ranked = ranked_grades(lists.query_ids, lists.doc_ids, scores[SCORES], lists.grades)
    assert mean_metrics(ranked, top_grade=2) == pytest.approx({key: best[f"eval/{key}"] for key in METRICS}, abs=1e-6)


def test_the_score_is_the_sum_of_its_channels(scores) -> None:
    for total, vectors, words in zip(scores[SCORES], scores["smooth_cosine"], scores["lexicon"], strict=True):
        np.testing.assert_allclose(total, vectors + 0.5 * words, atol=1e-5)


def test_its_graph_has_no_op_that_tf_serving_lacks(search_run: SampleRun) -> None:
    (model,) = search_run.versions
    assert foreign_ops(str(model)) == {"CaseFoldUTF8", "NormalizeUTF8"}


def test_every_signature_gives_in_a_v1_session_what_it_gives_in_python(search_run: SampleRun) -> None:
    (model,) = search_run.versions
    found = both_ways(str(model))
    assert found.keys() >= {"score", "encode_query", "encode_document", "explain", "translate", "own_terms"}
    for in_session, in_python in found.values():
        assert in_session.keys() == in_python.keys()
        for name, array in in_python.items():
            np.testing.assert_array_equal(in_session[name], array)


def lexicon_of(search_run: SampleRun) -> list[list[str]]:
    return [line.split("\t") for line in (search_run.output / "lexicon" / "lexicon.tsv").read_text().splitlines()]


def test_a_person_can_read_the_lexicon(search_run: SampleRun) -> None:
    table = lexicon_of(search_run)
    assert table == sorted(table, key=lambda row: (row[0].encode(), -float(row[2]), row[1].encode()))
    report = json.loads((search_run.output / "lexicon" / "report.json").read_text())
    assert report["translations"] == len(table) > 1000


def test_the_commands_translate_a_word_and_explain_a_score(search_run: SampleRun) -> None:
    stem, translation, _ = max(lexicon_of(search_run), key=lambda row: (row[0] != row[1], float(row[2])))
    lexicon = forked("lexicon", search_run.output, "--word", stem)
    assert lexicon.code == 0, lexicon.err
    assert translation in lexicon.out
    documents: Path = SAMPLE / "wiki_fr.documents"
    rank = forked("rank", search_run.output, "--query", "granite", "--documents", documents, "--top", "1", "--explain")
    assert rank.code == 0, rank.err
    assert "grani <- grani" in rank.out

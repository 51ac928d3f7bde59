"""The metrics of a search: those of scoring every document, beside the sampled ones."""

import io
import os
from pathlib import Path

import numpy as np
import pytest

from models.evaluation.metrics import SEARCH_METRICS
from models.evaluation.search_metrics import ranks_of, search_metrics
from models.lists.feedback import Feedback
from models.lists.ranking import rank
from models.texts.tokens import ALL_WORDS
from schemas.evaluation import EvaluationReport
from schemas.index_manifest import SEGMENTS
from schemas.trec import parse_run
from schemas.wikiclir import Text
from smooth_clir.retrieval.assemble_index import assemble_index
from smooth_clir.retrieval.corpus_index import CorpusIndex
from smooth_clir.retrieval.document_ranker import DocumentRanker
from smooth_clir.retrieval.evaluate_search import COMPARED, evaluate_search
from smooth_clir.retrieval.segment import encode_documents
from tests.models.loaded_once import model_of_vectors, model_with_words
from tests.models.synthetic import text_lists

pytestmark = pytest.mark.stages

WORDS = ["chat", "blanc", "chien", "un", "lune", "noir", "ararat", "loup"]
QUERIES = {"q1": "white cat", "q2": "dog", "q3": "moon over ararat", "q4": "zzz", "q5": "white dog", "q6": "cat"}
RELEVANT = {
    "q1": {"d01": 2, "d02": 1, "d03": 0},
    "q2": {"d04": 2, "d05": 1},
    "q3": {"d06": 2},
    "q4": {"d07": 2},
    "q5": {"d08": 2, "d09": 1, "d10": 1},
    "q6": {"d11": 0},
}


def collection(size=40):
    generator = np.random.default_rng(0)
    return {f"d{number:02}": " ".join(generator.choice(WORDS, generator.integers(1, 5))) for number in range(size)}


def lists():
    texts = collection()
    return text_lists(
        [
            (query_id, text, {doc_id: (texts[doc_id], grade) for doc_id, grade in RELEVANT[query_id].items()})
            for query_id, text in QUERIES.items()
        ]
    )


def sampled(queries=6, channels=("lexicon", "smooth_cosine"), **content):
    metrics = {"p_mr_1": 0.75, "ndcg_5": 0.5, "map": 0.25}
    return EvaluationReport(
        split="test", queries=queries, queries_without_relevant_document=1, paper_names={}, metrics=metrics,
        reachable=metrics, baselines={"random": metrics, "bm25": {"ndcg_5": 0.125}},
        channels={name: {"ndcg_5": number / 4} for number, name in enumerate(channels, 1)}, **content,
    )  # fmt: skip


def evaluated(folder: Path, model=None, report=None, documents=None, leave_out_own=False, **arguments):
    """The evaluation, and the lines of the run."""
    model = model or model_with_words()
    documents = documents or collection()
    os.makedirs(folder / SEGMENTS)
    texts = [Text(doc_id, "a title", text, 1) for doc_id, text in documents.items()]
    records = list(encode_documents(model, texts, str(folder / SEGMENTS), 0, max_documents=11))
    assemble_index(str(folder), "0a", records, len(records), **arguments)
    run = io.StringIO()
    index = CorpusIndex(str(folder))
    result = evaluate_search(
        lists(),
        index,
        index,
        model,
        lambda: ((doc_id.encode(), text.encode()) for doc_id, text in documents.items()),
        rules=ALL_WORDS,
        top_grade=2,
        sampled=report or sampled(),
        write_run=run.write,
        leave_out_own=leave_out_own,
    )
    return result, run.getvalue().splitlines()


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory):
    return evaluated(tmp_path_factory.mktemp("index") / "1", report=sampled())


def brute_force(name):
    """The metrics of ranking all documents by the scores that the model itself gives them."""
    documents = collection()
    ids = [doc_id.encode() for doc_id in documents]
    grades, ranks = [], []
    for query_id, text in QUERIES.items():
        outputs = model_with_words().score(text, [*documents.values()])
        columns = {key: np.array(values) for key, values in outputs.items()}
        has_vector = columns["smooth_cosine"].any() and name != "lexicon"
        is_hit = (columns[name] > 0) | has_vector
        ranked = [ids[row] for row in rank(np.round(columns[name], 5), ids) if is_hit[row]]
        judged = {doc_id: grade for doc_id, grade in RELEVANT[query_id].items() if grade}
        grades.append(np.array([*judged.values()], np.int64))
        ranks.append(ranks_of([doc_id.encode() for doc_id in judged], ranked))
    return search_metrics(grades, ranks, 2)


@pytest.mark.parametrize("name", ["scores", "smooth_cosine", "lexicon"])
def test_metrics_are_those_of_scoring_every_document(evaluation, name):
    (report, per_query), _ = evaluation
    expected = brute_force(name)
    metrics = {
        "scores": report.metrics, "smooth_cosine": report.channels["dense"], "lexicon": report.channels["lexicon"],
    }  # fmt: skip
    assert metrics[name] == pytest.approx({key: values.mean() for key, values in expected.items()})
    if name == "scores":
        assert per_query.query_ids == [*QUERIES]
        assert per_query.values == {key: pytest.approx(values.tolist()) for key, values in expected.items()}


def test_the_report_describes_the_search(evaluation):
    (report, _), _ = evaluation
    assert (report.queries, report.queries_without_relevant_document) == (6, 1)
    assert (report.documents, report.depth) == (40, 1000)
    assert report.definitions.keys() == report.metrics.keys() == SEARCH_METRICS.keys()
    assert report.channels.keys() == {"dense", "lexicon"}
    assert report.baselines.keys() == {"bm25"}
    assert (report.approximation.overlap_10, report.approximation.queries) == (1, 0)


def test_a_model_with_a_second_pass_is_evaluated_with_it(tmp_path):
    model = model_with_words(feedback=Feedback(4.0))
    (report, _), run = evaluated(tmp_path / "1", model)
    assert report.feedback == 4
    ranker = DocumentRanker(model, [Text(doc_id, "", text, 1) for doc_id, text in collection().items()])
    for query_id in ("q1", "q2"):
        scores = [*parse_run(run, "run.trec").scores[query_id].values()]
        assert scores == pytest.approx([hit.score for hit in ranker.rank(QUERIES[query_id], 1000)], abs=1e-4)


def test_bm25_finds_the_documents_that_share_a_word_and_the_lists_metrics_are_those_of_a_search(evaluation):
    (report, _), _ = evaluation
    # Only `ararat` of q3 stands in documents, and d06 is its one relevant document.
    holding = [doc_id for doc_id, text in collection().items() if "ararat" in text.split()]
    assert report.baselines["bm25"]["recall_100"] == ("d06" in holding) / len(QUERIES)
    assert report.sampled.metrics == {"p_mr_1": 0.75, "ndcg_5": 0.5}
    assert report.sampled.channels == {"dense": {"ndcg_5": 0.5}, "lexicon": {"ndcg_5": 0.25}}
    assert (report.sampled.baselines, report.feedback) == ({"bm25": {"ndcg_5": 0.125}}, 0)


def test_every_other_system_is_compared_in_two_metrics(evaluation):
    (report, _), _ = evaluation
    assert [(comparison.kind, comparison.other, comparison.metric) for comparison in report.comparisons] == [
        (kind, system, metric)
        for kind, system in [("channel", "dense"), ("channel", "lexicon"), ("baseline", "bm25")]
        for metric in COMPARED
    ]
    for comparison in report.comparisons:
        systems = report.channels if comparison.kind == "channel" else report.baselines
        system_metrics = systems[comparison.other]
        difference = report.metrics[comparison.metric] - system_metrics[comparison.metric]
        assert comparison.difference == pytest.approx(difference)
        assert 0 < comparison.p_value <= 1


def test_the_run_file_has_every_query_s_ranking_in_order(evaluation):
    _, lines = evaluation
    run = parse_run(lines, "search_run.trec")
    assert run.tag == "smooth_clir"
    assert run.scores.keys() == QUERIES.keys() - {"q4"}  # of which the model knows no word
    for query_id, scores in run.scores.items():
        ids = [*scores]
        # Words alone find documents for q3, no word of which the towers know.
        assert len(ids) == len(collection()) or query_id == "q3"
        order = rank(np.array([*scores.values()], np.float32), [doc_id.encode() for doc_id in ids])
        assert order.tolist() == list(range(len(ids)))
        assert [line.split()[3] for line in lines if line.startswith(f"{query_id} ")] == [
            str(number) for number in range(1, len(ids) + 1)
        ]


@pytest.mark.parametrize(
    ("make", "channels"),
    [(model_of_vectors, ()), (lambda: model_with_words(weight=0.0), ("lexicon", "smooth_cosine"))],
)
def test_a_model_without_words_that_match_or_without_their_weight_has_no_channels(tmp_path, make, channels):
    (report, _), _ = evaluated(tmp_path / "1", make(), sampled(channels=channels))
    assert report.channels == report.sampled.channels == {}
    assert {comparison.other for comparison in report.comparisons} == {"bm25"}


def test_where_not_every_document_is_scored_the_loss_is_measured(tmp_path):
    (report, _), _ = evaluated(tmp_path / "1", documents=collection(1200), min_vectors=1000)
    assert report.approximation.queries == len(QUERIES)
    assert 0.5 < report.approximation.overlap_10 <= 1


def test_an_evaluation_of_other_lists_is_refused(tmp_path):
    with pytest.raises(ValueError, match="6 lists; got 5"):
        evaluated(tmp_path / "1", report=sampled(queries=5))


def test_a_query_s_own_document_is_no_result_where_that_is_set(tmp_path):
    documents = {**collection(), **QUERIES}  # each query is also a document, the best for itself
    whole, without_own = (
        evaluated(tmp_path / str(leave_out), documents=documents, leave_out_own=leave_out)
        for leave_out in (False, True)
    )
    pairs, pairs_without_own = ([line.split()[:3:2] for line in run] for _, run in (whole, without_own))
    own_pairs = [pair for pair in pairs if pair[0] == pair[1]]
    assert own_pairs
    assert pairs_without_own == [pair for pair in pairs if pair not in own_pairs]
    before, after = reports = whole[0].report, without_own[0].report
    for metrics, better in zip(*((report.metrics, *report.baselines.values()) for report in reports), strict=True):
        assert better["mrr_r"] >= metrics["mrr_r"]
    assert after.baselines["bm25"] != before.baselines["bm25"]

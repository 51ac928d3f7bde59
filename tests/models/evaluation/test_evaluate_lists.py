"""The evaluation of a model's scores: report, baselines and TREC files, equal to trec_eval's."""

from dataclasses import replace

import numpy as np
import pytest
import pytrec_eval
import tensorflow as tf

from models.evaluation.evaluate_lists import evaluate, read_baselines
from models.evaluation.list_metrics import per_query_metrics
from models.evaluation.metrics import METRICS
from schemas.errors import DataError
from schemas.relevance import MOST_RELEVANT
from schemas.trec import parse_run
from tests.models.synthetic import text_lists
from tests.reference import TREC_METRICS

pytestmark = pytest.mark.tensors


def graded_lists(grades):
    """Lists of these grades by query id."""
    # Ids of two lengths: bytewise, document 9 comes after document 10.
    return text_lists(
        (query_id, "text", {f"{7 + index}": ("text", grade) for index, grade in enumerate(query_grades)})
        for query_id, query_grades in grades.items()
    )


def run_of(lists, scores):
    return {
        query_id.decode(): {doc_id.decode(): float(score) for doc_id, score in zip(doc_ids, row, strict=True)}
        for query_id, doc_ids, row in zip(lists.query_ids, lists.doc_ids, scores, strict=True)
    }


@pytest.fixture(scope="module")
def lists():
    """Short and long lists, some of a single grade, some without a relevant document."""
    random = np.random.default_rng(1)
    sizes = [1, 1, 2, 4, 5, 6, *random.integers(1, 15, 30)]
    return graded_lists({f"q{number:02}": random.choice([0, 0, 0, 1, 2], size) for number, size in enumerate(sizes)})


@pytest.fixture(scope="module")
def scores(lists):
    """Without ties, which trec_eval orders by the ids; two thirds of the scores are no short decimals."""
    random = np.random.default_rng(2)
    return [(random.permutation(len(grades)) / 3).astype(np.float32) for grades in lists.grades]


@pytest.fixture(scope="module")
def baseline(lists):
    return run_of(lists, [np.arange(len(grades), dtype=np.float32) for grades in lists.grades])


@pytest.fixture(scope="module")
def evaluation(lists, scores, baseline):
    return evaluate(lists, scores, {"bm25": baseline}, MOST_RELEVANT)


@pytest.fixture(scope="module")
def trec_eval(evaluation):
    """trec_eval's metrics of every query, computed from the two written files."""
    run = parse_run(evaluation.run, "run.trec").scores
    qrels = {}
    for line in evaluation.qrels:
        query_id, _, doc_id, grade = line.split()
        qrels.setdefault(query_id, {})[doc_id] = int(grade)
    measures = {name for name, _ in TREC_METRICS.values()}
    by_level = {
        level: pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run) for level in (1, 2)
    }
    return {
        key: {query_id: by_level[level][query_id][name] for query_id in qrels}
        for key, (name, level) in TREC_METRICS.items()
    }


@pytest.mark.parametrize("key", TREC_METRICS)
def test_the_metric_of_each_query_and_their_mean_equal_trec_eval_on_the_written_files(
    lists, evaluation, trec_eval, key
):
    theirs = [trec_eval[key][query_id.decode()] for query_id in lists.query_ids]
    assert evaluation.per_query.values[key] == pytest.approx(theirs, abs=1e-6)
    assert evaluation.report.metrics[key] == pytest.approx(np.mean(theirs), abs=1e-6)


def test_the_report_holds_metrics_errors_baselines_and_reachable_values(lists, evaluation):
    report, queries = evaluation.report, len(lists)
    assert (report.split, report.queries) == ("test", queries)
    assert report.queries_without_relevant_document == sum(not grades.any() for grades in lists.grades) > 0
    expected = per_query_metrics(lists.grades, [np.zeros(len(grades)) for grades in lists.grades], MOST_RELEVANT)
    assert report.baselines["random"] == {key: values.mean() for key, values in expected.items()}
    for values in (report.metrics, report.reachable, *report.baselines.values()):
        assert [*values] == [*METRICS]
        assert all(0 <= values[key] <= report.reachable[key] + 1e-9 for key in METRICS)
    assert [*report.standard_errors] == [*METRICS]
    for key, values in evaluation.per_query.values.items():
        variance = sum((value - report.metrics[key]) ** 2 for value in values) / (queries - 1)
        assert report.standard_errors[key] == pytest.approx((variance / queries) ** 0.5)
    perfect = evaluate(lists, [grades.astype(np.float32) for grades in lists.grades], {}, MOST_RELEVANT)
    assert perfect.report.metrics == pytest.approx(report.reachable)


def test_one_query_has_no_standard_error():
    report = evaluate(graded_lists({"q1": [0, 2]}), [np.arange(2, dtype=np.float32)], {}, MOST_RELEVANT).report
    assert report.standard_errors == {}


def test_each_language_has_its_queries_and_its_shares_of_relevant_and_of_first_documents():
    lists = graded_lists({"q1": [2, 0, 0], "q2": [0, 2, 1]})
    ids = lists.document_columns["doc_id"]
    languages = tf.where(ids == b"7", b"de", tf.where(ids == b"8", b"fr", b"it"))
    lists = replace(
        lists,
        document_columns={**lists.document_columns, "doc_lang": languages},
        query_columns={**lists.query_columns, "query_lang": tf.constant(["en", "it"])},
    )
    report = evaluate(lists, [np.arange(3, dtype=np.float32)] * 2, {}, MOST_RELEVANT).report
    assert {name: part.queries for name, part in report.languages.items()} == {"de": 1, "fr": 1, "it": 0}
    assert report.languages["de"].metrics["p_mr_1"] == 0
    assert [part.relevant_share for part in report.languages.values()] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert [part.first_share for part in report.languages.values()] == pytest.approx([0, 1 / 3, 2 / 3])
    assert {name: part.queries for name, part in report.query_languages.items()} == {"en": 1, "it": 1}
    perfect = evaluate(lists, [grades.astype(np.float32) for grades in lists.grades], {}, MOST_RELEVANT).report
    assert all(part.first_share == part.relevant_share for part in perfect.languages.values())


# Seen and cold documents


def five_documents(queries):
    """Lists of five documents of their own each."""
    return text_lists(
        (
            f"q{query:02}",
            f"query {query}",
            {f"{query}-{index}": (f"text {query}-{index}", grade) for index, grade in enumerate([2, 1, 0, 0, 0])},
        )
        for query in queries
    )


def trained_on(doc_ids, queries=100):
    """Train lists with these relevant documents, and other queries."""
    relevant = {doc_id: (f"text {doc_id}", 1) for doc_id in doc_ids}
    return text_lists((f"t{query}", f"train query {query}", relevant if query == 0 else {}) for query in range(queries))


@pytest.fixture(scope="module")
def parted():
    """Lists whose documents are their own; those of every third query were seen, of some but their SR document."""
    lists = five_documents(range(20))
    random = np.random.default_rng(3)
    scores = [random.normal(size=5).astype(np.float32) for _ in range(20)]
    seen = [f"{query}-0" for query in range(0, 20, 3)] + [f"{query}-1" for query in range(10)]
    baseline = run_of(lists, [random.integers(0, 2, 5) for _ in range(20)])
    return lists, scores, {"bm25": baseline}, trained_on(seen)


def test_a_query_is_on_seen_documents_where_its_mr_document_is_relevant_to_a_train_query(parted):
    lists, scores, baselines, trained = parted
    report = evaluate(lists, scores, baselines, MOST_RELEVANT, trained=trained).report
    seen, cold = ([query for query in range(20) if bool(query % 3) == is_cold] for is_cold in (False, True))
    for part, queries in ((report.seen, seen), (report.cold, cold)):
        alone = evaluate(five_documents(queries), [scores[query] for query in queries], {}, MOST_RELEVANT).report
        assert (part.queries, part.reachable) == (len(queries), alone.reachable)
        assert part.metrics == pytest.approx(alone.metrics)
        assert part.standard_errors == pytest.approx(alone.standard_errors)
        assert part.baselines["random"] == pytest.approx(alone.baselines["random"])
    for key in METRICS:  # the parts add up to the whole
        for name, baseline in report.baselines.items():
            total = sum(part.queries * part.baselines[name][key] for part in (report.seen, report.cold))
            assert baseline[key] == pytest.approx(total / report.queries)


def test_a_part_without_queries_has_no_metrics_and_there_are_no_parts_without_a_train_split(parted, evaluation):
    lists, scores, baselines, _ = parted
    report = evaluate(lists, scores, baselines, MOST_RELEVANT, trained=trained_on([])).report
    assert (report.seen.queries, report.seen.metrics, report.cold.metrics) == (0, {}, report.metrics)
    assert report.cold.baselines == report.baselines
    assert (evaluation.report.seen, evaluation.report.cold) == (None, None)


def test_each_channel_is_measured_alone_on_all_and_on_each_part(parted):
    lists, scores, _, trained = parted
    channels = {"dense": [-values for values in scores], "words": [np.arange(5, dtype=np.float32)] * len(lists)}
    report = evaluate(lists, scores, {}, MOST_RELEVANT, trained=trained, channels=channels).report
    assert report.channels.keys() == report.seen.channels.keys() == report.cold.channels.keys() == channels.keys()
    for name, channel_scores in channels.items():
        alone = evaluate(lists, channel_scores, {}, MOST_RELEVANT, trained=trained).report
        assert report.channels[name] == pytest.approx(alone.metrics)
        assert report.cold.channels[name] == pytest.approx(alone.cold.metrics)


def test_a_dead_channel_is_named_and_so_is_one_that_the_model_does_not_rank_above():
    lists, generator = five_documents(range(60)), np.random.default_rng(0)
    good, dead = lists.grades, [generator.normal(size=5) for _ in lists.grades]
    for model, expected in (
        (good, {("dead", "random order"), ("good", "alone")}),
        (dead, {("dead", "random order"), ("dead", "alone"), ("good", "alone")}),
    ):
        channels = {"dead": dead, "good": good}
        warnings = evaluate(lists, model, {}, MOST_RELEVANT, channels=channels, trained=trained_on([])).report.warnings
        named = {
            (name, fault)
            for name in channels
            for fault in ("random order", "alone")
            for warning in warnings
            if f"channel {name} " in warning and fault in warning
        }
        assert (named, len(warnings)) == (expected, len(expected))


@pytest.mark.parametrize(
    ("tested", "trained", "number"), [(39, 100, "39"), (40, 99, "99"), (40, 100, None), (40, None, None)]
)
def test_few_test_or_train_queries_are_a_reason_to_doubt(tested, trained, number):
    lists = five_documents(range(tested))
    train_lists = None if trained is None else trained_on([], trained)
    warnings = evaluate(lists, lists.grades, {}, MOST_RELEVANT, trained=train_lists).report.warnings
    assert [f" {number} queries" in warning for warning in warnings] == [True] * (number is not None)


def test_documents_that_training_has_seen_are_a_reason_to_doubt_where_they_are_nearly_all(parted):
    lists, scores, baselines, trained = parted
    few = evaluate(lists, scores, baselines, MOST_RELEVANT, trained=trained).report.warnings
    nearly_all = trained_on(f"{query}-0" for query in range(19))
    many = evaluate(lists, scores, baselines, MOST_RELEVANT, trained=nearly_all).report.warnings
    assert ["data.cold_share" in sentence for sentence in (*few, *many)] == [False, False, True]


def test_texts_of_training_under_other_ids_are_seen_documents_and_queries_of_training():
    lists = five_documents(range(4))
    copies = text_lists(
        [
            ("other", "query 1", {"copy": ("text 2-0", 2), "same text, other use": ("text 3-1", 1)}),
            ("new", "query 9", {}),
        ]
    )
    report = evaluate(lists, lists.grades, {}, MOST_RELEVANT, trained=copies).report
    assert (report.seen.queries, report.cold.queries, report.queries_of_training) == (1, 3, 1)
    assert sum("1 of 4 test queries have the text" in sentence for sentence in report.warnings) == 1


def test_a_single_channel_is_the_model(lists, scores, evaluation):
    assert evaluate(lists, scores, {}, MOST_RELEVANT, channels={"cosine": scores}).report.channels == {}
    assert evaluation.report.channels == {}


def test_a_baseline_without_ties_is_measured_as_the_model_is(lists, baseline, evaluation):
    its_scores = [np.asarray([*baseline[query_id.decode()].values()], np.float32) for query_id in lists.query_ids]
    as_model = evaluate(lists, its_scores, {}, MOST_RELEVANT)
    assert evaluation.report.baselines["bm25"] == pytest.approx(as_model.report.metrics, abs=1e-9)


def test_model_channels_and_baselines_gain_nothing_from_the_order_of_tied_ids():
    lists = graded_lists({f"q{number}": [0, 0, 2, *[0] * 7] for number in range(5)})  # document 9 has the highest id
    constant = [np.zeros(10, np.float32)] * len(lists)
    channels, baselines = dict.fromkeys(["constant", "again"], constant), {"constant": run_of(lists, constant)}
    report = evaluate(lists, constant, baselines, MOST_RELEVANT, channels=channels).report
    random = report.baselines["random"]
    assert random["mrr_mr"] == pytest.approx(sum(1 / rank for rank in range(1, 11)) / 10)
    assert all(
        metrics == random for metrics in (report.metrics, report.baselines["constant"], *report.channels.values())
    )


def test_files_hold_real_ids_by_score_then_document_id_descending():
    lists = graded_lists({"q1": [0, 2, 1, 0]})  # documents 7, 8, 9, 10
    result = evaluate(lists, [np.asarray([0.5, -1, 0.5, 0.5], np.float32)], {}, MOST_RELEVANT)
    ranked = [("9", "1", "0.5"), ("7", "2", "0.5"), ("10", "3", "0.5"), ("8", "4", "-1")]
    assert result.run == [f"q1 Q0 {' '.join(columns)} smooth_clir\n" for columns in ranked]
    assert result.qrels == ["q1 0 7 0\n", "q1 0 8 2\n", "q1 0 9 1\n", "q1 0 10 0\n"]
    assert result.report.metrics["mrr_mr"] == pytest.approx(1 / 4)  # the MR document is last


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_refused_with_its_query(lists, value):
    broken = [np.zeros(len(grades), np.float32) for grades in lists.grades]
    broken[4][2] = value
    with pytest.raises(DataError, match=rf"q04 .*{value} .*document 9"):
        evaluate(lists, broken, {}, MOST_RELEVANT)


def test_a_baseline_must_rank_every_document(lists, scores, baseline):
    lacking = {**baseline, "q03": {doc_id: 0.0 for doc_id in baseline["q03"] if doc_id != "8"}}
    with pytest.raises(DataError, match=r"bm25 .*q03; .* 8"):
        evaluate(lists, scores, {"bm25": lacking}, MOST_RELEVANT)
    del lacking["q03"]
    with pytest.raises(DataError, match=r"q03; .* 7"):
        evaluate(lists, scores, {"bm25": lacking}, MOST_RELEVANT)


def test_runs_are_named_by_their_tags_in_the_order_of_the_names(tmp_path):
    for name, tag, score in (("1", "dense", 0.25), ("2", "bm25", 7), ("3", "colbert", 3)):
        (tmp_path / name).write_text(f"q1 Q0 d1 1 {score} {tag}\n")
    assert list(read_baselines([str(tmp_path / name) for name in "123"]).items()) == [
        ("bm25", {"q1": {"d1": 7}}),
        ("colbert", {"q1": {"d1": 3}}),
        ("dense", {"q1": {"d1": 0.25}}),
    ]


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        (["q1 Q0 d1 1 1 bm25\n", "q1 Q0 d1 1 1 bm25\n"], r"{}/1: .*{}/0 has bm25"),
        (["q1 Q0 d1 1 1 random\n"], "random"),
        (["q1 Q0 d1 1 2 bm25\nq1 Q0 d2 2 1 dense\n"], "{}/0: .*bm25, dense"),
    ],
    ids=["two of one name", "the name of random order", "one of two names"],
)
def test_a_run_without_a_name_of_its_own_is_refused(tmp_path, runs, shown):
    for number, run in enumerate(runs):
        (tmp_path / str(number)).write_text(run)
    with pytest.raises(DataError, match=shown.format(tmp_path, tmp_path)):
        read_baselines([str(tmp_path / str(number)) for number in range(len(runs))])

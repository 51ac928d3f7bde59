"""The files of an evaluation, as they are written and read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.evaluation import Comparison, EvaluationReport, QueryMetrics, Verdict

PART = {"standard_errors": {}, "reachable": {"map": 1.0}, "baselines": {}, "channels": {}}
CONTENT: dict[str, Any] = {
    "split": "test",
    "queries": 3,
    "queries_without_relevant_document": 1,
    "queries_of_training": 2,
    "feedback": 4.0,
    "feedback_documents": 3,
    "paper_names": {"map": "MAP"},
    "metrics": {"map": 0.1, "ndcg_10": 1 / 3},
    "standard_errors": {"map": 0.05},
    "reachable": {"map": 1.0},
    "baselines": {"random": {"map": 1e-05}},
    "parameters": {"lsi": {"dim": 50}},
    "channels": {"lexicon": {"ndcg_10": 0.25}},
    "seen": {"queries": 2, "metrics": {"map": 0.15}, **PART},
    "cold": {"queries": 1, "metrics": {}, **PART, "reachable": {}},
    "domains": {"news": {"queries": 1, "metrics": {"map": 0.2}, **PART}},
    "languages": {"de": {"queries": 1, "metrics": {"map": 0.2}, **PART, "relevant_share": 0.5, "first_share": 0.25}},
    "query_languages": {"en": {"queries": 1, "metrics": {"map": 0.2}, **PART}},
    "warnings": ["the test split has 3 queries"],
}
TEXT = json.dumps(CONTENT, indent=2) + "\n"


def without(*keys: str, **changed: Any) -> EvaluationReport:
    """Reads a report without these keys, and with others changed."""
    content = {key: value for key, value in {**CONTENT, **changed}.items() if key not in keys}
    return EvaluationReport.from_json(json.dumps(content))


def test_a_report_is_written_as_it_was_read() -> None:
    report = EvaluationReport.from_json(TEXT)
    assert (report.queries, report.metrics["ndcg_10"], report.baselines["random"]["map"]) == (3, 1 / 3, 1e-5)
    assert report.to_json() == TEXT


def test_a_report_of_an_older_version_has_neither_standard_errors_nor_parameters() -> None:
    seen = {key: value for key, value in CONTENT["seen"].items() if key != "standard_errors"}
    report = without("standard_errors", "parameters", seen=seen)
    assert report.seen and report.standard_errors == report.parameters == report.seen.standard_errors == {}


def test_a_report_without_a_train_split_has_no_seen_documents() -> None:
    report = without("seen", "cold", "domains")
    assert (report.queries, report.seen, report.cold, report.nearly_all_seen) == (3, None, None, False)


@pytest.mark.parametrize(("seen", "nearly_all"), [(0, False), (90, False), (91, True), (100, True)])
def test_more_than_nine_in_ten_are_nearly_all(seen: int, nearly_all: bool) -> None:
    assert without(queries=100, seen={**CONTENT["seen"], "queries": seen}).nearly_all_seen == nearly_all


@given(st.dictionaries(st.text(), st.floats(allow_nan=False)))
def test_values_read_back_the_same(metrics: dict[str, float]) -> None:
    report = EvaluationReport.from_json(TEXT).model_copy(update={"metrics": metrics})
    assert EvaluationReport.from_json(report.to_json()) == report


@pytest.mark.parametrize(
    ("text", "key"),
    [("", None), ("[]", None), ("{}", "queries"), (TEXT.replace("0.1,", '"high",'), "metrics.map")],
)
def test_other_content_is_refused_with_the_place(text: str, key: str | None) -> None:
    with pytest.raises(ValueError, match=key):
        EvaluationReport.from_json(text)


ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)
TSV = "query_id\tmap\tmrr_r\nq1\t0.1\t1.0\nq2\t0.3333333333333333\t0.0\n"


def test_the_file_is_a_table_that_a_person_can_open() -> None:
    metrics = QueryMetrics(["q1", "q2"], {"map": [0.1, 1 / 3], "mrr_r": [1.0, 0.0]})
    assert metrics.to_tsv() == TSV
    assert QueryMetrics.from_tsv(TSV) == metrics


@given(st.dictionaries(ids, st.tuples(st.floats(0, 1), st.floats(0, 1, width=32)), max_size=9))
def test_every_number_reads_back_the_same(rows: dict[str, tuple[float, float]]) -> None:
    metrics = QueryMetrics([*rows], {key: [row[column] for row in rows.values()] for column, key in enumerate("ab")})
    assert QueryMetrics.from_tsv(metrics.to_tsv()) == metrics


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *(("", "first line"), ("query_id\nq1\n", "first line .*'query_id'"), ("q1\t0.1\t1.0\n", "first line")),
        *((TSV + "q3\t0.1\n", "line 4 .* 3 .* 2"), (TSV + "\n", "line 4 .* 3 .* 1")),
        (TSV.replace("0.1", "high"), "'high'"),
    ],
)
def test_another_table_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        QueryMetrics.from_tsv(text)


COMPARISON = Comparison(version="7", metric="ndcg_5", value=0.4, last_value=0.5, p_value=0.04, significance=0.05)


@pytest.mark.parametrize(("p_value", "is_worse"), [(0.04, True), (0.05, False), (0.06, False), (1.0, False)])
def test_worse_is_a_p_value_below_the_significance(p_value, is_worse):
    assert COMPARISON.model_copy(update={"p_value": p_value}).is_worse == is_worse


def test_a_verdict_reads_back_the_same():
    verdict = Verdict(blessed=False, reason="the model is worse", comparison=COMPARISON)
    assert Verdict.from_json(verdict.to_json()) == verdict

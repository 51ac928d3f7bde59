"""The files of an evaluation, as they are written and read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.evaluation import Comparison, EvaluationReport, QueryMetrics, Verdict

TEXT = """{
  "split": "test",
  "queries": 3,
  "queries_without_relevant_document": 1,
  "feedback": 4.0,
  "paper_names": {
    "map": "MAP"
  },
  "metrics": {
    "map": 0.1,
    "ndcg_10": 0.3333333333333333
  },
  "standard_errors": {
    "map": 0.05
  },
  "reachable": {
    "map": 1.0
  },
  "baselines": {
    "random": {
      "map": 1e-05
    }
  },
  "parameters": {
    "lsi": {
      "dim": 50
    }
  },
  "channels": {
    "lexicon": {
      "ndcg_10": 0.25
    }
  },
  "seen": {
    "queries": 2,
    "metrics": {
      "map": 0.15
    },
    "standard_errors": {},
    "reachable": {
      "map": 1.0
    },
    "baselines": {},
    "channels": {}
  },
  "cold": {
    "queries": 1,
    "metrics": {},
    "standard_errors": {},
    "reachable": {},
    "baselines": {},
    "channels": {}
  },
  "domains": {
    "news": {
      "queries": 1,
      "metrics": {
        "map": 0.2
      },
      "standard_errors": {},
      "reachable": {
        "map": 1.0
      },
      "baselines": {},
      "channels": {}
    }
  }
}
"""


def test_a_report_is_written_as_it_was_read() -> None:
    report = EvaluationReport.from_json(TEXT)
    assert (report.queries, report.metrics["ndcg_10"], report.baselines["random"]["map"]) == (3, 1 / 3, 1e-5)
    assert report.to_json() == TEXT


def test_a_report_of_an_older_version_has_neither_standard_errors_nor_parameters() -> None:
    older = TEXT.replace('  "standard_errors": {\n    "map": 0.05\n  },\n', "")
    report = EvaluationReport.from_json(older.replace('    "standard_errors": {},\n', ""))
    assert report.standard_errors == {}
    older = older.replace('  "parameters": {\n    "lsi": {\n      "dim": 50\n    }\n  },\n', "")
    assert EvaluationReport.from_json(older).parameters == {}
    assert report.seen and report.seen.standard_errors == {}


def test_a_report_without_a_train_split_has_no_seen_documents() -> None:
    report = EvaluationReport.from_json(TEXT[: TEXT.index(',\n  "seen"')] + "}")
    assert (report.queries, report.seen, report.cold, report.nearly_all_seen) == (3, None, None, False)


@pytest.mark.parametrize(("seen", "nearly_all"), [(0, False), (90, False), (91, True), (100, True)])
def test_more_than_nine_in_ten_are_nearly_all(seen: int, nearly_all: bool) -> None:
    text = TEXT.replace('"queries": 3', '"queries": 100').replace('"queries": 2', f'"queries": {seen}')
    assert EvaluationReport.from_json(text).nearly_all_seen == nearly_all


@given(st.dictionaries(st.text(), st.floats(allow_nan=False)))
def test_values_read_back_the_same(metrics: dict[str, float]) -> None:
    report = EvaluationReport.from_json(TEXT).model_copy(update={"metrics": metrics})
    assert EvaluationReport.from_json(report.to_json()) == report


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "Expecting value"),
        ("[]", "valid dictionary"),
        ("{}", "split: Field required; queries: Field required"),
        (TEXT.replace("0.1,", '"high",'), "metrics.map: Input should be a valid number"),
    ],
)
def test_other_content_is_refused_with_the_place(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        EvaluationReport.from_json(text)


ids = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1)
TSV = "query_id\tmap\tmrr_r\nq1\t0.1\t1.0\nq2\t0.3333333333333333\t0.0\n"


def test_the_file_is_a_table_that_a_person_can_open() -> None:
    metrics = QueryMetrics(["q1", "q2"], {"map": [0.1, 1 / 3], "mrr_r": [1.0, 0.0]})
    assert metrics.to_tsv() == TSV
    assert QueryMetrics.from_tsv(TSV) == metrics


@given(st.dictionaries(ids, st.tuples(st.floats(0, 1), st.floats(0, 1, width=32)), max_size=9))
def test_every_number_reads_back_the_same(rows: dict[str, tuple[float, float]]) -> None:
    metrics = QueryMetrics([*rows], {key: [row[place] for row in rows.values()] for place, key in enumerate("ab")})
    assert QueryMetrics.from_tsv(metrics.to_tsv()) == metrics


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", r"the first line must name query_id and metrics; got \[''\]"),
        ("query_id\nq1\n", r"the first line must name query_id and metrics; got \['query_id'\]"),
        ("q1\t0.1\t1.0\n", "the first line must name query_id"),
        (TSV + "q3\t0.1\n", "line 4 must hold 3 fields; got 2"),
        (TSV + "\n", "line 4 must hold 3 fields; got 1"),
        (TSV.replace("0.1", "high"), "could not convert string to float: 'high'"),
    ],
)
def test_another_table_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        QueryMetrics.from_tsv(text)


COMPARISON = Comparison(version="7", metric="ndcg_5", value=0.4, last_value=0.5, p_value=0.04, significance=0.05)


@pytest.mark.parametrize(("p_value", "is_worse"), [(0.04, True), (0.05, False), (0.06, False), (1.0, False)])
def test_worse_is_a_p_value_below_the_significance(p_value, is_worse):
    assert COMPARISON.model_copy(update={"p_value": p_value}).is_worse == is_worse


def test_the_file_is_json_for_people_and_reads_back_the_same():
    verdict = Verdict(blessed=False, reason="the model is worse", comparison=COMPARISON)
    assert (
        verdict.to_json()
        == """{
  "blessed": false,
  "reason": "the model is worse",
  "comparison": {
    "version": "7",
    "metric": "ndcg_5",
    "value": 0.4,
    "last_value": 0.5,
    "p_value": 0.04,
    "significance": 0.05
  }
}
"""
    )
    assert Verdict.from_json(verdict.to_json()) == verdict

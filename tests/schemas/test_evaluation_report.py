"""The report of an evaluation and its file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.evaluation_report import EvaluationReport

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
  "reachable": {
    "map": 1.0
  },
  "baselines": {
    "random": {
      "map": 1e-05
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
    "reachable": {
      "map": 1.0
    },
    "baselines": {},
    "channels": {}
  },
  "cold": {
    "queries": 1,
    "metrics": {},
    "reachable": {},
    "baselines": {},
    "channels": {}
  }
}
"""


def test_the_file_keeps_every_byte_of_what_it_is_read_from() -> None:
    report = EvaluationReport.from_json(TEXT)
    assert (report.queries, report.metrics["ndcg_10"], report.baselines["random"]["map"]) == (3, 1 / 3, 1e-5)
    assert report.to_json() == TEXT


def test_a_file_of_earlier_versions_calls_baselines_floors() -> None:
    earlier = TEXT.replace('"baselines"', '"floors"')
    assert earlier != TEXT
    assert EvaluationReport.from_json(earlier) == EvaluationReport.from_json(TEXT)


def test_keys_of_a_later_version_are_left_out() -> None:
    assert EvaluationReport.from_json(TEXT.replace("{", '{"new": 1,', 1)).to_json() == TEXT


def test_a_file_of_an_earlier_version_says_nothing_of_seen_documents() -> None:
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
def test_what_is_no_report_is_refused_with_the_place(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        EvaluationReport.from_json(text)

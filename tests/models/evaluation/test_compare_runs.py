"""The measures of run files against pytrec_eval, and their names."""

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from models.evaluation.compare_runs import RunMeasure, values_of_run

TREC_EVAL = {
    "nDCG": "ndcg",
    "nDCG@3": "ndcg_cut_3",
    "AP": "map",
    "AP@3": "map_cut_3",
    "RR": "recip_rank",
    "P@3": "P_3",
    "R@3": "recall_3",
}
"""From names in ir_measures to those in trec_eval."""

doc_ids = st.sampled_from(["d1", "d2", "d10", "é", "𝒹", "ﬀ"])  # "ﬀ" is above "𝒹" in UTF-16, not in UTF-8
equal_as_float32 = st.sampled_from([0.0, 0.5, 0.5 + 1e-9, -1.0, 3.0])


@given(
    st.dictionaries(doc_ids, st.integers(0, 3), min_size=1),
    st.dictionaries(doc_ids, equal_as_float32, min_size=1),
    st.integers(1, 3),
)
def test_values_are_those_of_trec_eval_with_equal_scores_and_missing_documents(judged, scores, min_grade):
    names = {
        name if min_grade == 1 or "nDCG" in name else "@".join([f"{head}(rel={min_grade})", *cutoff]): trec_name
        for name, trec_name in TREC_EVAL.items()
        for head, *cutoff in [name.split("@")]
    }
    evaluator = pytrec_eval.RelevanceEvaluator({"q": judged}, {*TREC_EVAL.values()}, relevance_level=min_grade)
    expected = evaluator.evaluate({"q": scores})["q"]
    values = values_of_run({"q": scores}, {"q": judged}, [*map(RunMeasure.parse, names)])
    for name, trec_name in names.items():
        assert values[name].tolist() == pytest.approx([expected[trec_name]])


def test_a_query_that_the_run_lacks_has_0_and_keeps_its_row():
    judgments = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    measures = [*map(RunMeasure.parse, TREC_EVAL)]
    values = values_of_run({"q2": {"d1": 1.0}}, judgments, measures)
    assert {name: row.tolist() for name, row in values.items()} == {
        name: [0, 1 / 3 if name == "P@3" else 1] for name in TREC_EVAL
    }


@pytest.mark.parametrize("name", ["P", "R(rel=2)", "nDCG(rel=2)@5", "ndcg@5", "AP@0", "RR@", "RR(rel=0)", "P@10 ", ""])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="must .*; got "):
        RunMeasure.parse(name)

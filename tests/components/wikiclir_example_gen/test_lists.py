"""The list of a query, of ids alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.wikiclir import Judgment

pytestmark = pytest.mark.beam  # it imports Beam

DOC_IDS = [f"d{number}" for number in range(12)]
grades = st.dictionaries(st.sampled_from(DOC_IDS), st.integers(0, 2), max_size=6).map(lambda some: {**some, "d0": 2})
counts = st.tuples(st.integers(1, 14), st.integers(1, 14)).map(sorted)


def make_list(judged, negatives, seed):
    from components.wikiclir_example_gen.lists import MakeList

    judgments = [Judgment("q", doc_id, grade, "", line) for line, (doc_id, grade) in enumerate(judged.items(), 1)]
    groups = {"query": [1], "judgments": judgments}
    ((_, made),) = MakeList(negatives, seed, 2).process(("q", groups), DOC_IDS)
    return made


@given(grades, counts, st.integers(0, 99))
def test_the_first_k_of_n_nr_documents_make_the_list_that_a_draw_of_k_makes(judged, few_and_many, seed):
    few, many = few_and_many
    drawn, prepared = make_list(judged, few, seed), make_list(judged, many, seed)
    left_out = prepared.negatives[few:]
    assert {doc_id: grade for doc_id, grade in prepared.grades.items() if doc_id not in left_out} == drawn.grades
    assert prepared.negatives[:few] == drawn.negatives

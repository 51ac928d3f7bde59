"""The list of a query, of ids alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.wikiclir import Judgment
from tests.components.collected import collect

pytestmark = pytest.mark.beam  # it imports Beam

DOC_IDS = [f"d{number}" for number in range(12)]
grades = st.dictionaries(st.sampled_from(DOC_IDS), st.integers(0, 2), max_size=6).map(lambda some: {**some, "d0": 2})
counts = st.tuples(st.integers(1, 14), st.integers(1, 14)).map(sorted)


@pytest.fixture(scope="module")
def make_list(tmp_path_factory):
    """Makes a list of groups of judgments that stand together in the file."""
    from components.wikiclir_example_gen.lists import MakeList

    folder = tmp_path_factory.mktemp("documents") / "collection"
    lines = [f"{doc_id}\ttitle\ttext\n".encode() for doc_id in DOC_IDS]
    roles = collect(folder, {"documents": [b"".join(lines[:5]), b"".join(lines[5:])]})

    def make_list(groups, negatives, seed):
        make = MakeList(negatives, seed, 2, str(folder), roles["documents"], 100)
        make.setup()
        (_, made), *_ = make.process(("q", {"query": [1], "judgments": groups}))
        return made

    return make_list


def judgments_of(judged):
    return [Judgment("q", doc_id, grade, "", line) for line, (doc_id, grade) in enumerate(judged.items(), 1)]


@given(grades, counts, st.integers(0, 99))
def test_the_first_k_of_n_nr_documents_make_the_list_that_a_draw_of_k_makes(make_list, judged, few_and_many, seed):
    drawn, prepared = (make_list([judgments_of(judged)], count, seed) for count in few_and_many)
    left_out = prepared.negatives[few_and_many[0] :]
    assert {doc_id: grade for doc_id, grade in prepared.grades.items() if doc_id not in left_out} == drawn.grades
    assert prepared.negatives[: few_and_many[0]] == drawn.negatives


@given(grades, st.integers(1, 14), st.data())
def test_of_a_pair_s_judgments_the_first_in_the_file_counts_however_they_are_grouped(
    make_list, judged, negatives, data
):
    first = judgments_of(judged)
    again = [one._replace(grade=(one.grade + 1) % 3, line=one.line + len(first)) for one in first]
    cut = data.draw(st.integers(0, 2 * len(first)))
    groups = [[*first, *again][cut:], [], [*first, *again][:cut]]
    assert make_list(groups, negatives, 1) == make_list([first], negatives, 1)

"""Cold units, NR documents and the order of a list."""

from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.sampling import is_cold, list_sort_key, sample_negatives

QUERY_IDS = [str(number) for number in range(10_000)]
DOC_IDS = [f"d{number}" for number in range(50)]

collections = st.integers(0, 60).map(lambda size: [f"d{number}" for number in range(size)])
counts = st.integers(0, 70)
seeds = st.integers(0, 2**31 - 1)


def test_about_their_share_of_the_units_is_cold():
    cold = sum(is_cold(unit, 1, 0.2) for unit in QUERY_IDS)
    assert cold / len(QUERY_IDS) == pytest.approx(0.2, abs=4 * 0.004)


@given(st.text(max_size=9), seeds, st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
def test_a_cold_unit_stays_cold_with_a_larger_share(unit, seed, shares):
    assert is_cold(unit, seed, shares[0]) <= is_cold(unit, seed, shares[1])
    assert not is_cold(unit, seed, 0)


@given(collections, st.data(), st.tuples(counts, counts).map(sorted), seeds)
def test_negatives_are_distinct_and_never_relevant_and_fewer_are_the_first_of_more(doc_ids, data, few_and_many, seed):
    relevant = data.draw(st.sets(st.sampled_from(doc_ids))) if doc_ids else set()
    few, many = (sample_negatives("q", seed, count, doc_ids, relevant) for count in few_and_many)
    assert len(many) == len({*many}) == min(few_and_many[1], len(doc_ids) - len(relevant))
    assert {*many} <= {*doc_ids} - relevant
    assert few == many[: few_and_many[0]]


@pytest.mark.parametrize("count", [10, 40])
def test_seed_query_and_collection_decide_the_negatives(count):
    def draw(query_id="q", seed=1, doc_ids=DOC_IDS):
        return sample_negatives(query_id, seed, count, doc_ids, {"d0"})

    assert draw() == draw()
    assert draw() not in (draw(query_id="r"), draw(seed=2), draw(doc_ids=DOC_IDS[::-1]))


@pytest.mark.parametrize("count", [5, 15])
def test_every_document_is_drawn_equally_often(count):
    doc_ids = DOC_IDS[:21]
    drawn = Counter(
        doc_id for query_id in QUERY_IDS[:2000] for doc_id in sample_negatives(query_id, 1, count, doc_ids, {"d0"})
    )
    assert_as_often(drawn, doc_ids[1:])


def test_the_place_in_a_list_says_nothing_about_the_grade():
    # "d0" stands for the MR document of every query.
    first = DOC_IDS[:10]
    orders = [sorted(first, key=partial(list_sort_key, query_id)) for query_id in QUERY_IDS[:2000]]
    assert_as_often(Counter(order.index("d0") for order in orders), range(10))


def assert_as_often(drawn, choices):
    """Of 2,000 draws, each choice has its equal share, within five standard deviations."""
    share = drawn.total() / 2000 / len(choices)
    for choice in choices:
        assert drawn[choice] == pytest.approx(2000 * share, abs=5 * (2000 * share * (1 - share)) ** 0.5)

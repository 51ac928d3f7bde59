"""Splits, NR documents and the order of a list."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.wikiclir_example_gen.document_ids import id_hashes, least_seeded
from components.wikiclir_example_gen.sampling import is_cold, list_place, sample_negatives
from schemas.splits import SPLIT_SHARES, SPLITS, split_of

QUERY_IDS = [str(number) for number in range(10_000)]
DOC_IDS = [f"d{number}" for number in range(50)]

collections = st.integers(0, 60).map(lambda size: [f"d{number}" for number in range(size)])
counts = st.integers(0, 70)
seeds = st.integers(0, 2**31 - 1)


def test_splits_are_about_three_to_one_to_one():
    sizes = Counter(map(split_of, QUERY_IDS))
    for split, share in zip(SPLITS, SPLIT_SHARES, strict=True):
        # The share of 10,000 queries strays by less than 0.005, one in three times.
        assert sizes[split] / len(QUERY_IDS) == pytest.approx(share / sum(SPLIT_SHARES), abs=4 * 0.005)


def test_splits_are_the_same_in_every_version():
    # Other splits would move queries from train to test, and old figures would mean something else.
    splits = ["train", "test", "eval", "train", "train", "train", "eval", "train"]
    assert [split_of(query_id) for query_id in "12345678"] == splits


def test_about_their_share_of_the_units_is_cold():
    cold = sum(is_cold(unit, 1, 0.2) for unit in QUERY_IDS)
    assert cold / len(QUERY_IDS) == pytest.approx(0.2, abs=4 * 0.004)


@given(st.text(), seeds, st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted))
def test_what_is_cold_stays_so_with_a_larger_share(unit, seed, shares):
    assert is_cold(unit, seed, shares[0]) <= is_cold(unit, seed, shares[1])
    assert not is_cold(unit, seed, 0)


@given(collections, st.data(), counts, seeds)
def test_negatives_are_distinct_and_never_relevant(doc_ids, data, count, seed):
    relevant = data.draw(st.sets(st.sampled_from(doc_ids))) if doc_ids else set()
    negatives = sample_negatives("q", seed, count, doc_ids, relevant)
    assert len(negatives) == len(set(negatives)) == min(count, len(doc_ids) - len(relevant))
    assert set(negatives) <= set(doc_ids) - relevant


@given(collections, st.data(), st.tuples(counts, counts).map(sorted), seeds)
def test_fewer_negatives_are_a_prefix_of_more(doc_ids, data, few_and_many, seed):
    relevant = data.draw(st.sets(st.sampled_from(doc_ids), max_size=5)) if doc_ids else set()
    few, many = (sample_negatives("q", seed, count, doc_ids, relevant) for count in few_and_many)
    assert many[: len(few)] == few


@pytest.mark.parametrize("count", [10, 40])
def test_seed_query_and_collection_decide_the_negatives(count):
    def draw(query_id="q", seed=1, doc_ids=DOC_IDS):
        return sample_negatives(query_id, seed, count, doc_ids, {"d0"})

    assert draw() == draw()
    assert draw() != draw(query_id="r")
    assert draw() != draw(seed=2)
    assert draw() != draw(doc_ids=DOC_IDS[::-1])


@pytest.mark.parametrize("count", [5, 15])
def test_every_document_is_drawn_equally_often(count):
    doc_ids = DOC_IDS[:21]
    drawn = Counter(
        doc_id for query_id in QUERY_IDS[:2000] for doc_id in sample_negatives(query_id, 1, count, doc_ids, {"d0"})
    )
    share = count / 20
    for doc_id in doc_ids[1:]:
        assert drawn[doc_id] == pytest.approx(2000 * share, abs=5 * (2000 * share * (1 - share)) ** 0.5)


def test_the_place_in_a_list_says_nothing_about_the_grade():
    # Say that "d0" is the MR document of every query: it comes first, and last, in one list of ten, as any other.
    orders = [
        sorted(DOC_IDS[:10], key=lambda doc_id, query_id=query_id: list_place(query_id, doc_id))
        for query_id in QUERY_IDS[:2000]
    ]
    places = Counter(order.index("d0") for order in orders)
    for place in range(10):
        assert places[place] == pytest.approx(2000 / 10, abs=5 * (2000 * 0.1 * 0.9) ** 0.5)


@given(st.sets(st.integers(0, 500), min_size=1), st.randoms(), st.integers(0, 99), st.data())
def test_a_sample_depends_on_ids_and_seed_and_not_on_their_order(numbers, random, seed, data):
    ids = [b"d%d" % number for number in numbers]
    shuffled = random.sample(ids, len(ids))
    count = data.draw(st.integers(0, len(ids)))
    one, other = ({some[place] for place in least_seeded(id_hashes(some), seed, count)} for some in (ids, shuffled))
    assert one == other
    assert len(one) == count


def test_every_document_is_sampled_equally_often():
    hashes = id_hashes(doc_id.encode() for doc_id in DOC_IDS)
    sampled = Counter(place for seed in range(2000) for place in least_seeded(hashes, seed, 10).tolist())
    share = 10 / len(DOC_IDS)
    for place in range(len(DOC_IDS)):
        assert sampled[place] == pytest.approx(2000 * share, abs=5 * (2000 * share * (1 - share)) ** 0.5)


def test_hashes_are_the_same_in_every_version():
    # Another hash would sample other documents.
    assert id_hashes([b"d1", b"d2"]).tolist() == [2878387810984711164, 4700741041894862004]
    assert id_hashes([]).dtype == np.uint64

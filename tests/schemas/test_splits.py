"""The splits of queries."""

from collections import Counter

import pytest

from schemas.splits import SPLIT_SHARES, SPLITS, split_of

QUERY_IDS = [str(number) for number in range(10_000)]


def test_splits_are_about_three_to_one_to_one():
    sizes = Counter(map(split_of, QUERY_IDS))
    for split, share in zip(SPLITS, SPLIT_SHARES, strict=True):
        # The share of 10,000 queries strays by less than 0.005, one in three times.
        assert sizes[split] / len(QUERY_IDS) == pytest.approx(share / sum(SPLIT_SHARES), abs=4 * 0.005)


def test_splits_are_the_same_in_every_version():
    # Other splits would move queries from train to test, and old figures would mean something else.
    splits = ["train", "test", "eval", "train", "train", "train", "eval", "train"]
    assert [split_of(query_id) for query_id in "12345678"] == splits

"""The expectation of random order, against the mean over every order."""

from itertools import permutations

import numpy as np
import pytest

from components.evaluator.random_order import expected_metrics, mean_expected_metrics
from models.metrics import per_query_metrics


@pytest.mark.parametrize(
    ("grades", "top_grade"),
    [
        ([2], 2),
        ([0], 2),
        ([0, 2], 2),
        ([1, 1, 0], 2),
        ([2, 2, 1, 0], 2),
        ([0, 0, 0, 0, 0], 2),
        ([2, 1, 1, 0, 0], 2),
        ([2, 1, 1, 1, 0, 0], 2),
        ([2, 2, 2, 2, 2, 2], 2),
        ([0, 0, 0, 0, 0, 2], 2),
        ([1, 0, 0, 1, 0, 0], 1),
        ([3, 2, 1, 0, 0, 0], 3),
    ],
)
def test_expectation_is_the_mean_over_all_orders(grades, top_grade):
    orders = [np.asarray(order) for order in permutations(grades)]
    means = {key: values.mean() for key, values in per_query_metrics(orders, top_grade).items()}
    assert expected_metrics(np.asarray(grades), top_grade) == pytest.approx(means, abs=1e-6)


def test_mean_is_that_of_the_lists():
    lists = [np.asarray([2, 0]), np.asarray([0, 0, 0])]
    # One of two places for the MR document of the first list; the second has none and counts as 0.
    assert mean_expected_metrics(lists, 2)["mrr_mr"] == pytest.approx(((1 + 1 / 2) / 2 + 0) / 2)

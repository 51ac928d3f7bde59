"""models/evaluation/fit_number.py: the number that is fitted on the eval split."""

import numpy as np
import pytest

from models.evaluation.fit_number import fit_number
from schemas.relevance import MOST_RELEVANT
from tests.models.synthetic import ranking_lists

pytestmark = pytest.mark.tensors

LISTS = ranking_lists([[0], [1]], [[0]] * 3, [[0, 1, 2]] * 2, [[2, 1, 0], [0, 2, 0]])


def fitted(values):
    """The number with which the MR documents of more lists have the highest scores."""
    right = [np.float32([2, 1, 0]), np.float32([0, 2, 1])]
    wrong = [-scores for scores in right]
    return fit_number(LISTS, values, lambda value: [*right[: int(value)], *wrong[int(value) :]], MOST_RELEVANT)


def test_the_first_of_the_best_values_is_taken_and_all_are_shown():
    best = fitted([0, 2, 1])
    assert best.value == 2
    assert [point.value for point in best.curve] == [0, 2, 1]
    assert [point.p_mr_1 for point in best.curve] == [0, 1, 0.5]
    assert best.curve[1].ndcg_5 == pytest.approx(1)
    assert fitted([1.5, 1]).value == 1.5

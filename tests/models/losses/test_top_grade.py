"""Losses of the MR document against lower grades: hand values, and the lists that have none."""

from math import exp, log

import numpy as np
import pytest

from models.losses.worst_hinge import WorstHingeLoss
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests.models.losses.listwise import loss_and_gradient

pytestmark = pytest.mark.tensors

every_loss = pytest.mark.parametrize("name", ["worst_hinge", "log_likelihood"])


def test_worst_hinge_is_against_the_highest_score_of_a_lower_grade():
    grades = [NOT_RELEVANT, MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]
    loss, gradient = loss_and_gradient("worst_hinge", None, grades, [0.1, 0.5, 0.25, 0.4, 0.9], margin=0.3)
    assert loss == pytest.approx(0.3 - 0.5 + 0.4)
    np.testing.assert_array_equal(gradient, [0, -1, 0, 1, 0])


def test_worst_hinge_is_zero_beyond_its_margin_of_a_fifth():
    grades = [MOST_RELEVANT, NOT_RELEVANT]
    assert loss_and_gradient("worst_hinge", None, grades, [0.5, 0.25])[0] == 0
    assert loss_and_gradient("worst_hinge", None, grades, [0.5, 0.35])[0] == pytest.approx(0.2 - 0.5 + 0.35)


def test_log_likelihood_of_three_documents():
    loss, gradient = loss_and_gradient(
        "log_likelihood", None, [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT], [0.5, 0.25, -0.5]
    )
    total = exp(0.5) + exp(0.25) + exp(-0.5)
    assert loss == pytest.approx(-log(exp(0.5) / total))
    np.testing.assert_allclose(gradient, [exp(0.5) / total - 1, exp(0.25) / total, exp(-0.5) / total], rtol=1e-6)


@every_loss
def test_the_loss_of_several_documents_of_the_highest_grade_is_their_mean(name):
    scores = [0.3, -0.2, 0.4]
    both, _ = loss_and_gradient(name, None, [1, 1, 0], scores)
    of_others = {"worst_hinge": 0.4, "log_likelihood": log(sum(map(exp, scores)))}[name]
    margin = {"worst_hinge": 0.2, "log_likelihood": 0.0}[name]
    assert both == pytest.approx(np.mean([margin - 0.3 + of_others, margin + 0.2 + of_others]))


@every_loss
@pytest.mark.parametrize("grade", [NOT_RELEVANT, SOMEWHAT_RELEVANT, MOST_RELEVANT])
def test_a_list_of_one_grade_has_no_loss_and_no_gradient(name, grade):
    loss, gradient = loss_and_gradient(name, None, [grade, grade, PADDING_LABEL], [0.5, 0.25, 0.75])
    assert (loss, gradient.tolist()) == (0, [0, 0, 0])


@pytest.mark.parametrize("margin", [-0.1, float("nan")])
def test_a_margin_below_zero_is_refused(margin):
    with pytest.raises(ValueError, match=f"margin must be >= 0; got {margin}"):
        WorstHingeLoss(margin)

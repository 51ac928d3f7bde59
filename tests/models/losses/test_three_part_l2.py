"""3-Part-L2: which scores of which documents cost something."""

import pytest

from models.losses.three_part_l2 import ThreePartL2Loss
from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, PADDING_LABEL, SOMEWHAT_RELEVANT
from tests.models.losses.listwise import loss_and_gradient

pytestmark = pytest.mark.tensors

THETA = (0.2, 0.55, 0.9)


@pytest.mark.parametrize(
    ("grade", "score", "difference"),
    [
        (NOT_RELEVANT, 0.5, 0.5 - 0.2),
        (NOT_RELEVANT, 0.2, 0),
        (NOT_RELEVANT, -1.0, 0),
        (SOMEWHAT_RELEVANT, 1.0, 1 - 0.55),
        (SOMEWHAT_RELEVANT, 0.55, 0),
        (SOMEWHAT_RELEVANT, -1.0, 0),  # scored too low costs nothing
        (MOST_RELEVANT, 0.5, 0.5 - 0.9),
        (MOST_RELEVANT, 0.9, 0),
        (MOST_RELEVANT, 1.0, 0),
    ],
)
def test_loss_is_the_squared_excess_or_lack(grade, score, difference):
    loss, (slope,) = loss_and_gradient("three_part_l2", THETA, [grade], [score])
    assert loss == pytest.approx(difference**2)
    assert slope == pytest.approx(2 * difference)


def test_loss_of_a_list_is_the_mean_over_its_documents():
    grades = [MOST_RELEVANT, SOMEWHAT_RELEVANT, NOT_RELEVANT, PADDING_LABEL]
    loss, _ = loss_and_gradient("three_part_l2", THETA, grades, [0.6, 0.75, -0.3, 0.9])
    assert loss == pytest.approx(((0.9 - 0.6) ** 2 + (0.75 - 0.55) ** 2) / 3)


@pytest.mark.parametrize("theta", [(0.2, 0.7), (0.2,), (0.1, 0.2, 0.3, 0.4)])
def test_theta_must_hold_three_thresholds(theta):
    with pytest.raises(ValueError, match=r"theta must hold three thresholds; got \["):
        ThreePartL2Loss(theta)

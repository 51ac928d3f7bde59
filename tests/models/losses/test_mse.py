"""MSE: the distance to the middle of the band."""

import pytest

from schemas.relevance import MOST_RELEVANT, NOT_RELEVANT, SOMEWHAT_RELEVANT
from tests.models.losses.listwise import loss_and_gradient

pytestmark = pytest.mark.tensors

MIDDLES = {NOT_RELEVANT: (-1 + 0.2) / 2, SOMEWHAT_RELEVANT: (0.2 + 0.7) / 2, MOST_RELEVANT: (0.7 + 1) / 2}


@pytest.mark.parametrize("grade", MIDDLES)
@pytest.mark.parametrize("score", [-1.0, 0.5, 1.0])
def test_loss_is_the_squared_distance_to_the_middle_of_the_band(grade, score):
    loss, (slope,) = loss_and_gradient("mse", (0.2, 0.7), [grade], [score])
    assert loss == pytest.approx((score - MIDDLES[grade]) ** 2)
    assert slope == pytest.approx(2 * (score - MIDDLES[grade]))


def test_loss_is_zero_in_the_middle_alone():
    assert loss_and_gradient("mse", (-0.5, 0.5), [SOMEWHAT_RELEVANT], [0.0])[0] == 0
    assert loss_and_gradient("mse", (-0.5, 0.5), [SOMEWHAT_RELEVANT], [0.25])[0] == 0.25**2


def test_two_grades_have_their_middles_on_either_side_of_the_threshold():
    assert loss_and_gradient("mse", (0.5,), [0, 1], [-0.25, 0.75])[0] == 0

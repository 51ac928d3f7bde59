"""The declarations of the losses, compared with the losses themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.losses.declarations import LOSSES
from tests.models.losses.listwise import few, losses_and_gradients, scales, scores, thetas

pytestmark = pytest.mark.tensors

POINTWISE_LOSSES = [name for name in LOSSES if LOSSES[name].default_theta]


@pytest.mark.parametrize(
    ("name", "theta", "ends", "targets"),
    [
        ("sosl", (0.2, 0.7), (-1, 1), [(-1, 0.2), (0.2, 0.7), (0.7, 1)]),
        ("sosl", (3,), (1, 4), [(1, 3), (3, 4)]),
        ("mse", (0.2, 0.7), (-1, 1), [(-0.4, -0.4), (0.45, 0.45), (0.85, 0.85)]),
        ("mse", (3,), (1, 4), [(2, 2), (3.5, 3.5)]),
        ("proportional_odds", (0.2, 0.7), (-1, 1), [(-0.4, -0.4), (0.45, 0.45), (0.85, 0.85)]),
        (
            "three_part_l2",
            (0.2, 0.55, 0.9),
            (-1, 1),
            [(-float("inf"), 0.2), (-float("inf"), 0.55), (0.9, float("inf"))],
        ),
        ("softmax", (), (-1, 1), []),
    ],
)
def test_targets_of_a_loss_are_an_interval_for_each_grade(name, theta, ends, targets):
    found = LOSSES[name].targets(theta, ends)
    assert [pytest.approx(interval) for interval in targets] == found


@pytest.mark.parametrize("name", POINTWISE_LOSSES)
@few
@given(st.data())
def test_the_loss_is_least_at_its_targets_and_there_alone(name, data):
    length, scale = LOSSES[name].theta_length, data.draw(scales)
    theta = scale.of(data.draw(thetas(length or 1, length or 4)))
    grade = data.draw(st.integers(0, LOSSES[name].top_grade or len(theta)))
    low, high = LOSSES[name].targets(theta, scale.ends)[grade]
    some = scale.of(data.draw(st.lists(scores, max_size=8)))
    at = [[score] for score in (max(low, scale.ends[0]), min(high, scale.ends[1]), *some)]
    least, *losses = losses_and_gradients(name, theta, [[grade]] * len(at), at, ends=scale.ends)[0]
    for (score,), loss in zip(at[1:], losses, strict=True):
        distance = max(low - score, score - high)
        if distance > 1e-3:
            assert loss > least
        elif distance <= 0:
            assert loss == pytest.approx(least, abs=1e-12)

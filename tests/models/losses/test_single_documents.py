"""Losses of single documents: values by hand, and the thresholds and ends that are refused."""

from math import exp, log

import pytest
import tensorflow as tf

from models.losses.three_part_l2 import ThreePartL2Loss
from schemas.relevance import MOST_RELEVANT as MR
from schemas.relevance import NOT_RELEVANT as NR
from schemas.relevance import PADDING_LABEL
from schemas.relevance import SOMEWHAT_RELEVANT as SR
from tests.models.losses.listwise import LOSSES, loss_and_gradient, make

pytestmark = pytest.mark.tensors

THETAS = {"sosl": (0.2, 0.7), "mse": (0.2, 0.7), "three_part_l2": (0.2, 0.55, 0.9), "proportional_odds": (0.2, 0.7)}
every_loss = pytest.mark.parametrize("name", THETAS)


def test_every_loss_with_thresholds_is_tested_here():
    assert THETAS.keys() == {name for name in LOSSES if LOSSES[name].thresholds}


@pytest.mark.parametrize(
    ("name", "grade", "score", "expected"),
    [
        ("sosl", MR, -1.0, (0.7 + 1) ** 2),
        ("sosl", SR, 0.1, (0.2 - 0.1) ** 2),
        ("sosl", SR, 0.5, 0),
        ("sosl", SR, 0.9, (0.9 - 0.7) ** 2),
        ("sosl", NR, 1.0, (1 - 0.2) ** 2),
        ("mse", NR, -1.0, ((-1 + 0.2) / 2 + 1) ** 2),
        ("mse", SR, 0.5, (0.5 - (0.2 + 0.7) / 2) ** 2),
        ("mse", MR, 0.5, ((0.7 + 1) / 2 - 0.5) ** 2),
        ("three_part_l2", NR, 0.5, (0.5 - 0.2) ** 2),
        ("three_part_l2", NR, -1.0, 0),
        ("three_part_l2", SR, 1.0, (1 - 0.55) ** 2),
        ("three_part_l2", SR, -1.0, 0),  # scored too low costs nothing
        ("three_part_l2", MR, 0.5, (0.9 - 0.5) ** 2),
        ("three_part_l2", MR, 1.0, 0),
        ("proportional_odds", SR, 0.5, log(1 + exp(0.5 - 0.7)) + log(1 + exp(0.2 - 0.5))),
        # A document at the end of the scale still pays for the end of its band there.
        ("proportional_odds", NR, -1.0, log(1 + exp(-1 - 0.2)) + log(2)),
        ("proportional_odds", MR, 1.0, log(2) + log(1 + exp(0.7 - 1))),
    ],
)
def test_value_of_a_document_by_hand(name, grade, score, expected):
    assert loss_and_gradient(name, THETAS[name], [grade], [score])[0] == pytest.approx(expected)


@every_loss
def test_loss_of_a_list_is_the_mean_over_its_documents(name):
    grades, scores = [MR, SR, NR, PADDING_LABEL], [0.6, 0.75, -0.3, 0.9]
    alone = [
        loss_and_gradient(name, THETAS[name], [grade], [score])[0]
        for grade, score in zip(grades[:3], scores[:3], strict=True)
    ]
    assert loss_and_gradient(name, THETAS[name], grades, scores)[0] == pytest.approx(sum(alone) / 3)


@pytest.mark.parametrize("score", [-1e6, 1e6])
def test_proportional_odds_of_a_huge_score_is_its_distance(score):
    loss, (slope,) = loss_and_gradient("proportional_odds", (0.2, 0.7), [SR], [score], tf.float32)
    assert loss == pytest.approx(abs(score), rel=1e-5)
    assert slope == pytest.approx(1 if score > 0 else -1)


# Thresholds and ends


@every_loss
@pytest.mark.parametrize(
    "theta", [(), (0.7, 0.2, 0.9), (0.2, 0.2, 0.7), (-1.0, 0.2, 0.7), (0.1, 0.2, 1.0), (0.1, 0.2, float("nan"))]
)
def test_theta_that_does_not_increase_within_minus_one_and_one_is_refused(name, theta):
    with pytest.raises(ValueError, match=r"theta .*\(-1, 1\); got \["):
        make(name, theta)


@every_loss
def test_theta_must_lie_within_other_ends(name):
    theta = (1, 2, 3)
    assert make(name, theta, ends=(0, 4)).theta == theta
    for ends in ((1, 4), (0, 3)):
        with pytest.raises(ValueError, match=rf"theta .*\({ends[0]}, {ends[1]}\); got \["):
            make(name, theta, ends=ends)


@every_loss
@pytest.mark.parametrize("ends", [(1, -1), (0, 0), (-float("inf"), 1), (0, float("inf")), (float("nan"), 1)])
def test_ends_that_are_no_interval_are_refused(name, ends):
    with pytest.raises(ValueError, match=r"ends .*; got \["):
        make(name, ends=ends)


@pytest.mark.parametrize("theta", [(0.2, 0.7), (0.1, 0.2, 0.3, 0.4)])
def test_three_part_l2_has_three_thresholds(theta):
    with pytest.raises(ValueError, match=r"theta .*; got \["):
        ThreePartL2Loss(theta)

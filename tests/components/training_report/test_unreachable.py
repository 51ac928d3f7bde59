"""What no score can satisfy is told, and nothing else."""

import pytest

from components.training_report.unreachable import unreachable
from models.settings import LossSettings, ModelSettings


@pytest.mark.parametrize(
    ("name", "theta", "sentence"),
    [
        ("sosl", None, None),
        ("sosl", (0.2, 0.8), "no score exceeds 0.790; sosl aims at 0.8 or more for grade 2, which cannot be reached"),
        ("sosl", (-0.8, 0), "no score is below -0.790; sosl aims at -0.8 or less for grade 0, which cannot be reached"),
        ("mse", None, "no score exceeds 0.790; mse aims at 0.85 for grade 2, which cannot be reached"),
        ("mse", (0.2, 0.5), None),
        ("mse", (-0.7, 0.5), "no score is below -0.790; mse aims at -0.85 for grade 0, which cannot be reached"),
        (
            "proportional_odds",
            None,
            "no score exceeds 0.790; proportional_odds aims at 0.85 for grade 2, which cannot be reached",
        ),
        (
            "three_part_l2",
            None,
            "no score exceeds 0.790; three_part_l2 aims at 0.9 or more for grade 2, which cannot be reached",
        ),
        ("three_part_l2", (0.2, 0.5, 0.7), None),
        ("softmax", None, None),
    ],
)
def test_a_grade_that_no_score_satisfies_has_a_sentence(name, theta, sentence):
    expected = [f"with embedding_dim 64 and epsilon 1 {sentence}"] if sentence else []
    assert unreachable(ModelSettings(), LossSettings(name=name, theta=theta)) == expected


def test_every_such_grade_has_one():
    sentences = unreachable(ModelSettings(embedding_dim=4), LossSettings(theta=(0.5, 0.7)))  # (2 / 3)^2 = 0.444
    assert [sentence.split(";")[1].split(",")[0] for sentence in sentences] == [
        " sosl aims at 0.5 or more for grade 1",
        " sosl aims at 0.7 or more for grade 2",
    ]


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("loss", ["sosl", "mse", "proportional_odds", "three_part_l2"])
def test_cosine_and_dot_reach_every_threshold(similarity, loss):
    assert unreachable(ModelSettings(similarity=similarity), LossSettings(name=loss)) == []

"""The figures of a report."""

import numpy as np
import pytest

from experiments.cell import Cell
from experiments.experiment import Row
from experiments.report.figures import EPSILONS, density_figure, score_derivative, training_figure
from experiments.settings import VARIANT
from schemas.training_history import Epoch, ScoreCounts, TrainingHistory

pytestmark = pytest.mark.tensors


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_derivative_is_that_of_the_formula_and_keeps_its_bound(epsilon):
    axis = np.linspace(-2, 2, 21, dtype=np.float32)
    x1, x2 = np.meshgrid(axis, axis)
    norm, other = np.hypot(x1, x2), np.sqrt(2)
    away = norm > 0
    # r = (x1 + x2) / ((|x| + epsilon) (sqrt 2 + epsilon))
    with np.errstate(invalid="ignore"):
        slope = (1 - (x1 + x2) * x1 / (norm * (norm + epsilon))) / ((norm + epsilon) * (other + epsilon))
    found = score_derivative(epsilon, x1, x2)
    assert found[away] == pytest.approx(slope[away], abs=1e-4)
    assert np.abs(found).max() <= 1 / epsilon


def test_the_densities_are_of_the_train_split_as_in_the_paper_and_of_the_eval_split():
    scores = ScoreCounts(limit=1, counts={grade: [1] * 40 for grade in "012"})
    training = TrainingHistory(
        train_pairs=4,
        best_epoch=1,
        best_value=0.5,
        history=[Epoch(epoch=1, scores=scores)],
        pairs_per_second=9.0,
        steps=6,
        theta=None,
        train_scores=scores,
    )
    cell = Cell("one", {"loss.name": "sosl"}, status="done", training=training)
    picture = density_figure([Row({"loss.name": "sosl"}, (cell,))])
    assert "train split" in picture.file
    assert "eval split" in picture.file


def test_there_is_no_density_without_a_finished_row():
    assert density_figure([]) is None


@pytest.mark.stages
@pytest.mark.parametrize("names", [[r"cost $\frac$ x", "costs $5"], ["$a$", "_mse"], ["_a", "_b_$1$ 2$"]])
def test_names_stand_in_a_picture_as_they_are(names):
    scores = ScoreCounts(limit=1, counts={grade: [1] * 40 for grade in "012"})
    epochs = [Epoch(epoch=epoch, scores=scores, **{"train/loss": 1 / epoch, "eval/ndcg_5": 0.5}) for epoch in (1, 2)]
    training = TrainingHistory(
        train_pairs=4,
        best_epoch=1,
        best_value=0.5,
        history=epochs,
        pairs_per_second=9.0,
        steps=6,
        theta=None,
        train_scores=scores,
    )
    rows = [
        Row({VARIANT: name}, (Cell(name, {"loss.name": "sosl"}, status="done", training=training),)) for name in names
    ]
    for picture in (training_figure(rows), density_figure(rows)):
        assert all(name in picture.file for name in names)

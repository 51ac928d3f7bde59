"""The figures of a report."""

import numpy as np
import pytest

from schemas.training_history import Epoch, ScoreCounts, TrainingHistory
from smooth_clir.experiments.cell import Cell
from smooth_clir.experiments.experiment import Row
from smooth_clir.experiments.report.figures import EPSILONS, density_figure, score_derivative, training_figure
from smooth_clir.experiments.settings import VARIANT

pytestmark = pytest.mark.tensors


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_derivative_is_that_of_the_formula_and_keeps_its_bound(epsilon):
    axis = np.linspace(-2, 2, 21, dtype=np.float32)
    x1, x2 = np.meshgrid(axis, axis)
    norm, document_norm = np.hypot(x1, x2), np.sqrt(2)
    away = norm > 0
    # r = (x1 + x2) / ((|x| + epsilon) (sqrt 2 + epsilon))
    with np.errstate(invalid="ignore"):
        slope = (1 - (x1 + x2) * x1 / (norm * (norm + epsilon))) / ((norm + epsilon) * (document_norm + epsilon))
    derivative = score_derivative(epsilon, x1, x2)
    assert derivative[away] == pytest.approx(slope[away], abs=1e-4)
    assert np.abs(derivative).max() <= 1 / epsilon


def test_names_stand_in_a_picture_as_they_are_and_densities_are_of_both_splits():
    scores = ScoreCounts(limit=1, counts={grade: [1] * 40 for grade in "012"})
    epochs = [Epoch(epoch=epoch, scores=scores, **{"train/loss": 1 / epoch, "eval/ndcg_5": 0.5}) for epoch in (1, 2)]
    values = {"train_pairs": 4, "best_epoch": 1, "best_value": 0.5, "pairs_per_second": 9.0, "steps": 6, "theta": None}
    training = TrainingHistory(history=epochs, train_scores=scores, **values)
    names = [r"cost $\frac$ x", "costs $5", "$a$", "_mse", "_b_$1$ 2$"]
    cells = [Cell(name, {"loss.kind": "sosl"}, status="done", training=training) for name in names]
    rows = [Row({VARIANT: cell.name}, (cell,)) for cell in cells]
    pictures = training_figure(rows), density_figure(rows)
    for picture in pictures:
        assert all(name in picture.file for name in names)
    assert "train split" in pictures[1].file and "eval split" in pictures[1].file


def test_there_is_no_density_without_a_finished_row():
    assert density_figure([]) is None

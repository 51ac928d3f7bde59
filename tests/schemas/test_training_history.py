"""The history of a training."""

import pytest

from schemas.training_history import Epoch, ScoreCounts, TrainingHistory


@pytest.mark.parametrize(
    ("rows", "nothing"),
    [
        *(([(0.0, 0.0), (0.0, 0.0)], True), ([(0.0, 0.0), (0.5, 0.0)], False), ([(0.0, 1e-9), (0.0, 0.0)], False)),
        ([(0.5, 0.5)], False),
    ],
)
def test_a_training_whose_loss_and_gradient_were_always_0_changed_nothing(
    rows: list[tuple[float, float]], nothing: bool
) -> None:
    scores = ScoreCounts(limit=1, counts={})
    epochs = [
        Epoch(epoch=number, scores=scores, **{"train/loss": loss, "train/gradient_norm_max": norm})
        for number, (loss, norm) in enumerate(rows, 1)
    ]
    history = TrainingHistory(
        train_pairs=4, best_epoch=1, best_value=0.5, history=epochs, pairs_per_second=9.0, steps=6, theta=None
    )
    assert history.changed_nothing is nothing

"""The texts of a training's report: whose settings they are about, and where they stand."""

import json

import pytest

from components.training_report.report_files import training_files, with_best_trial
from components.training_report.stability_report import describe_stability, stability_report
from models.losses.settings import SoftmaxSettings, SoslSettings
from models.rankers.settings import TwoTowersSettings
from models.training.settings import TrainingSettings
from tests.components.training_report.history import ROW, history, search

TOWERS, LOSS = TwoTowersSettings(), SoslSettings(theta=(0.2, 0.7))
HISTORY = history(ROW, ROW)
TRAINING = TrainingSettings(learning_rate=0.1, learning_rate_decay=0.5, embedding_factor=3)


def test_the_history_stays_byte_by_byte_as_the_trainer_wrote_it():
    text = json.dumps(json.loads(HISTORY.to_json()), indent=3) + "\n\n"
    assert training_files(text, TOWERS, LOSS, 2, TRAINING)["training/training.json"] == text


def test_the_stability_is_that_at_the_word_embeddings_first_step_size():
    files = training_files(HISTORY.to_json(), TOWERS, LOSS, 2, TRAINING)
    report = stability_report(TOWERS, LOSS, 2, 0.1 * 3, HISTORY)
    assert files.keys() == {"training/training.json", "training/stability.json", "training/stability.md"}
    assert files["training/stability.json"] == report.to_json()
    assert report.theorem_3.step_constant == 0.1 * 3
    assert files["training/stability.md"] == describe_stability(report)


@pytest.mark.parametrize(
    ("trials", "epsilon", "theta"),
    [
        ([({"channels.towers.epsilon": 0.25}, 0.5)], 0.25, LOSS.theta),
        ([({"channels.towers.epsilon": 0.25, "loss.theta": [0.1, 0.6]}, 0.5)], 0.25, (0.1, 0.6)),
        ([({"loss.theta": [0.1, 0.2]}, 0.4), ({"loss.theta": [0.1, 0.6]}, 0.5)], TOWERS.epsilon, (0.1, 0.6)),
        ([({"channels.towers.epsilon": 1.0}, None), ({"channels.towers.epsilon": 2.0}, 0.1)], 2.0, LOSS.theta),
    ],
)
def test_the_best_trial_s_values_stand_for_those_of_the_settings(trials, epsilon, theta):
    towers, loss = with_best_trial(search(*trials), TOWERS, LOSS)
    assert towers == TOWERS.model_copy(update={"epsilon": epsilon})
    assert loss == LOSS.model_copy(update={"theta": theta}) and isinstance(loss.theta, tuple)


def test_a_loss_without_thresholds_keeps_none():
    loss = SoftmaxSettings()
    assert with_best_trial(search(({"channels.towers.epsilon": 0.25}, 0.5)), TOWERS, loss)[1] == loss

"""The settings of trainings in TensorBoard's HParams."""

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from models.adversary_settings import AdversarySettings
from models.lexicon.settings import LexiconSettings
from models.losses.settings import SoslSettings
from models.training.hparams import settings_of, write_hparams
from tests.hparams_of import hparams_of
from tests.models.training_job import training_job

pytestmark = pytest.mark.tensors


def test_every_setting_that_decides_the_result_is_shown_and_none_of_the_machine() -> None:
    job = training_job(loss=SoslSettings(theta=(0.2, 0.7)), channels={"lexicon": LexiconSettings(weight=0.5)})
    shown = settings_of(job)
    assert shown["loss.theta"] == [0.2, 0.7]
    assert (shown["training.seed"], shown["channels.lexicon.weight"]) == (1, 0.5)
    assert not {"training.device", "training.replicas", "training.workers", "checkpoints"} & shown.keys()


def test_an_adversary_is_shown_where_there_is_one() -> None:
    assert not any(name.startswith("adversary") for name in settings_of(training_job()))
    assert settings_of(training_job(adversary=AdversarySettings(weight=0.25)))["adversary.weight"] == 0.25


def test_tensorboard_reads_numbers_truths_and_words_and_a_list_as_its_text(tmp_path: Path) -> None:
    write_hparams(str(tmp_path), {"a": 0.5, "b": True, "c": "sosl", "d": [0.2, 0.7]}, {"eval/ndcg_5": 0.75})
    assert hparams_of(tmp_path) == {"a": 0.5, "b": True, "c": "sosl", "d": "[0.2, 0.7]"}
    assert "eval/ndcg_5" in EventAccumulator(str(tmp_path)).Reload().Tags()["tensors"]

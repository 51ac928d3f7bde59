"""A training's job: as JSON, and with the numbers of a search."""

import json

import pytest

from models.job import TrainingJob
from models.layers.settings import CnnSettings
from models.lexicon.settings import Bm25Settings
from models.losses.settings import SoslSettings
from models.rankers.settings import TwoTowersSettings
from models.settings import WordTableSource
from models.training.settings import TrainingSettings
from tests.models.training_job import training_job

VECTORS = WordTableSource(path="fr.vec", sha256="0f", width=2, most_words=9, max_bad_share=0.1, train=False)
JOB = training_job(
    towers=TwoTowersSettings(encoder=CnnSettings(filters=5)),
    loss=SoslSettings(theta=(0.1, 0.2, 0.3), learn_theta=True),
    training=TrainingSettings(epochs=None).for_towers(TwoTowersSettings.with_encoder("cnn")),
    channels={"bm25": Bm25Settings(weight="fitted")},
    word_tables={"document_vocabulary": VECTORS},
    top_grade=3,
)


def test_a_job_is_the_same_after_its_way_as_json():
    assert TrainingJob.model_validate_json(JOB.model_dump_json()) == JOB
    assert TrainingJob.in_properties({"custom_config": JOB.model_dump_json()}) == JOB
    assert TrainingJob.in_properties({"custom_config": JOB.model_dump(mode="json")}) == JOB


@pytest.mark.parametrize("properties", [{}, {"custom_config": None}, {"custom_config": json.dumps({"max_tokens": 9})}])
def test_a_stage_that_does_not_train_has_no_job(properties):
    assert TrainingJob.in_properties(properties) is None


def test_the_numbers_of_a_trial_replace_epsilon_and_the_thresholds_alone():
    job = JOB.with_numbers({"epsilon": 0.25, "theta_1": -0.5, "theta_2": 0.0, "theta_3": 0.5})
    assert (job.towers.epsilon, job.loss.theta) == (0.25, (-0.5, 0.0, 0.5))
    assert TrainingJob.model_validate(job.model_dump(mode="json")) == job
    assert JOB.with_numbers({"epsilon": 0.25}).loss == JOB.loss
    changed = {"towers": JOB.towers, "loss": JOB.loss}
    assert job.model_copy(update=changed) == JOB.with_numbers({}) == JOB


def test_its_code_is_that_of_the_parts_it_names():
    modules = {*JOB.modules()}
    assert {"models.layers.cnn_encoder", "models.lexicon.structured_queries"} < modules
    assert "models.layers.lstm_encoder" not in modules

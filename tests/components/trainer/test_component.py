"""The lexicon and the texts that a training gets for its channels."""

from pathlib import Path

import pytest

from models.job import TrainingJob
from models.rankers.settings import TwoTowersSettings
from schemas.collection import MANIFEST_FILE, Role, manifest_text
from schemas.drops import ReadReport
from tests.models.training_job import training_job

pytestmark = pytest.mark.stages  # it imports TFX

JOB = training_job(towers=TwoTowersSettings(epsilon=0.5))


def artifact(type_name: str, uri: str, **properties: str):
    from tfx.types import standard_artifacts

    from schemas import artifacts

    made = (getattr(artifacts, type_name, None) or getattr(standard_artifacts, type_name))()
    made.uri = uri
    for name, value in properties.items():
        setattr(made, name, value)
    return made


def with_inputs(inputs):
    """The properties of an execution of these inputs, but its job, and the job."""
    from tfx.utils import json_utils

    from components.trainer.component import with_channel_inputs

    properties = {"custom_config": json_utils.dumps(JOB.model_dump(mode="json")), "run_fn": "run"}
    before = dict(properties)
    changed = with_channel_inputs(inputs, properties)
    assert properties == before
    return {**changed, "custom_config": None}, TrainingJob.model_validate(json_utils.loads(changed["custom_config"]))


def test_the_folder_of_the_lexicon_and_the_texts_join_the_job() -> None:
    inputs = {
        "lexicon": [artifact("Lexicon", "/lexicon/7")],
        "texts": [artifact("Examples", "/examples/3", split_names='["train", "eval", "test"]')],
        "examples": [],
    }
    properties, job = with_inputs(inputs)
    assert properties == {"custom_config": None, "run_fn": "run"}
    texts = {"train": "/examples/3/Split-train/*", "eval": "/examples/3/Split-eval/*"}
    assert job == JOB.model_copy(update={"lexicon": "/lexicon/7", "texts": texts})


@pytest.mark.parametrize(("roles", "documents"), [(("documents",), 7), (("documents", "candidates"), None)])
def test_the_number_of_documents_joins_the_job_unless_candidates_name_them(
    tmp_path: Path, roles: tuple[str, ...], documents: int | None
) -> None:
    role = Role((), (), ReadReport("wiki.documents", 7, 7, ()))
    (tmp_path / MANIFEST_FILE).write_text(manifest_text(dict.fromkeys(roles, role)))
    assert with_inputs({"collection": [artifact("Collection", str(tmp_path))]})[1].documents == documents


def test_without_a_lexicon_and_texts_the_job_stays() -> None:
    assert with_inputs({"examples": []})[1] == JOB

"""Settings of Kubeflow Pipelines: what is refused, with its reason, and what changes nothing of a stage."""

import pytest
from pydantic import ValidationError

from pipeline.config import load_config, without_folders
from pipeline.kubeflow.settings import KubeflowSettings
from pipeline.stages import STAGES
from schemas.errors import ConfigError


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"image": ""}, "image"),
        ({"image": "with a space"}, "image"),
        (
            {"pipeline_root": "/local/folder"},
            "must be a folder of a store, gs://, s3://, minio://...; got '/local/folder'",
        ),
        ({"pipeline_root": "gs://"}, "must be a folder of a store"),
        ({"volumes": {"Claim": "/mnt"}}, "must name claims in lower case letters, digits, - and .; got 'Claim'"),
        ({"volumes": {"claim": "mnt"}}, "must give claim an absolute folder other than /; got 'mnt'"),
        ({"volumes": {"claim": "/"}}, "must give claim an absolute folder other than /; got '/'"),
        ({"volumes": {"claim": "/mnt/../etc"}}, "must give claim an absolute folder other than /"),
        ({"volumes": {"one": "/mnt", "other": "/mnt/"}}, "must give every claim a folder of its own; got /mnt, /mnt/"),
        (
            {"resources": {"Trainr": {"cpu": 1}}},
            f"must be one of {', '.join(STAGES)}; got 'Trainr'; did you mean Trainer?",
        ),
        ({"resources": {"Trainer": {"cpu": 0}}}, "greater than 0"),
        ({"resources": {"Trainer": {"memory": -1}}}, "greater than 0"),
        ({"resources": {"Trainer": {"gpus": 1}}}, "gpus"),
        (
            {"resources": {"Trainer": {"accelerator": "nvidia.com/gpu", "accelerator_count": 0}}},
            "greater than or equal",
        ),
        (
            {"resources": {"Trainer": {"accelerator_count": 2}}},
            "must not be given without accelerator, which names what is counted; got 2",
        ),
    ],
)
def test_what_no_cluster_could_do_is_refused(settings, words):
    with pytest.raises(ValidationError) as error:
        KubeflowSettings.model_validate(settings)
    assert words in str(error.value)


@pytest.mark.parametrize("image", ["clir", "registry.example:5000/team/clir:1.0", f"clir@sha256:{'0' * 64}"])
def test_images_are_named_by_tag_or_digest(image):
    assert KubeflowSettings(image=image).image == image


def test_all_faults_are_reported_at_once_each_with_its_place(config_file):
    with open(config_file, "a") as file:
        file.write("kubeflow:\n  resources:\n    Trainr: {cpu: 1}\n    Trainer: {memory: 0}\n  image: 'a b'\n")
    with pytest.raises(ConfigError) as error:
        load_config(str(config_file))
    places = {fault.split(": ")[0] for fault in error.value.faults}
    assert places == {f"{config_file}:{line}" for line in (10, 11, 12)}


def test_a_path_lies_on_a_volume_or_beside_it():
    settings = KubeflowSettings(volumes={"claim": "/mnt/data"})
    assert settings.is_on_volume("/mnt/data/wiki.queries")
    assert not settings.is_on_volume("/mnt/database/wiki.queries")
    assert not KubeflowSettings().is_on_volume("/mnt/data/wiki.queries")


def test_a_file_on_a_volume_that_is_mounted_here_is_not_elsewhere(tmp_path):
    settings = KubeflowSettings(volumes={"claim": str(tmp_path)})
    (tmp_path / "here").touch()
    assert settings.is_elsewhere(str(tmp_path / "there"))
    assert not settings.is_elsewhere(str(tmp_path / "here"))


def test_a_model_s_card_does_not_tell_where_its_run_ran(config_file):
    config = load_config(str(config_file), ["kubeflow.image=clir:1"])
    assert "kubeflow" not in without_folders(config)
    assert config.kubeflow == KubeflowSettings(image="clir:1")

"""Paths and volumes of Kubeflow Pipelines. The rules of its settings are in `tests/bad_input`."""

from pipeline.kubeflow.settings import KubeflowSettings


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

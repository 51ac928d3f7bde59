"""The stand-in's command: which version it serves, and what it says where there is none."""

from pathlib import Path

import pytest

from serving.loopback.__main__ import _version as version_of
from serving.loopback.__main__ import main


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A run's output with two versions, and what a push that was killed left."""
    for version in ("9", "10", ".incoming"):
        (tmp_path / "serving" / version).mkdir(parents=True)
        (tmp_path / "serving" / version / "saved_model.pb").touch()
    return tmp_path


def test_the_newest_version_of_a_run_or_a_serving_folder_is_served(output: Path) -> None:
    newest = str(output / "serving" / "10")
    assert version_of(str(output)) == version_of(str(output / "serving")) == version_of(newest) == newest
    assert version_of(str(output / "serving" / "9")) == str(output / "serving" / "9")


def test_a_folder_without_a_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path)])
    assert ended.value.code == 1
    assert f"{tmp_path} must hold a pushed version, but there is none" in capsys.readouterr().err


def test_a_model_that_is_none_is_refused(output: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(output)])
    assert ended.value.code == 1
    assert f"{output / 'serving' / '10'} must hold a whole SavedModel" in capsys.readouterr().err

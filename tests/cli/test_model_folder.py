"""cli/model_folder.py: which model a folder stands for."""

from pathlib import Path

import pytest

from cli.model_folder import find_model, index_place
from schemas.errors import DataError


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run's output with two pushed versions, and a third half-copied."""
    for name in ("serving/9", "serving/10", "serving/.incoming/11"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "saved_model.pb").touch()
    (tmp_path / "serving" / "12").mkdir()
    return tmp_path


@pytest.mark.parametrize("folder", ["", "serving", "serving/10"])
def test_the_newest_whole_version_is_found_from_each_folder_above(run_folder: Path, folder: str) -> None:
    assert find_model(str(run_folder / folder)) == str(run_folder / "serving" / "10")


@pytest.mark.parametrize("name", ["²", "١٢", "011", "-11"])
def test_a_folder_whose_name_is_no_version_is_passed_over(run_folder: Path, name: str) -> None:
    (run_folder / "serving" / name).mkdir()
    (run_folder / "serving" / name / "saved_model.pb").touch()
    assert find_model(str(run_folder)) == str(run_folder / "serving" / "10")


def test_an_older_version_can_be_named(run_folder: Path) -> None:
    assert find_model(str(run_folder / "serving" / "9")) == str(run_folder / "serving" / "9")


def test_a_name_that_no_folder_can_have_is_one_that_is_not_there() -> None:
    with pytest.raises(DataError, match="must be a folder .* no such folder"):
        find_model(300 * "x")


@pytest.mark.parametrize(
    ("index", "option"),
    [
        (None, ""),
        ("my index", " --index 'my index'"),
        ("-x", " --index ./-x"),
        ("milvus://host:1/pages", " --index milvus://host:1/pages"),
    ],
)
def test_the_command_that_makes_an_index_names_the_index_that_was_given(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch, index: str | None, option: str
) -> None:
    monkeypatch.chdir(run_folder)
    assert index_place("serving", index).command == f"clir index serving{option}"

"""cli/model_folder.py: which model a folder stands for."""

from pathlib import Path

import pytest

from schemas.errors import DataError
from smooth_clir.cli.model_folder import find_index, find_model
from smooth_clir.cli.terminal import program


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run's output with two pushed versions, a third half-copied, and folders whose names are no version."""
    for name in ("9", "10", ".incoming/11", "²", "١٢", "011", "-11"):
        (tmp_path / "serving" / name).mkdir(parents=True)
        (tmp_path / "serving" / name / "saved_model.pb").touch()
    (tmp_path / "serving" / "12").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "version"), [("", "10"), ("serving", "10"), ("serving/10", "10"), ("serving/9", "9")]
)
def test_the_newest_whole_version_is_found_from_each_folder_above_unless_another_is_named(
    run_folder: Path, folder: str, version: str
) -> None:
    assert find_model(str(run_folder / folder)) == str(run_folder / "serving" / version)


def test_a_name_that_no_folder_can_have_is_refused() -> None:
    with pytest.raises(DataError, match=300 * "x"):
        find_model(300 * "x")


def test_each_address_in_milvus_has_an_index_of_its_own_on_disk_but_that_of_the_run(run_folder: Path) -> None:
    (run_folder / "config.yaml").write_text(
        "search: {engine: milvus, milvus: {address: 'milvus://host/run', shards: 2}}\n"
    )
    folders = {
        name: Path(find_index(str(run_folder), name and f"MILVUS://host/{name}").index_folder).relative_to(run_folder)
        for name in (None, "run", "a", "b")
    }
    assert folders[None] == folders["run"] == Path("index")
    assert (folders["a"], folders["b"]) == (Path("milvus/host:19530/a"), Path("milvus/host:19530/b"))


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
    assert find_index("serving", index).command == f"{program()} index serving{option}"

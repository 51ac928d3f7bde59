"""`clir compile`: what is refused before TFX is imported, and what it leaves when it cannot write."""

import errno
import os
import sys
import types
from pathlib import Path

import pytest

from pipeline.kubeflow.settings import HEADER
from tests.cli.command import Clir

COMPILED = f"{HEADER}components: {{}}\n"


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The configurations that were compiled; nothing is."""
    configs: list[object] = []
    module = types.ModuleType("pipeline.kubeflow.compile_pipeline")
    module.compile_pipeline = lambda config: configs.append(config) or COMPILED  # type: ignore[attr-defined,func-returns-value]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return configs


def test_the_specification_is_written_and_what_comes_next_is_reported(
    clir: Clir, config_file: Path, tmp_path: Path
) -> None:
    output = tmp_path / "my pipeline.yaml"
    code, out, err = clir(
        "compile", config_file, "--output", output, "--image", "clir:1", "--pipeline-root", "gs://b/r"
    )
    assert (code, out) == (0, "")
    assert output.read_text() == COMPILED
    assert "for the image clir:1; artifacts go to gs://b/r" in err
    assert "kfp run create" in err
    assert f"--package-file '{output}'" in err
    assert clir("compile", config_file, "--output", output, "--image", "clir:2").code == 0  # its own file again


def test_the_short_options_are_settings(clir: Clir, config_file: Path, tmp_path: Path, compiled: list[object]) -> None:
    options = ("--image", "registry.example:5000/clir", "--set", "training.epochs=3")
    assert clir("compile", config_file, "--output", tmp_path / "p.yaml", *options).code == 0
    (config,) = compiled
    assert (config.kubeflow.image, config.training.epochs) == ("registry.example:5000/clir", 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pipeline.json", "--output: must end in .yaml, by which Kubeflow knows the format; got "),
        ("pipeline", "--output: must end in .yaml"),
        ("folder.yaml", "folder.yaml is a folder."),
        ("missing/pipeline.yaml", "missing must be there; make it, or choose another."),
        ("run.yaml/pipeline.yaml", "must be a folder, but "),
        (
            "run.yaml",
            "run.yaml must be a file that clir compile wrote, or none; there is another: choose another name.",
        ),
    ],
)
def test_an_output_that_cannot_be_is_refused_in_a_sentence(
    clir: Clir, config_file: Path, tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "folder.yaml").mkdir()
    before = config_file.read_bytes()
    code, out, err = clir("compile", config_file, "--output", tmp_path / name, "--image", "clir:1")
    assert (code, out) == (2, "")
    assert words in err
    assert config_file.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_refused(clir: Clir, config_file: Path) -> None:
    code, _, err = clir("compile", config_file, "--output", "/proc/pipeline.yaml", "--image", "clir:1")
    assert code == 2
    assert "the folder of /proc/pipeline.yaml must be a folder that can be written; /proc cannot: " in err


def test_a_full_disk_ends_in_a_sentence_and_leaves_no_half_file(
    clir: Clir, config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_bytes(path: Path, content: bytes) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    code, _, err = clir("compile", config_file, "--output", tmp_path / "p.yaml", "--image", "clir:1")
    assert code == 1
    assert "no space left to write the output" in err
    assert not list(tmp_path.glob("p.yaml*"))


def test_faults_of_the_configuration_come_all_at_once(clir: Clir, config_file: Path, tmp_path: Path) -> None:
    overrides = ("--set", "training.epochs=x", "--set", "kubeflow.resources={Trainr: {cpu: 0}}")
    code, _, err = clir("compile", config_file, "--output", tmp_path / "p.yaml", *overrides)
    assert code == 2
    assert "training.epochs: " in err
    assert "did you mean Trainer?" in err

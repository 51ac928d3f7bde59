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


def test_the_specification_is_written_and_the_next_command_is_named(
    clir: Clir, config_file: Path, tmp_path: Path, compiled: list[object]
) -> None:
    output = tmp_path / "my pipeline.yaml"
    options = ("--image", "registry.example:5000/clir", "--pipeline-root", "gs://b/r", "--set", "training.epochs=3")
    for _ in range(2):  # the second time over its own file
        code, out, err = clir("compile", config_file, "--output", output, *options)
        assert (code, out, output.read_text()) == (0, "", COMPILED)
    assert "registry.example:5000/clir" in err and "gs://b/r" in err
    assert f"--package-file '{output}'" in err
    config = compiled[-1]
    assert (config.kubeflow.image, config.training.epochs) == ("registry.example:5000/clir", 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("pipeline.json", "pipeline.json"),
        ("pipeline", ".yaml"),
        ("folder.yaml", "folder.yaml"),
        ("missing/pipeline.yaml", "missing"),
        ("run.yaml/pipeline.yaml", "run.yaml"),
        ("run.yaml", "run.yaml"),  # a file that it did not write
        ("/proc/pipeline.yaml", "/proc"),
    ],
)
def test_an_output_that_cannot_be_is_refused(
    clir: Clir, config_file: Path, tmp_path: Path, name: str, reported: str
) -> None:
    (tmp_path / "folder.yaml").mkdir()
    before = config_file.read_bytes()
    code, out, err = clir("compile", config_file, "--output", tmp_path / name, "--image", "clir:1")
    assert (code, out) == (2, "")
    assert reported in err
    assert config_file.read_bytes() == before


def test_a_full_disk_leaves_no_half_file(
    clir: Clir, config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_bytes(path: Path, content: bytes) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    code, _, err = clir("compile", config_file, "--output", tmp_path / "p.yaml", "--image", "clir:1")
    assert (code, "Traceback" in err) == (1, False)
    assert not list(tmp_path.glob("p.yaml*"))


def test_faults_of_the_configuration_come_all_at_once(clir: Clir, config_file: Path, tmp_path: Path) -> None:
    overrides = ("--set", "training.epochs=x", "--set", "kubeflow.resources={Trainr: {cpu: 0}}")
    code, _, err = clir("compile", config_file, "--output", tmp_path / "p.yaml", *overrides)
    assert code == 2
    assert "training.epochs" in err and "did you mean Trainer?" in err

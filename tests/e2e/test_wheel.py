"""The wheel, installed into an environment of its own, runs the example from a folder that knows nothing of us."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from smooth_clir.cli.init import EXAMPLE
from tests.e2e.process import ROOT

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # A copy, because a build leaves files in the folder.
    left_out = shutil.ignore_patterns(".*", "__pycache__", "build", "runs", "site", "*.egg-info")
    shutil.copytree(ROOT, folder / "copy", ignore=left_out)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder]
    subprocess.run([*build, folder / "copy"], check=True)
    (built,) = folder.glob("*.whl")
    return built


def test_it_names_what_people_look_for(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata_name,) = (name for name in names if name.endswith("/METADATA"))
        metadata = message_from_bytes(archive.read(metadata_name))
    assert {f"smooth_clir/sample/{name}" for name in EXAMPLE.values()} <= {*names}
    assert "smooth_clir/experiments/published/wikiclir_fr.yaml" in names
    assert not [name for name in names if name.startswith(("tests/", "data/"))]
    assert metadata["Author"] == "The Smooth CLIR contributors"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Paper, https://arxiv.org/abs/2011.00701" in metadata.get_all("Project-URL", [])
    assert "Programming Language :: Python :: 3.12" in metadata.get_all("Classifier", [])
    assert metadata["Version"]


def test_its_example_runs_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    # The libraries of this environment, and not the project in it.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--ignore-installed"]
    subprocess.run([*pip, wheel], check=True)
    clir = tmp_path / "venv" / "bin" / "clir"
    here = tmp_path / "elsewhere"
    here.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def run(*arguments: str, program: Path = clir) -> str:
        command = [program, *arguments]
        done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert Path(run("-c", "import models; print(models.__file__)", program=python)).is_relative_to(site)
    assert run("init", "--example").strip() == "config.yaml"
    assert "ndcg_5" in run("run", "config.yaml", "--set=training.epochs=1", "--set=channels.encoder=null")
    assert "Lave" in run("search", "runs/config", "molten rock that flows down a mountain")

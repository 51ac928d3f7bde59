"""A run's output folder with a small model, for the commands that ask one."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCUMENTS = "a\tLe chat\tun chat blanc\nb\tLe chien\tchien\nc\tLa lune\tlune sur ararat\n"


@pytest.fixture
def each_model_loaded_once() -> Iterator[None]:
    """Loads equal models once; only tests that ask for it import TensorFlow."""
    from tests.models.loaded_once import loaded_once

    with loaded_once():
        yield


@pytest.fixture
def output(each_model_loaded_once: None, tmp_path: Path) -> Path:
    """A run's output folder, with a model and its configuration."""
    from tests.models.loaded_once import model_with_words

    shutil.copytree(model_with_words().path, tmp_path / "out" / "serving" / "100")
    (tmp_path / "documents").write_text(DOCUMENTS)
    (tmp_path / "out" / "config.yaml").write_text(f"data: {{documents: {tmp_path / 'documents'}}}\n")
    return tmp_path / "out"

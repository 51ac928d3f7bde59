"""`heavy_imports`: of some packages only the modules that are asked for, and the extra of a missing one."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from pipeline import quiet
from schemas.errors import DataError
from smooth_clir.cli import imports
from smooth_clir.cli.imports import EXTRA_MODULES, check_extra, heavy_imports, install

PACKAGE = "of_many_parts"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A package that writes down when its code runs, imported in parts."""
    monkeypatch.setattr(quiet, "quieten", lambda verbose: None)  # the libraries stay as they are
    folder = tmp_path / PACKAGE
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "import time\nfrom pathlib import Path\nfrom of_many_parts import part\n"
        "with Path(__file__).with_name('ran').open('a') as ran:\n    ran.write('.')\n"
        "if Path(__file__).with_name('broken').exists():\n    raise ImportError('a library is missing')\n"
        "time.sleep(0.05)\nname = part.value + 1\n"
    )
    (folder / "part.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(imports, "IN_PARTS", (PACKAGE,))
    before = list(sys.meta_path)
    with heavy_imports():
        made = importlib.import_module(PACKAGE)
    assert sys.meta_path == before
    yield made
    for name in [PACKAGE, f"{PACKAGE}.part"]:
        sys.modules.pop(name, None)


def runs(package: ModuleType) -> int:
    """How often the package's code ran."""
    ran = Path(package.__path__[0]) / "ran"
    return len(ran.read_text()) if ran.exists() else 0


def test_a_part_and_the_names_of_every_module_are_given_without_the_package_s_code(package: ModuleType) -> None:
    part = importlib.import_module(f"{PACKAGE}.part")
    exec(f"from {PACKAGE} import part")
    assert (part.value, package.part) == (1, part)
    assert package.__file__ is not None
    assert not hasattr(package, "__warningregistry__")
    assert runs(package) == 0


def test_a_name_that_is_no_part_runs_the_package_s_code_once_whoever_asks(package: ModuleType) -> None:
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: package.name, range(8))) == {2}
    assert runs(package) == 1
    with pytest.raises(AttributeError, match="'of_many_parts' has no attribute 'nothing'"):
        _ = package.nothing
    with pytest.raises(ImportError, match="'nothing' from 'of_many_parts'"):
        exec(f"from {PACKAGE} import nothing")


def test_a_package_that_cannot_be_imported_says_so_each_time(package: ModuleType) -> None:
    (Path(package.__path__[0]) / "broken").touch()
    for _ in range(2):
        with pytest.raises(ImportError, match="a library is missing"):
            _ = package.name


@pytest.mark.parametrize("extra", EXTRA_MODULES)
def test_the_import_and_the_check_of_a_missing_package_name_its_extra(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quiet, "quieten", lambda verbose: None)
    check_extra(extra)
    missing = EXTRA_MODULES[extra][-1]
    monkeypatch.setitem(sys.modules, missing, None)
    sentence = rf"The package {missing} is missing; .* {re.escape(install(extra))}"
    with pytest.raises(DataError, match=sentence), heavy_imports():
        importlib.import_module(f"{missing}.part")
    with pytest.raises(DataError, match=sentence):
        check_extra(extra)


def test_a_missing_package_of_no_extra_stays_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "quieten", lambda verbose: None)
    with pytest.raises(ModuleNotFoundError), heavy_imports():
        importlib.import_module("of_no_extra")


@pytest.mark.long
def test_the_pipeline_leaves_out_what_no_stage_uses_and_gives_it_when_it_is_asked_for() -> None:
    script = """
import sys
from smooth_clir.cli.imports import heavy_imports
with heavy_imports():
    import pipeline.local_runner
left_out = {"kubernetes", "nltk", "sklearn", "IPython.terminal", "ipywidgets", "google.cloud.bigquery.client"}
print(*(sys.modules.keys() & left_out))
import tensorflow_model_analysis
from google.cloud import bigquery, pubsub
from tfx.components import Trainer
print(Trainer.__name__, tensorflow_model_analysis.EvalConfig.__name__, "nltk" in sys.modules)
print(bigquery.Client.__name__, pubsub.PublisherClient.__name__)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["", "Trainer EvalConfig True", "Client PublisherClient"]
